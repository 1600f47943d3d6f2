//! Entries of a server: found, made, changed.

use anyhow::bail;
use fulgurite_client::{Change, Client, Entry, PartialAttribute, ResultCode, Scope, SearchRequest};
use fulgurite_ldap::FilterBuf;

use super::answer::{MissingEntry, expect};
use fulgurite_client::names::{child, filter_value, first_part, is_dn, normal};

/// Entries of one page.
pub(crate) const PAGE_ENTRIES: u32 = 500;

/// An attribute with its values.
pub(crate) type NamedValues = (String, Vec<Vec<u8>>);

/// Attributes that each server gives its entries by itself.
const OF_SERVER: [&str; 11] = [
    "structuralObjectClass",
    "entryUUID",
    "entryCSN",
    "contextCSN",
    "creatorsName",
    "createTimestamp",
    "modifiersName",
    "modifyTimestamp",
    "hasSubordinates",
    "subschemaSubentry",
    "entryDN",
];

/// Returns true for an attribute that no client may set, though exports have it.
pub(crate) fn is_of_server(name: &str) -> bool {
    OF_SERVER.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// A kind of entry: how a short name finds it.
pub(crate) struct Kind {
    /// The word for it in sentences.
    pub(crate) word: &'static str,
    /// The filter that all of the kind match.
    pub(crate) filter: &'static str,
    /// The attribute of the short name.
    pub(crate) key: &'static str,
}

/// Returns the first entry at a name; `None` if there is none.
pub(crate) fn read(
    client: &mut Client,
    dn: &str,
    filter: &str,
    attributes: &[&str],
) -> anyhow::Result<Option<Entry>> {
    let found = client.search(dn, Scope::Base, filter, attributes)?;
    if found.result.code == ResultCode::NoSuchObject {
        return Ok(None);
    }
    expect(&found.result, || format!("cannot read {dn}"))?;
    Ok(found.entries.into_iter().next())
}

/// Passes all entries below `base` that match to `each`, page by page. Returns false if there is no
/// entry `base`.
pub(crate) fn each_below(
    client: &mut Client,
    base: &str,
    filter: &str,
    attributes: &[&str],
    each: &mut dyn FnMut(Entry) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let filter = FilterBuf::parse(filter)?;
    let request = SearchRequest {
        attributes: attributes.iter().map(|name| name.as_bytes()).collect(),
        ..SearchRequest::new(base, Scope::Subtree, filter.filter())
    };
    let end = client.search_each(&request, PAGE_ENTRIES, each)?;
    if end.result.code == ResultCode::NoSuchObject {
        return Ok(false);
    }
    expect(&end.result, || format!("cannot search {base}"))?;
    Ok(true)
}

/// Returns all entries below `base` that match.
pub(crate) fn all_below(
    client: &mut Client,
    base: &str,
    filter: &str,
    attributes: &[&str],
) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    each_below(client, base, filter, attributes, &mut |entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

impl Kind {
    /// Returns the entry of a short name or of a DN; `None` if there is none.
    pub(crate) fn find(
        &self,
        client: &mut Client,
        (base, name): (&str, &str),
        attributes: &[&str],
    ) -> anyhow::Result<Option<Entry>> {
        if is_dn(name) {
            return read(client, name, self.filter, attributes);
        }
        let filter = format!("(&{}({}={}))", self.filter, self.key, filter_value(name));
        let mut entries = all_below(client, base, &filter, attributes)?;
        match entries.as_slice() {
            [] | [_] => Ok(entries.pop()),
            several => {
                let names: Vec<&str> = several.iter().map(|entry| entry.dn.as_str()).collect();
                bail!(
                    "there are several, so name one by its DN: {}",
                    names.join(" and ")
                )
            }
        }
    }

    /// Returns the entry of a short name or of a DN.
    pub(crate) fn get(
        &self,
        client: &mut Client,
        (base, name): (&str, &str),
        attributes: &[&str],
    ) -> anyhow::Result<Entry> {
        let found = self.find(client, (base, name), attributes)?;
        let word = self.word;
        found.ok_or_else(|| MissingEntry(format!("there is no {word} {name}")).into())
    }
}

/// Fails for a name without a visible letter.
pub(crate) fn require_name(name: &str) -> anyhow::Result<()> {
    if name.trim().is_empty() {
        bail!("the name is empty");
    }
    Ok(())
}

/// Adds an entry. Returns false if it is there already.
pub(crate) fn add(
    client: &mut Client,
    dn: &str,
    attributes: &[NamedValues],
) -> anyhow::Result<bool> {
    let values: Vec<Vec<&[u8]>> = attributes
        .iter()
        .map(|(_, values)| values.iter().map(Vec::as_slice).collect())
        .collect();
    let attributes: Vec<PartialAttribute<'_>> = attributes
        .iter()
        .zip(&values)
        .map(|((name, _), values)| PartialAttribute::new(name, values))
        .collect();
    let result = client.add(dn, &attributes)?;
    match result.code {
        ResultCode::EntryAlreadyExists => Ok(false),
        ResultCode::NoSuchObject => {
            Err(MissingEntry(format!("cannot add {dn}: there is no entry above it")).into())
        }
        _ => expect(&result, || format!("cannot add {dn}")).map(|()| true),
    }
}

/// Changes an entry.
pub(crate) fn modify(client: &mut Client, dn: &str, changes: &[Change<'_>]) -> anyhow::Result<()> {
    let result = client.modify(dn, changes)?;
    expect(&result, || format!("cannot change {dn}"))
}

/// Deletes an entry.
pub(crate) fn delete(client: &mut Client, dn: &str) -> anyhow::Result<()> {
    let result = client.delete(dn)?;
    match result.code {
        ResultCode::NoSuchObject => Err(MissingEntry(format!("{dn} is not there")).into()),
        ResultCode::NotAllowedOnNonLeaf => {
            bail!("{dn} has entries below it: delete these first")
        }
        _ => expect(&result, || format!("cannot delete {dn}")),
    }
}

/// Returns attributes from pairs of text.
pub(crate) fn texts(pairs: &[(&str, &str)]) -> Vec<NamedValues> {
    let mut attributes: Vec<NamedValues> = Vec::new();
    for (name, value) in pairs {
        push(&mut attributes, name, value.as_bytes().to_vec());
    }
    attributes
}

/// Adds a value to an attribute of a list.
pub(crate) fn push(attributes: &mut Vec<NamedValues>, name: &str, value: Vec<u8>) {
    let known = attributes
        .iter_mut()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    match known {
        Some((_, values)) => values.push(value),
        None => attributes.push((name.to_owned(), vec![value])),
    }
}

/// Makes the organizational unit `name` below `parent` unless it is there, and returns its DN. The
/// entry of a suffix is made, too.
pub(crate) fn unit(client: &mut Client, name: &str, parent: &str) -> anyhow::Result<String> {
    let dn = child("ou", name, parent);
    if read(client, &dn, "(objectClass=*)", &["1.1"])?.is_some() {
        return Ok(dn);
    }
    make_suffix(client, parent)?;
    if add(
        client,
        &dn,
        &texts(&[("objectClass", "organizationalUnit"), ("ou", name)]),
    )? {
        eprintln!("{dn} is made");
    }
    Ok(dn)
}

/// Makes the first entry of a directory unless it is there.
pub(crate) fn make_suffix(client: &mut Client, dn: &str) -> anyhow::Result<()> {
    if read(client, dn, "(objectClass=*)", &["1.1"])?.is_some() {
        return Ok(());
    }
    let Some((attribute, value)) = first_part(dn) else {
        bail!("{dn} is no name of a suffix");
    };
    let attributes = match attribute.to_ascii_lowercase().as_str() {
        "dc" => texts(&[
            ("objectClass", "organization"),
            ("objectClass", "dcObject"),
            ("o", &value),
            ("dc", &value),
        ]),
        "o" => texts(&[("objectClass", "organization"), ("o", &value)]),
        "ou" => texts(&[("objectClass", "organizationalUnit"), ("ou", &value)]),
        _ => {
            return Err(MissingEntry(format!("{dn} is not there: add it first")).into());
        }
    };
    if add(client, dn, &attributes)? {
        eprintln!("{dn} is made");
    }
    Ok(())
}

/// Returns the next free number: one above the greatest, at least `least`.
pub(crate) fn next_number(
    client: &mut Client,
    base: &str,
    (attribute, filter): (&str, &str),
    least: u32,
) -> anyhow::Result<u32> {
    let mut next = least;
    each_below(client, base, filter, &[attribute], &mut |entry| {
        for value in entry.values(attribute) {
            let number = std::str::from_utf8(value).ok();
            let number = number.and_then(|text| text.parse::<u32>().ok());
            if let Some(number) = number.filter(|number| !is_nobodys(*number)) {
                next = next.max(number + 1);
            }
        }
        Ok(())
    })?;
    match next {
        // Nobody's numbers.
        65_534 | 65_535 => Ok(65_536),
        _ if is_nobodys(next) => bail!("the greatest {attribute} is in use: choose one yourself"),
        _ => Ok(next),
    }
}

/// Returns true for the numbers that systems give to nobody, and those beyond.
const fn is_nobodys(number: u32) -> bool {
    matches!(number, 65_534 | 65_535) || number >= 2_000_000_000
}

/// Returns true if two names are the same.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    normal(one) == normal(other)
}
