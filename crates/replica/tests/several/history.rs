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

/// An acknowledged change of an attribute.
#[derive(Clone, Debug)]
struct Part {
    csn: String,
    /// The values that there are afterwards, if they are new as a whole.
    replaced: Option<Vec<String>>,
    /// A value that was added or removed.
    value: Option<(String, bool)>,
}

/// The acknowledged updates by entry, and by attribute.
#[derive(Debug, Default)]
pub(crate) struct History(
    BTreeMap<String, Vec<Written>>,
    BTreeMap<(String, String), Vec<Part>>,
);

impl History {
    pub(crate) fn changed(&mut self, entry: &SeenEntry) {
        let written = Written {
            csn: entry.first("entryCSN").to_owned(),
            entry: Some(entry.clone()),
        };
        let uuid = entry.first("entryUUID").to_owned();
        let all = self.0.entry(uuid.clone()).or_default();
        let is_new = all.is_empty();
        all.push(written);
        if is_new && let Some(values) = entry.attributes.get("description") {
            self.replaced((&uuid, "description"), values, entry.first("entryCSN"));
        }
    }

    /// Notes that an attribute has new values as a whole.
    pub(crate) fn replaced(&mut self, attribute: (&str, &str), values: &[String], csn: &str) {
        self.part(attribute, csn, Some(values.to_vec()), None);
    }

    /// Notes that a value was added or removed.
    pub(crate) fn set_value(
        &mut self,
        attribute: (&str, &str),
        value: &str,
        csn: &str,
        is_here: bool,
    ) {
        self.part(attribute, csn, None, Some((value.to_owned(), is_here)));
    }

    fn part(
        &mut self,
        (uuid, name): (&str, &str),
        csn: &str,
        replaced: Option<Vec<String>>,
        value: Option<(String, bool)>,
    ) {
        let key = (uuid.to_owned(), name.to_owned());
        self.1.entry(key).or_default().push(Part {
            csn: csn.to_owned(),
            replaced,
            value,
        });
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
                (Some(_), Some(here)) => self.check_parts(uuid, here)?,
                (Some(entry), None) if !self.may_lose_its_name(uuid) => {
                    return Err(format!("{entry:?} is lost: {all:?}"));
                }
                (Some(_), None) => {}
            }
        }
        Ok(())
    }

    /// Checks each attribute: the greatest number of each value wins. Changes from before a
    /// deletion that the entry has outlived may be gone. So may older ones of an entry that left
    /// because of its name.
    fn check_parts(&self, uuid: &str, here: &SeenEntry) -> Result<(), String> {
        let all = self.0.get(uuid).map_or(&[][..], Vec::as_slice);
        let deletions = all.iter().filter(|written| written.entry.is_none());
        let mut forgotten = deletions.map(|written| written.csn.as_str()).max();
        if self.may_lose_its_name(uuid) {
            let newest = all.iter().map(|written| written.csn.as_str()).max();
            let before = all.iter().map(|written| written.csn.as_str());
            forgotten = before.filter(|csn| Some(*csn) < newest).max();
        }
        for ((_, name), parts) in self.1.iter().filter(|((entry, _), _)| entry == uuid) {
            let known = |part: &&Part| Some(part.csn.as_str()) > forgotten;
            let replaced = parts.iter().filter(|part| part.replaced.is_some());
            let replaced = replaced.max_by_key(|part| &part.csn);
            let held = here.attributes.get(name).map_or(&[][..], Vec::as_slice);
            let cleared = replaced.map(|part| part.csn.as_str());
            let values = parts.iter().filter_map(|part| part.value.as_ref());
            let replacing = replaced.and_then(|part| part.replaced.as_ref());
            let values = values.map(|(value, _)| value);
            for value in values.chain(replacing.into_iter().flatten()).chain(held) {
                let of_value =
                    |part: &&Part| part.value.as_ref().is_some_and(|(of, _)| of == value);
                let newest = parts.iter().filter(of_value).max_by_key(|part| &part.csn);
                let newest = newest.filter(|part| Some(part.csn.as_str()) > cleared);
                let (part, wanted) = match (newest, replaced) {
                    (Some(part), _) => (part, part.value.as_ref().is_some_and(|(_, here)| *here)),
                    (None, Some(part)) => {
                        let values = part.replaced.as_ref().expect("values");
                        (part, values.contains(value))
                    }
                    (None, None) => continue,
                };
                if known(&part) && held.contains(value) != wanted {
                    return Err(format!("{uuid} {name} {value}: {part:?} is lost: {here:?}"));
                }
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
