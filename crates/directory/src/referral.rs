//! Referral objects (RFC 3296): entries that say where what lies at and below their name really is.
//!
//! A client that means the object itself says so with the ManageDsaIT control; every other one is sent elsewhere.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, LdapUrl, ResultCode, Scope};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{EntryId, EntryView, Found, Snapshot, StoreError, View};

use crate::answer::{self, Answer};
use crate::directory::Directory;
use crate::facts::{EntryFacts, Target};
use crate::known::Known;

/// Whether the entry is of the class `referral`.
pub(crate) fn is_referral(entry: &EntryView<'_>, known: &Known) -> bool {
    has_class(entry, known, &known.referral_class)
}

/// Whether an entry that is not stored yet is of a class with one of these names.
pub(crate) fn is_of_class(entry: &Entry, known: &Known, names: &[Box<str>]) -> bool {
    let mut classes = entry.values(known.object_class.attribute).iter();
    classes.any(|class| {
        let mut names = names.iter().map(|name| name.as_bytes());
        names.any(|name| class.eq_ignore_ascii_case(name))
    })
}

/// Whether the entry is of the class `alias`.
pub(crate) fn is_alias(entry: &EntryView<'_>, known: &Known) -> bool {
    has_class(entry, known, &known.alias_class)
}

/// Whether the entry is of the class `subentry`.
pub(crate) fn is_subentry(entry: &EntryView<'_>, known: &Known) -> bool {
    has_class(entry, known, &known.subentry_class)
}

fn has_class(entry: &EntryView<'_>, known: &Known, names: &[Box<str>]) -> bool {
    let classes = entry.plain_values(known.object_class.attribute);
    classes
        .into_iter()
        .flat_map(|values| values.iter())
        .any(|class| {
            names
                .iter()
                .any(|name| class.eq_ignore_ascii_case(name.as_bytes()))
        })
}

/// How a request treats referral objects.
#[derive(Clone, Copy)]
pub(crate) struct Referrals<'d> {
    pub(crate) directory: &'d Directory,
    /// The scope of a search.
    pub(crate) scope: Option<Scope>,
    /// Whether a referral object named is meant itself. What is said to lie below one is elsewhere all the same.
    pub(crate) managed: bool,
}

impl Referrals<'_> {
    /// The referral to send instead of an answer, if `found`, for the name `target`, is a referral object or lies below
    /// one.
    pub(crate) fn instead<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        found: Found,
    ) -> Answer<Option<LdapResult>> {
        let id = match found {
            Found::Entry(_) if self.managed => return Ok(None),
            Found::Entry(id)
            | Found::Missing {
                deepest: Some((id, _)),
            } => id,
            Found::Missing { deepest: None } => return Ok(None),
        };
        self.at(view, decisions, target, id)
            .map_err(|error| answer::store(&error))
    }

    fn at<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        id: EntryId,
    ) -> Result<Option<LdapResult>, StoreError> {
        let Some(entry) = view
            .entry(id)?
            .filter(|entry| is_referral(entry, &self.directory.known))
        else {
            return Ok(None);
        };
        let object = view.resolved_dn(id)?;
        let facts = EntryFacts::new(self.directory, view, Target::Stored(entry));
        let rights = facts.rights(decisions, object.normal());
        if let Some(hidden) = self.refusal(rights.entry(), object == *target) {
            return Ok(Some(LdapResult::new(hidden)));
        }
        let mut result = LdapResult::new(ResultCode::Referral).matched(view.dn(id)?);
        result.referrals = urls(
            &entry,
            &self.directory.known,
            (&object, Some(target)),
            self.scope,
        );
        Ok(Some(result))
    }
}

impl Referrals<'_> {
    /// What is said instead of a referral to those whom the rules hide the object from, so that it tells nothing: as if
    /// it were not there. A search that begins at the object takes the right to search from it, as from any other.
    fn refusal(self, rights: Rights, is_object: bool) -> Option<ResultCode> {
        let begins_here = is_object && self.scope.is_some();
        let needed = if begins_here {
            Rights::SEARCH
        } else {
            Rights::DISCLOSE
        };
        if rights.allows(needed) {
            None
        } else if rights.allows(Rights::DISCLOSE) {
            Some(ResultCode::InsufficientAccessRights)
        } else {
            Some(ResultCode::NoSuchObject)
        }
    }
}

/// The URLs of a search reference for a referral object met during a search.
pub(crate) fn reference(
    entry: &EntryView<'_>,
    known: &Known,
    object: &Dn,
    searched: Scope,
) -> Vec<String> {
    let scope = match searched {
        Scope::One | Scope::Base => Scope::Base,
        Scope::Subtree | Scope::Children => Scope::Subtree,
    };
    urls(entry, known, (object, None), Some(scope))
}

/// A configured URL, pointed at a name outside all databases (RFC 4511, section 4.1.10).
pub(crate) fn default_url(url: &str, dn: &Dn, scope: Option<Scope>) -> String {
    let Ok(mut url) = url.parse::<LdapUrl>() else {
        return url.to_owned();
    };
    if url.dn.is_empty() {
        dn.pretty().clone_into(&mut url.dn);
    }
    url.scope = url.scope.or(scope);
    url.to_string()
}

/// The object's URLs, pointed at `target` below it, or at the object itself.
fn urls(
    entry: &EntryView<'_>,
    known: &Known,
    (object, target): (&Dn, Option<&Dn>),
    scope: Option<Scope>,
) -> Vec<String> {
    let values = entry.plain_values(known.reference.attribute);
    values
        .into_iter()
        .flat_map(|values| values.iter())
        .filter_map(|value| std::str::from_utf8(value).ok())
        .map(|value| rewritten(value, object, target, scope))
        // A value of spaces alone leads nowhere.
        .filter(|url| !url.is_empty())
        .collect()
}

/// One URL, its label dropped; URLs of other schemes stay as they are.
fn rewritten(value: &str, object: &Dn, target: Option<&Dn>, scope: Option<Scope>) -> String {
    let text = value.split_ascii_whitespace().next().unwrap_or_default();
    // An update of the object itself gets what stands there.
    if scope.is_none() && target.is_some_and(|target| target == object) {
        return text.to_owned();
    }
    let Ok(mut url) = text.parse::<LdapUrl>() else {
        return text.to_owned();
    };
    if url.dn.is_empty() {
        url.dn = target.unwrap_or(object).pretty().to_owned();
    } else if let Some(target) = target {
        let below = target.depth().saturating_sub(object.depth());
        let rdns: Vec<&str> = target.rdns().take(below).map(|rdn| rdn.pretty()).collect();
        if !rdns.is_empty() {
            url.dn = format!("{},{}", rdns.join(","), url.dn);
        }
    }
    if url.scope.is_none() {
        url.scope = scope;
    }
    url.to_string()
}
