//! A batch: the entries that a part of the log names, each once. A consumer can follow their order.
//!
//! An entry has the place of its last new name, or else of its last change. A consumer knows each
//! entry by its *held* name, which it had before the part. A renamed parent
//! comes first, and so does the holder of a name that another entry takes. Entries that leave a
//! deleted parent precede its deletion.
//!
//! A name moves with the entries above it, and the consumer moves them one by one. So names are
//! compared as *keys*: the part below the nearest changed entry, behind that entry's *anchor*. A
//! consumer whose refresh broke off may have newer states than its cookie says. So each name that
//! an entry had in the part counts as one that it may hold.

use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{ChangeKind, ChangeRecord, CsnVector, EntryId, PackedCsn, StoreError, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::name_tree::NameTree;

/// An entry that has changed.
#[derive(Clone, Debug)]
pub(super) struct ChangedEntry {
    pub(super) uuid: [u8; 16],
    pub(super) id: EntryId,
    /// The position of its message in the order of the log.
    pub(super) place: u64,
    /// The name at the consumer; `None` if it has no such entry.
    pub(super) held: Option<Dn>,
    /// The names that the part gave to it, each as it was at that time. For a consumer of a part
    /// of the tree, all names that records have of it.
    pub(super) names: Vec<Dn>,
    /// The first part of the keys of the entries below it.
    anchor: Dn,
    /// The keys of all names by which the consumer may know it.
    keys: Vec<Dn>,
    /// The position from which its name is in doubt, of this entry and all behind it in the batch.
    since: u64,
    /// True if more than one record is about it.
    pub(super) is_repeated: bool,
    /// True if it has given up its name for a moment, and holds one that no other entry takes.
    pub(super) is_aside: bool,
    /// True if it is new or has a new name.
    pub(super) is_named: bool,
    /// True if a record renames it.
    pub(super) is_renamed: bool,
    /// True if the last change is its deletion.
    pub(super) is_deleted: bool,
    /// True if a change touches an attribute of the filter.
    pub(super) may_leave: bool,
    /// True if the filter may have hidden it from the consumer.
    pub(super) may_enter: bool,
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
    /// The renamed and the deleted entries, by the keys of their names in normal form.
    holders: FxHashMap<String, Vec<usize>>,
    /// By the anchor of a deleted entry: those that the consumer may have below it.
    below: FxHashMap<String, Vec<usize>>,
    /// The entries that are new or renamed, by their names at this point of the log.
    names: NameTree,
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
    /// True if the consumer has the whole tree.
    pub(super) is_whole: bool,
    /// Returns true if changes of attributes with these names may change what the filter says.
    pub(super) touches_filter: &'r dyn Fn(&ChangeRecord<'_>) -> Result<bool, StoreError>,
}

impl ChangedEntry {
    fn note(&mut self, name: &Dn) {
        if self.names.last() != Some(name) {
            self.names.push(name.clone());
        }
    }
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
        batch.names = NameTree::default();
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
        let may_enter = is_new || (rules.touches_filter)(record)?;
        let may_leave = record.kind != ChangeKind::Modify || may_enter;
        let is_own = rules.own_server == Some(record.csn.server());
        let next = self.entries.len();
        let at = *self.by_uuid.entry(record.uuid).or_insert(next);
        let (key, is_held) = self.key(&before);
        // No cookie tells of unordered changes, so a consumer may have a new entry from before.
        let is_unknown = is_new && self.is_ascending;
        let held = (is_held && !is_unknown).then(|| key.clone());
        let is_deleted = record.kind == ChangeKind::Delete;
        let moves = is_named || is_deleted;
        match self.entries.get_mut(at) {
            None => self.entries.push(ChangedEntry {
                uuid: record.uuid,
                id: record.entry,
                place: position,
                names: Vec::new(),
                anchor: match is_unknown {
                    true => new_anchor(rules.schema, record.uuid),
                    false => key.clone(),
                },
                keys: vec![key],
                since: position,
                is_repeated: false,
                is_aside: false,
                held,
                is_named,
                is_renamed: record.kind == ChangeKind::Rename,
                is_deleted,
                may_leave,
                may_enter,
                is_own,
                is_sent: false,
                waits: false,
            }),
            Some(entry) => {
                if !entry.is_named && !entry.is_deleted {
                    entry.since = position;
                }
                if moves || !entry.is_named {
                    entry.place = position;
                }
                entry.id = record.entry;
                entry.is_repeated = true;
                entry.is_named |= is_named;
                entry.is_renamed |= record.kind == ChangeKind::Rename;
                entry.is_deleted = is_deleted;
                entry.may_leave |= may_leave;
                entry.may_enter |= may_enter;
                entry.is_own &= is_own;
            }
        }
        if let Some(entry) = self.entries.get_mut(at).filter(|_| !rules.is_whole) {
            entry.note(&before);
            entry.note(&after);
        }
        if moves {
            self.follow_name(at, &before, (!is_new).then_some(&after));
            if !is_deleted {
                self.take_name(at, after);
            }
        }
        Ok(())
    }

    /// Returns the key of a name at this point of the log. If the second value is true, it is the
    /// name at the consumer. Else the name came with a new entry.
    fn key(&self, name: &Dn) -> (Dn, bool) {
        if let Some((at, below)) = self.names.nearest_above(name)
            && let Some(known) = self.entries.get(at)
        {
            let levels = below.iter().rev();
            let key = levels.fold(known.anchor.clone(), |above, rdn| above.child(rdn));
            return (key, known.held.is_some());
        }
        (name.clone(), true)
    }

    /// Notes that an entry has this name from now on.
    fn take_name(&mut self, at: usize, name: Dn) {
        let (key, _) = self.key(&name);
        if let Some(entry) = self.entries.get_mut(at) {
            if !entry.keys.contains(&key) {
                entry.keys.push(key);
            }
            entry.note(&name);
        }
        self.names.insert(&name, at);
    }

    /// Updates the names of changed entries after a rename to `after`, or a deletion.
    fn follow_name(&mut self, at: usize, before: &Dn, after: Option<&Dn>) {
        self.names.remove(before, at);
        if let Some(after) = after.filter(|after| *after != before) {
            self.names.move_below(before, after);
        }
    }

    /// Orders the entries by their places, and notes who holds which name.
    fn order(&mut self) {
        self.entries.sort_unstable_by_key(|entry| entry.place);
        let mut since = u64::MAX;
        for entry in self.entries.iter_mut().rev() {
            since = since.min(entry.since);
            entry.since = since;
        }
        let deleted = self.entries.iter().filter(|entry| entry.is_deleted);
        let deleted = deleted.map(|entry| entry.anchor.normal().to_owned());
        let deleted: FxHashSet<String> = deleted.collect();
        for (at, entry) in self.entries.iter().enumerate() {
            self.by_uuid.insert(entry.uuid, at);
            if !entry.is_deleted {
                self.by_id.insert(entry.id, at);
            }
            if !(entry.is_named || entry.is_deleted) {
                continue;
            }
            for key in &entry.keys {
                let holders = self.holders.entry(key.normal().to_owned());
                holders.or_default().push(at);
                let mut above = key.parent().filter(|_| !deleted.is_empty());
                while let Some(name) = above.filter(|name| !name.is_root()) {
                    if deleted.contains(name.normal()) {
                        let below = self.below.entry(name.normal().to_owned());
                        below.or_default().push(at);
                    }
                    above = name.parent();
                }
            }
        }
    }

    /// Takes the entries that only the consumer's own server has changed as sent.
    pub(super) fn skip_own(&mut self) {
        for entry in &mut self.entries {
            entry.is_sent |= entry.is_own;
        }
    }

    /// Returns the first part of the keys of the names below an entry.
    pub(super) fn anchor(&self, id: EntryId) -> Option<&Dn> {
        let entry = self.entries.get(*self.by_id.get(&id)?)?;
        Some(&entry.anchor)
    }

    /// Returns the number of an unsent entry that has changed its name, by its id.
    pub(super) fn unsent_named(&self, id: EntryId) -> Option<usize> {
        let at = *self.by_id.get(&id)?;
        let entry = self.entries.get(at)?;
        (entry.is_named && !entry.is_sent).then_some(at)
    }

    /// Returns the number of an unsent entry that may hold a name at the consumer, and is not
    /// `asker`.
    pub(super) fn holder(&self, key: &Dn, asker: usize) -> Option<usize> {
        let holders = self.holders.get(key.normal())?;
        self.first_in_place(holders, asker)
    }

    /// Returns an unsent entry that the consumer may have below a deleted one.
    pub(super) fn unsent_below(&self, deleted: usize) -> Option<usize> {
        let anchor = &self.entries.get(deleted)?.anchor;
        self.first_in_place(self.below.get(anchor.normal())?, deleted)
    }

    fn first_in_place(&self, numbers: &[usize], asker: usize) -> Option<usize> {
        let is_in_place = |at: &usize| {
            let entry = self.entries.get(*at);
            *at != asker && entry.is_some_and(|entry| !entry.is_sent && !entry.is_aside)
        };
        numbers.iter().copied().find(is_in_place)
    }

    /// Returns an entry of the batch.
    pub(super) fn entry(&self, uuid: [u8; 16]) -> Option<&ChangedEntry> {
        self.entries.get(*self.by_uuid.get(&uuid)?)
    }

    /// Raises `told` to the state of a consumer that has all entries before number `next`. It stays
    /// as it is if no point within the batch can be named.
    pub(super) fn pass(&mut self, next: usize, told: &mut CsnVector) {
        let since = self.entries.get(next).map_or(u64::MAX, |entry| entry.since);
        if !self.is_ascending && since != u64::MAX {
            return;
        }
        while let Some(record) = self.records.get(self.next_record)
            && record.position < since
        {
            if self.is_ascending {
                told.raise(record.csn);
            }
            self.next_record += 1;
        }
    }

    /// Returns the number of the newest change.
    pub(super) fn newest(&self) -> Option<PackedCsn> {
        self.records.last().map(|record| record.csn)
    }

    /// Returns the positions that the consumer's state does not include.
    pub(super) fn rest(&self) -> impl Iterator<Item = u64> {
        let rest = self.records.get(self.next_record..).unwrap_or_default();
        rest.iter().map(|record| record.position)
    }
}

/// Returns the anchor of an entry that the consumer does not have. No entry's name ends with it.
fn new_anchor(schema: &Schema, uuid: [u8; 16]) -> Dn {
    let uuid = uuid::Uuid::from_bytes(uuid).hyphenated();
    Dn::parse(schema, &format!("entryUUID={uuid}")).unwrap_or_else(|_| Dn::root())
}
