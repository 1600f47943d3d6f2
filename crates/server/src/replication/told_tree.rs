//! The configuration of a provider as its consumer has been told it, in memory.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_config::ConfigEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{ContentChange, ContentEntry};
use fulgurite_replica::Vector;

/// The name of the entry at the top.
const TOP: &str = "cn=config";

/// The attribute of the state, in the entry at the top.
const STATE: &str = "contextCSN";

/// Attributes that a server computes.
const COMPUTED: [&str; 4] = ["entryDN", "subschemaSubentry", "hasSubordinates", STATE];

/// The entries that a provider has told.
#[derive(Default)]
pub(super) struct ToldTree {
    entries: BTreeMap<EntryUuid, ContentEntry>,
    /// The entries that this refresh has named.
    named: BTreeSet<EntryUuid>,
    is_refreshing: bool,
    has_news: bool,
    /// The state that cookies have told.
    reached: Vector,
}

impl ToldTree {
    /// Takes a change.
    pub(super) fn take(&mut self, change: ContentChange) {
        match change {
            ContentChange::BeginRefresh => {
                self.named.clear();
                self.is_refreshing = true;
            }
            ContentChange::Entry(entry) => {
                self.named.insert(entry.uuid);
                self.entries.insert(entry.uuid, entry);
                self.has_news = true;
            }
            ContentChange::Delete { uuid, .. } => {
                self.has_news |= self.entries.remove(&uuid).is_some();
            }
            ContentChange::Present(uuids) => self.named.extend(uuids),
            ContentChange::DropUnnamed { .. } => {
                let named = &self.named;
                self.entries.retain(|uuid, _| named.contains(uuid));
                self.has_news = true;
            }
            ContentChange::EndRefresh => self.is_refreshing = false,
            ContentChange::Reached { csns, .. } => self.reached.merge(&Vector::of(csns)),
            ContentChange::Operation(_) => {}
        }
    }

    /// Returns the numbers up to which the entries have all changes. A provider that is not one of
    /// several keeps none, and its cookies say less: nothing about deletions.
    pub(super) fn state(&self) -> Vec<String> {
        let top = self.entries.values();
        let mut top = top.filter(|entry| entry.dn.eq_ignore_ascii_case(TOP));
        let attributes = top.next().map_or(&[][..], |top| &top.attributes).iter();
        let mut kept = attributes.filter(|held| held.description.eq_ignore_ascii_case(STATE));
        let Some(kept) = kept.next() else {
            return Vec::new();
        };
        let kept = kept
            .values
            .iter()
            .map(|value| String::from_utf8_lossy(value));
        let mut state = Vector::of(kept);
        state.merge(&self.reached);
        state.csns().map(str::to_owned).collect()
    }

    /// Returns true if there is a whole tree that was not tried yet.
    pub(super) fn is_complete(&self) -> bool {
        self.has_news && !self.is_refreshing
    }

    /// Notes that the present tree has been tried.
    pub(super) fn note_tried(&mut self) {
        self.has_news = false;
    }

    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries for the files of this server.
    pub(super) fn entries(&self) -> Result<Vec<ConfigEntry>, String> {
        self.entries.values().map(config_entry).collect()
    }
}

fn config_entry(entry: &ContentEntry) -> Result<ConfigEntry, String> {
    let mut attributes = Vec::new();
    for attribute in &entry.attributes {
        let name = &attribute.description;
        if COMPUTED.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            continue;
        }
        let values = attribute.values.iter().cloned().map(String::from_utf8);
        let values = values.collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|_| format!("{}: {name}: a value is not UTF-8", entry.dn))?;
        if !values.is_empty() {
            attributes.push((name.clone(), values));
        }
    }
    Ok(ConfigEntry {
        dn: entry.dn.clone(),
        attributes,
    })
}

#[cfg(test)]
mod tests {
    use fulgurite_ldap::ContentAttribute;

    use super::*;

    fn entry(number: u8, dn: &str) -> ContentChange {
        let attribute = |name: &str, value: &str| ContentAttribute {
            description: name.to_owned(),
            values: vec![value.as_bytes().to_vec()],
        };
        ContentChange::Entry(ContentEntry {
            uuid: [number; 16],
            dn: dn.to_owned(),
            attributes: vec![attribute("cn", "x"), attribute("entryDN", dn)],
            place: None,
            stamps: None,
        })
    }

    #[test]
    fn a_tree_is_tried_as_a_whole() {
        let mut tree = ToldTree::default();
        let end = || {
            [
                ContentChange::DropUnnamed { state: Vec::new() },
                ContentChange::EndRefresh,
            ]
        };
        let begin = [
            ContentChange::BeginRefresh,
            entry(1, "cn=config"),
            entry(2, "cn=a,cn=config"),
        ];
        begin.into_iter().for_each(|change| tree.take(change));
        assert!(!tree.is_complete(), "the refresh goes on");
        end().into_iter().for_each(|change| tree.take(change));
        assert!(tree.is_complete());
        let entries = tree.entries().unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(
            entries[0].attributes,
            [("cn".to_owned(), vec!["x".to_owned()])]
        );
        tree.note_tried();
        // The second refresh does not name the second entry.
        let again = [
            ContentChange::BeginRefresh,
            ContentChange::Present(vec![[1; 16]]),
        ];
        again
            .into_iter()
            .chain(end())
            .for_each(|change| tree.take(change));
        assert!(tree.is_complete());
        let names: Vec<String> = tree
            .entries()
            .unwrap()
            .into_iter()
            .map(|entry| entry.dn)
            .collect();
        assert_eq!(names, ["cn=config"]);
    }
}
