//! Requests to the server as the user of a session, with sentences for refusals.

use std::sync::Arc;

use fulgurite_client::names::child;
use fulgurite_client::{
    Change, Client, ClientError, Deref, Entry, LdapResult, PartialAttribute, ResultCode, Scope,
    SearchRequest,
};
use fulgurite_ldap::FilterBuf;
use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{Control, oid};

use crate::request::PageRequest;
use crate::schema::{ElementKind, SchemaNames};
use crate::secrets::digest_of;
use crate::sessions::UserSession;

/// Entries of one list at most.
pub(crate) const LIST_MAX: u32 = 200;

/// Attributes with their values.
pub(crate) type NamedValues = Vec<(String, Vec<Vec<u8>>)>;

/// A page that cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LdapError {
    /// The connection is over, and the session with it.
    #[error("the connection to the directory is over")]
    Gone,
    /// A refusal as a sentence.
    #[error("{0}")]
    Refused(String),
}

impl From<ClientError> for LdapError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Filter(error) => LdapError::Refused(format!("Wrong filter: {error}.")),
            ClientError::Timeout => LdapError::Refused("The server takes too long.".to_owned()),
            other => {
                tracing::debug!("console: {other}");
                LdapError::Gone
            }
        }
    }
}

/// Some entries of a search.
pub(crate) struct Listing {
    pub(crate) entries: Vec<Entry>,
    /// True if there are more.
    pub(crate) is_cut: bool,
}

/// Returns a result as a sentence; `None` for success.
pub(crate) fn refusal(result: &LdapResult, doing: &str) -> Option<String> {
    if result.is_success() {
        return None;
    }
    let reason = match result.code {
        ResultCode::InsufficientAccessRights => "your rights do not allow it",
        ResultCode::EntryAlreadyExists => "an entry of this name is there already",
        ResultCode::NoSuchObject => "there is no such entry, or you may not see it",
        ResultCode::NotAllowedOnNonLeaf => "it has entries below it",
        ResultCode::Referral => "this server is a copy; ask the one that takes changes",
        other => other.name(),
    };
    let detail = match result.diagnostic.is_empty() {
        true => String::new(),
        false => format!(" ({})", result.diagnostic),
    };
    Some(format!("{doing}: {reason}{detail}."))
}

/// Fails unless a result is success.
pub(crate) fn expect(result: &LdapResult, doing: &str) -> Result<(), LdapError> {
    refusal(result, doing).map_or(Ok(()), |text| Err(LdapError::Refused(text)))
}

/// Reads an entry; `None` if there is none, or the user may not see it.
pub(crate) fn read(
    client: &mut Client,
    dn: &str,
    attributes: &[&str],
) -> Result<Option<Entry>, LdapError> {
    let outcome = client.search(dn, Scope::Base, "(objectClass=*)", attributes)?;
    match outcome.result.code {
        ResultCode::NoSuchObject | ResultCode::InsufficientAccessRights => Ok(None),
        _ => {
            expect(&outcome.result, &format!("Cannot read {dn}"))?;
            Ok(outcome.entries.into_iter().next())
        }
    }
}

/// Reads an entry that must be there.
pub(crate) fn get(client: &mut Client, dn: &str, attributes: &[&str]) -> Result<Entry, LdapError> {
    let missing = || LdapError::Refused(format!("There is no entry {dn}, or you may not see it."));
    read(client, dn, attributes)?.ok_or_else(missing)
}

/// Lists entries, up to a bound.
pub(crate) fn list(
    client: &mut Client,
    (base, scope): (&str, Scope),
    filter: &str,
    attributes: &[&str],
) -> Result<Listing, LdapError> {
    let filter = FilterBuf::parse(filter).map_err(ClientError::from)?;
    let mut request = SearchRequest::new(base, scope, filter.filter());
    request.attributes = attributes.iter().map(|name| name.as_bytes()).collect();
    request.deref = Deref::Never;
    let value = PagedResults {
        size: LIST_MAX,
        cookie: b"",
    }
    .encode();
    let outcome = client.search_with(
        &request,
        &[Control::with_value(oid::PAGED_RESULTS, false, &value)],
    )?;
    let control = outcome
        .controls
        .iter()
        .find(|control| control.oid == oid::PAGED_RESULTS);
    let cookie = control.and_then(|control| PagedResults::decode(control.value.as_deref()?).ok());
    let mut is_cut = cookie.is_some_and(|page| !page.cookie.is_empty());
    match outcome.result.code {
        ResultCode::SizeLimitExceeded | ResultCode::TimeLimitExceeded => is_cut = true,
        ResultCode::NoSuchObject | ResultCode::InsufficientAccessRights => {}
        _ => expect(&outcome.result, &format!("Cannot search {base}"))?,
    }
    Ok(Listing {
        entries: outcome.entries,
        is_cut,
    })
}

/// Returns the suffixes of the server that hold data, those of people first.
pub(crate) fn suffixes(client: &mut Client) -> Result<Vec<String>, LdapError> {
    let root = read(client, "", &["namingContexts"])?;
    let root = root.unwrap_or_else(|| Entry {
        dn: String::new(),
        attributes: Vec::new(),
    });
    let mut names = texts(&root, "namingContexts");
    names.sort_by_key(|name| name.to_ascii_lowercase().starts_with("cn="));
    Ok(names)
}

/// Returns the parent that the form of a new entry names, or else a unit below the first suffix.
pub(crate) fn parent_of_new(
    request: &PageRequest,
    session: &UserSession,
    unit: &str,
) -> Result<String, LdapError> {
    if !request.field("parent").is_empty() {
        return Ok(request.field("parent").to_owned());
    }
    let suffix = suffixes(&mut session.client())?.into_iter().next();
    Ok(child("ou", unit, &suffix.unwrap_or_default()))
}

/// Returns the values of an attribute as text.
pub(crate) fn texts(entry: &Entry, attribute: &str) -> Vec<String> {
    let values = entry.values(attribute).iter();
    values
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect()
}

/// Returns true if an entry has a class.
pub(crate) fn has_class(entry: &Entry, class: &str) -> bool {
    let mut classes = entry.values("objectClass").iter();
    classes.any(|own| own.eq_ignore_ascii_case(class.as_bytes()))
}

/// Returns the schema, read once a session.
pub(crate) fn schema(session: &UserSession) -> Result<Arc<SchemaNames>, LdapError> {
    if let Some(schema) = session.schema() {
        return Ok(schema);
    }
    let mut client = session.client();
    let root = read(&mut client, "", &["subschemaSubentry"])?;
    let name = root.and_then(|root| root.first("subschemaSubentry"));
    let name = name.unwrap_or_else(|| "cn=Subschema".to_owned());
    let published = ElementKind::ALL.map(ElementKind::published_in);
    let entry = get(&mut client, &name, &published)?;
    let values = published.iter().flat_map(|name| entry.values(name));
    let schema = session.schemas.get(digest_of(values), || {
        SchemaNames::of(|kind| texts(&entry, kind.published_in()))
    });
    session.keep_schema(Arc::clone(&schema));
    Ok(schema)
}

/// Returns the values as requests take them.
fn slices(attributes: &NamedValues) -> Vec<Vec<&[u8]>> {
    let values = attributes.iter().map(|(_, values)| values.iter());
    values
        .map(|values| values.map(Vec::as_slice).collect())
        .collect()
}

/// Returns the attributes of a new entry. Those without a value are left out.
pub(crate) fn new_entry(class: &str, values: &[(&str, &str)]) -> NamedValues {
    let given = values.iter().filter(|(_, value)| !value.is_empty());
    let class = ("objectClass", class);
    std::iter::once(&class)
        .chain(given)
        .map(|(name, value)| ((*name).to_owned(), vec![value.as_bytes().to_vec()]))
        .collect()
}

/// Adds an entry.
pub(crate) fn add(
    client: &mut Client,
    dn: &str,
    attributes: &NamedValues,
) -> Result<LdapResult, LdapError> {
    let values = slices(attributes);
    let named = attributes.iter().zip(&values);
    let named: Vec<_> = named
        .map(|((name, _), values)| PartialAttribute::new(name, values))
        .collect();
    Ok(client.add(dn, &named)?)
}

/// Sets attributes to values; no values remove an attribute.
pub(crate) fn replace(
    client: &mut Client,
    dn: &str,
    attributes: &NamedValues,
) -> Result<LdapResult, LdapError> {
    let values = slices(attributes);
    let changes = attributes.iter().zip(&values);
    let changes: Vec<Change<'_>> = changes
        .map(|((name, _), values)| Change::replace(name, values))
        .collect();
    Ok(client.modify(dn, &changes)?)
}
