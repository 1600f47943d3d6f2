//! A batch: the entries that a part of the log names, each once. A consumer can follow their order.
//!
//! An entry has the place of its last new name, or else of its last change. A consumer knows each
//! entry by its *held* name, which it had before the part. A renamed parent
//! comes first, and so does the holder of a name that another entry takes. Entries that leave a
//! deleted parent precede its deletion.

use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{ChangeKind, ChangeRecord, CsnVector, EntryId, PackedCsn, StoreError, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// An entry that has changed.
#[derive(Clone, Debug)]
pub(super) struct ChangedEntry {
    pub(super) uuid: [u8; 16],
    pub(super) id: EntryId,
    /// The position of its message in the order of the log.
    pub(super) place: u64,
    /// The name at the consumer; `None` if it has no such entry.
    pub(super) held: Option<Dn>,
    /// True if it is new or has a new name.
    pub(super) is_named: bool,
    /// True if the last change is its deletion.
    pub(super) is_deleted: bool,
    /// True if a change touches an attribute of the filter.
    pub(super) may_leave: bool,
    /// True if all changes come from the consumer's own server.
    pub(super) is_own: bool,
    /// True once the consumer knows its newest state.
    pub(super) is_sent: bool,
    /// True while other entries go first.
    pub(super) waits: bool,
}

/// A record of the batch.
#[derive(Clone, Copy, Debug)]
struct Passed {
    position: u64,
    csn: PackedCsn,
}

/// The changed entries of a part of the log.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// In the order of their places.
    pub(super) entries: Vec<ChangedEntry>,
    by_uuid: FxHashMap<[u8; 16], usize>,
    by_id: FxHashMap<EntryId, usize>,
    /// By the held name, in normal form.
    holders: FxHashMap<String, usize>,
    /// By the held name of a deleted entry: those that the consumer has below it.
    below: FxHashMap<String, Vec<usize>>,
    /// The entries that are new or renamed, by their names at this point of the log.
    names: FxHashMap<String, (usize, Dn)>,
    records: Vec<Passed>,
    /// The first record that the consumer's state does not include.
    next_record: usize,
    /// True if the numbers of each server ascend, so that a cookie can name a point within.
    is_ascending: bool,
}

/// The rules by which records become changed entries.
pub(super) struct BatchRules<'r> {
    pub(super) schema: &'r Schema,
    /// Changes of this server are the consumer's own.
    pub(super) own_server: Option<u16>,
    /// Returns true if changes of attributes with these names may change what the filter says.
    pub(super) touches_filter: &'r dyn Fn(&ChangeRecord<'_>) -> Result<bool, StoreError>,
}

impl Batch {
    /// Reads the records at `positions`, ascending. `None` if the log does not have them any more.
    pub(super) fn read(
        view: &View<'_>,
        positions: &[u64],
        rules: &BatchRules<'_>,
    ) -> Result<Option<Batch>, StoreError> {
        let mut batch = Batch {
            is_ascending: true,
            ..Batch::default()
        };
        let mut seen = CsnVector::default();
        for &position in positions {
            let Some(record) = view.change(position)? else {
                return Ok(None);
            };
            let csn = record.csn;
            batch.is_ascending &= !record.is_unordered && seen.raise(csn);
            batch.records.push(Passed { position, csn });
        }
        for &position in positions {
            let Some(record) = view.change(position)? else {
                return Ok(None);
            };
            if !matches!(record.kind, ChangeKind::Loaded | ChangeKind::Glue) {
                batch.add(position, &record, rules)?;
            }
        }
        batch.names = FxHashMap::default();
        batch.order();
        Ok(Some(batch))
    }

    fn add(
        &mut self,
        position: u64,
        record: &ChangeRecord<'_>,
        rules: &BatchRules<'_>,
    ) -> Result<(), StoreError> {
        let parse = |text| Dn::parse(rules.schema, text);
        // The log has names that the server itself has written.
        let damaged = |_| StoreError::from(fulgurite_store::Damage::Changes);
        let before = parse(record.dn).map_err(damaged)?;
        let after = match &record.rename {
            None => before.clone(),
            Some(rename) => {
                let superior = match rename.superior {
                    Some(superior) => parse(superior).map_err(damaged)?,
                    None => before.parent().unwrap_or_else(Dn::root),
                };
                superior.child(&parse(rename.new_rdn).map_err(damaged)?)
            }
        };
        let is_new = record.kind == ChangeKind::Add;
        let is_named = is_new || record.kind == ChangeKind::Rename;
        let may_leave = record.kind != ChangeKind::Modify || (rules.touches_filter)(record)?;
        let is_own = rules.own_server == Some(record.csn.server());
        let next = self.entries.len();
        let at = *self.by_uuid.entry(record.uuid).or_insert(next);
        // No cookie tells of unordered changes, so a consumer may have a new entry from before.
        let is_unknown = is_new && self.is_ascending;
        let held = (!is_unknown).then(|| self.held_name(&before)).flatten();
        match self.entries.get_mut(at) {
            None => self.entries.push(ChangedEntry {
                uuid: record.uuid,
                id: record.entry,
                place: position,
                held,
                is_named,
                is_deleted: record.kind == ChangeKind::Delete,
                may_leave,
                is_own,
                is_sent: false,
                waits: false,
            }),
            Some(entry) => {
                let is_deleted = record.kind == ChangeKind::Delete;
                if is_named || is_deleted || !entry.is_named {
                    entry.place = position;
                }
                entry.id = record.entry;
                entry.is_named |= is_named;
                entry.is_deleted = is_deleted;
                entry.may_leave |= may_leave;
                entry.is_own &= is_own;
            }
        }
        if is_named || record.kind == ChangeKind::Delete {
            self.follow_name(at, &before, (!is_new).then_some(&after));
            if record.kind != ChangeKind::Delete {
                self.names.insert(after.normal().to_owned(), (at, after));
            }
        }
        Ok(())
    }

    /// Returns the name at the consumer of an entry that has this name in the log. `None` if it
    /// came with a new entry.
    fn held_name(&self, name: &Dn) -> Option<Dn> {
        let mut below = vec![name.leaf()?];
        let mut above = name.parent();
        while let Some(ancestor) = above {
            if let Some((at, _)) = self.names.get(ancestor.normal()) {
                let held = self.entries.get(*at)?.held.clone()?;
                return Some(below.iter().rev().fold(held, |above, rdn| above.child(rdn)));
            }
            above = ancestor.parent();
            below.extend(ancestor.leaf());
        }
        Some(name.clone())
    }

    /// Updates the names of changed entries after a rename to `after`, or a deletion.
    fn follow_name(&mut self, at: usize, before: &Dn, after: Option<&Dn>) {
        let is_it = |known: &(usize, Dn)| known.0 == at;
        if self.names.get(before.normal()).is_some_and(is_it) {
            self.names.remove(before.normal());
        }
        let Some(after) = after.filter(|after| *after != before) else {
            return;
        };
        let moved = self.names.extract_if(|_, (_, name)| name.is_under(before));
        let moved: Vec<(usize, Dn)> = moved.map(|(_, known)| known).collect();
        for (at, name) in moved {
            let mut below = Vec::new();
            let mut rest = Some(name);
            while let Some(name) = rest.filter(|name| name != before) {
                below.extend(name.leaf());
                rest = name.parent();
            }
            let name = below.iter().rev();
            let name = name.fold(after.clone(), |above, rdn| above.child(rdn));
            self.names.insert(name.normal().to_owned(), (at, name));
        }
    }

    /// Orders the entries by their places, and notes who holds which name.
    fn order(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.place);
        let deleted = self.entries.iter().filter(|entry| entry.is_deleted);
        let deleted = deleted.filter_map(|entry| Some(entry.held.as_ref()?.normal().to_owned()));
        let deleted: FxHashSet<String> = deleted.collect();
        for (at, entry) in self.entries.iter().enumerate() {
            self.by_uuid.insert(entry.uuid, at);
            self.by_id.insert(entry.id, at);
            let Some(held) = &entry.held else { continue };
            self.holders.insert(held.normal().to_owned(), at);
            if !(entry.is_named || entry.is_deleted) || deleted.is_empty() {
                continue;
            }
            let mut above = held.parent();
            while let Some(name) = above.filter(|name| !name.is_root()) {
                if deleted.contains(name.normal()) {
                    let below = self.below.entry(name.normal().to_owned());
                    below.or_default().push(at);
                }
                above = name.parent();
            }
        }
    }

    /// Returns the number of an unsent entry that has changed its name, by its id.
    pub(super) fn unsent_named(&self, id: EntryId) -> Option<usize> {
        let at = *self.by_id.get(&id)?;
        let entry = self.entries.get(at)?;
        (entry.is_named && !entry.is_sent).then_some(at)
    }

    /// Returns the number of the unsent entry that holds a name at the consumer.
    pub(super) fn holder(&self, name: &str) -> Option<usize> {
        let at = *self.holders.get(name)?;
        let entry = self.entries.get(at)?;
        let holds = entry
            .held
            .as_ref()
            .is_some_and(|held| held.normal() == name);
        (holds && !entry.is_sent).then_some(at)
    }

    /// Returns an unsent entry that the consumer has below a name.
    pub(super) fn unsent_below(&self, name: &str) -> Option<usize> {
        let below = self.below.get(name)?;
        let is_unsent = |at: &&usize| {
            let entry = self.entries.get(**at);
            entry.is_some_and(|entry| !entry.is_sent && !entry.waits && entry.held.is_some())
        };
        below.iter().find(is_unsent).copied()
    }

    /// Returns true if an entry has a message in this batch.
    pub(super) fn has(&self, uuid: [u8; 16]) -> bool {
        self.by_uuid.contains_key(&uuid)
    }

    /// Raises `told` to the state of a consumer that has all entries before number `next`. It stays
    /// as it is if no point within the batch can be named.
    pub(super) fn pass(&mut self, next: usize, told: &mut CsnVector) {
        let place = self.entries.get(next).map_or(u64::MAX, |entry| entry.place);
        if !self.is_ascending && place != u64::MAX {
            return;
        }
        while let Some(record) = self.records.get(self.next_record)
            && record.position < place
        {
            if self.is_ascending {
                told.raise(record.csn);
            }
            self.next_record += 1;
        }
    }

    /// Returns the positions that the consumer's state does not include.
    pub(super) fn rest(&self) -> impl Iterator<Item = u64> {
        let rest = self.records.get(self.next_record..).unwrap_or_default();
        rest.iter().map(|record| record.position)
    }
}
