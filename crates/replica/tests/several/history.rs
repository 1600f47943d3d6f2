//! The updates that servers have acknowledged to clients, and what must be left of them.

use std::collections::BTreeMap;

use crate::node::SeenEntry;

/// An acknowledged update.
#[derive(Clone, Debug)]
struct Written {
    csn: String,
    /// The entry afterwards; `None` for a deletion.
    entry: Option<SeenEntry>,
}

/// The acknowledged updates by entry.
#[derive(Debug, Default)]
pub(crate) struct History(BTreeMap<String, Vec<Written>>);

impl History {
    pub(crate) fn changed(&mut self, entry: &SeenEntry) {
        let written = Written {
            csn: entry.first("entryCSN").to_owned(),
            entry: Some(entry.clone()),
        };
        let uuid = entry.first("entryUUID").to_owned();
        self.0.entry(uuid).or_default().push(written);
    }

    pub(crate) fn deleted(&mut self, uuid: &str, csn: String) {
        let written = Written { csn, entry: None };
        self.0.entry(uuid.to_owned()).or_default().push(written);
    }

    /// Checks what is left: the greatest number of an entry wins, unless another entry has taken
    /// its name.
    ///
    /// # Errors
    /// A sentence about the update that is lost.
    pub(crate) fn check(&self, left: &BTreeMap<String, SeenEntry>) -> Result<(), String> {
        for (uuid, all) in &self.0 {
            let Some(newest) = all.iter().max_by_key(|written| &written.csn) else {
                continue;
            };
            match (&newest.entry, left.get(uuid)) {
                (None, None) => {}
                (None, Some(here)) => {
                    return Err(format!(
                        "{uuid} is deleted by {}, but here: {here:?}",
                        newest.csn
                    ));
                }
                (Some(entry), Some(here)) => {
                    let value = |entry: &SeenEntry| entry.first("description").to_owned();
                    if value(entry) != value(here) {
                        return Err(format!("{entry:?} is lost: {here:?}"));
                    }
                }
                (Some(entry), None) if !self.may_lose_its_name(uuid) => {
                    return Err(format!("{entry:?} is lost: {all:?}"));
                }
                (Some(_), None) => {}
            }
        }
        Ok(())
    }

    /// Returns true if another entry has had a name of this one.
    fn may_lose_its_name(&self, uuid: &str) -> bool {
        let names = |all: &[Written]| -> Vec<String> {
            let entries = all.iter().filter_map(|written| written.entry.as_ref());
            let rdn = |entry: &SeenEntry| entry.dn.split(',').next().map(str::to_owned);
            entries.filter_map(rdn).collect()
        };
        let own = self.0.get(uuid).map_or_else(Vec::new, |all| names(all));
        let mut others = self.0.iter().filter(|(other, _)| *other != uuid);
        others.any(|(_, all)| names(all).iter().any(|name| own.contains(name)))
    }
}
