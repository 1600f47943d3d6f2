//! One of two servers that are compared.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use fulgurite_client::{Client, Entry, Scope};
use fulgurite_ldap::{Control, FilterBuf, Response, SearchRequest, oid};

/// The entries that differ, with the number and the name that each server has.
pub(super) type Differences = BTreeMap<u128, [Option<String>; 2]>;

/// A server.
pub(super) struct Side<'c> {
    url: &'c str,
    client: Client,
}

impl<'c> Side<'c> {
    pub(super) fn new(url: &'c str, client: Client) -> Side<'c> {
        Side { url, client }
    }

    pub(super) fn url(&self) -> &str {
        self.url
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns the state of the content: the greatest number of each server.
    pub(super) fn state(&mut self, base: &str) -> anyhow::Result<Vec<String>> {
        let url = self.url;
        let filter = "(objectClass=*)";
        let found = self
            .client
            .search(base, Scope::Base, filter, &["contextCSN"])?;
        if !found.result.is_success() {
            bail!("{url}: {base}: {}", found.result.code.name());
        }
        let entry: Option<&Entry> = found.entries.first();
        let values = entry.map(|entry| entry.values("contextCSN"));
        let values = values.unwrap_or_default().iter();
        let mut state: Vec<String> = values
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect();
        if state.is_empty() {
            bail!("{url}: {base} shows no contextCSN: it needs a provider, and rights to read it");
        }
        state.sort();
        Ok(state)
    }

    /// Passes the UUID and the state of each entry to `each`: its number and its name.
    pub(super) fn each_entry(
        &mut self,
        base: &str,
        each: &mut dyn FnMut(u128, &str),
    ) -> anyhow::Result<()> {
        let url = self.url;
        let filter = FilterBuf::parse("(!(objectClass=glue))").context("a filter")?;
        let request = SearchRequest {
            attributes: vec![b"entryUUID", b"entryCSN"],
            ..SearchRequest::new(base, Scope::Subtree, filter.filter())
        };
        // Referral objects are entries, too.
        let control = Control::new(oid::MANAGE_DSA_IT, false);
        let mut stream = self.client.search_stream(&request, &[control])?;
        while let Some(message) = stream.next_message()? {
            match message.response {
                Response::SearchEntry(entry) => {
                    let entry = Entry::from(&entry);
                    let identity = identity(&entry);
                    let (uuid, state) = identity.with_context(|| {
                        format!("{url}: {}: entryUUID and entryCSN cannot be read", entry.dn)
                    })?;
                    each(uuid, &state);
                }
                Response::SearchDone(result) if !result.is_success() => {
                    bail!("{url}: the search ends: {}", result.code.name());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the UUID of an entry, and number and name in lower case.
fn identity(entry: &Entry) -> Option<(u128, String)> {
    let uuid = entry.first("entryUUID")?.replace('-', "");
    let uuid = u128::from_str_radix(&uuid, 16).ok()?;
    let name = entry.dn.to_lowercase();
    Some((uuid, format!("{} {name}", entry.first("entryCSN")?)))
}

/// Returns the text of a UUID.
pub(super) fn uuid_text(uuid: u128) -> String {
    let text = format!("{uuid:032x}");
    let parts = [
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..],
    ];
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_read_or_missing() {
        let entry = |attributes: &[(&str, &str)]| Entry {
            dn: "cn=X".to_owned(),
            attributes: attributes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), vec![value.as_bytes().to_vec()]))
                .collect(),
        };
        let uuid = ("entryUUID", "00000000-0000-0000-0000-00000000000a");
        let found = identity(&entry(&[uuid, ("entryCSN", "c")]));
        assert_eq!(found, Some((10, "c cn=x".to_owned())));
        assert_eq!(identity(&entry(&[uuid])), None);
        assert_eq!(
            identity(&entry(&[("entryUUID", "x"), ("entryCSN", "c")])),
            None
        );
    }
}
