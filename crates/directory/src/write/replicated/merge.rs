//! The state of an entry where clients update the copy, too: several providers of each other.
//!
//! An entry has two registers: its values with the RDN, and its place in the tree. The greater
//! number wins in each. A change by a client numbers both. The merge itself only moves entries.
//! It numbers the place alone, so that no client's change is lost.
//!
//! A name that another entry has makes the newcomer [wait](super::waiting): the other entry may
//! move in the same refresh. If the name is still taken when the state covers the newcomer, the
//! entry with the lower number leaves.

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{EntryId, PackedCsn};

use super::applier::Applier;
use super::conflict::{ConflictKind, NewConflict};
use super::error::ContentResult;
use super::numbers::{Deletion, EntryNumbers};
use super::waiting_rows::WaitingEntry;

/// The way to take a name that another entry has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TakenName {
    /// The newcomer waits.
    Waits,
    /// The numbers decide.
    Decides,
}

/// An entry on its way to a new state.
struct Merged {
    /// The entry here, if it is.
    id: Option<EntryId>,
    entry: Entry,
    numbers: EntryNumbers,
    takes_values: bool,
    takes_place: bool,
    /// True if it cannot go where the provider has it.
    is_misplaced: bool,
}

impl Applier<'_, '_> {
    /// Merges the state of an entry.
    pub(super) fn merge_state(&mut self, given: &ContentEntry, taken: TakenName) -> ContentResult {
        let incoming = self.incoming(given)?;
        let numbers = self.numbers_of(given, &incoming);
        if let Some(&WaitingEntry {
            numbers: waiting,
            rid,
        }) = self.waiting.get(&given.uuid)
        {
            // The same state of another consumer is decided with the settings of this one.
            let is_other = waiting == numbers && rid != self.content.rid;
            if waiting.values >= numbers.values && waiting.place >= numbers.place && !is_other {
                return Ok(());
            }
            if waiting.values > numbers.values || waiting.place > numbers.place {
                // Each has a part of the newest state.
                self.settle_one(&given.uuid)?;
            }
            self.stop_waiting(&given.uuid)?;
        }
        let found = self.entry_of(&given.uuid)?;
        if let Some(id) = found {
            self.content.named.insert(id);
        }
        let parent = given.place.as_ref().map(|place| place.above);
        let parent_waits = parent.is_some_and(|above| self.waiting.contains_key(&above));
        let merged = match found {
            Some(id) => self.merged(id, given, incoming, numbers)?,
            None if self.was_deleted(&given.uuid, &incoming)? => {
                self.report_late(&incoming, given, numbers)?;
                None
            }
            None => Some(self.newcomer(given, incoming, numbers)?),
        };
        let Some(merged) = merged else {
            return self.release(&given.uuid);
        };
        let holder = self.writer.find(&merged.entry.dn)?.entry();
        let holder = holder.filter(|holder| Some(*holder) != merged.id);
        let holder = match holder {
            Some(holder) if self.is_glue(holder)? => None,
            holder => holder,
        };
        if (holder.is_some() || parent_waits) && taken == TakenName::Waits {
            return self.wait(given, numbers);
        }
        let freed = match holder {
            Some(holder) => match self.contend(holder, given, &merged)? {
                Contest::Lost => return self.release(&given.uuid),
                Contest::Won(freed) => freed,
            },
            None => None,
        };
        if merged.id.is_none() {
            self.report_return(given, &merged)?;
        }
        if merged.takes_values && self.is_ahead(merged.numbers.values) {
            self.report_conflict(&NewConflict {
                kind: ConflictKind::ClockAhead,
                uuid: given.uuid,
                dn: merged.entry.dn.pretty(),
                winner: merged.numbers.values,
                loser: None,
                values: None,
            })?;
        }
        self.put_merged(given, merged)?;
        self.release(&given.uuid)?;
        match freed {
            Some(freed) => self.settle_one(&freed),
            None => Ok(()),
        }
    }

    fn numbers_of(&self, given: &ContentEntry, entry: &Entry) -> EntryNumbers {
        let values = self.number_of(entry);
        let place = given.place.as_ref().and_then(|place| place.csn.as_ref());
        let place = place.and_then(|csn| PackedCsn::parse(csn.as_bytes()));
        EntryNumbers {
            values,
            place: place.max(values),
        }
    }

    /// Returns the entry as it will be; `None` if nothing of the state is newer.
    fn merged(
        &mut self,
        id: EntryId,
        given: &ContentEntry,
        incoming: Entry,
        numbers: EntryNumbers,
    ) -> ContentResult<Option<Merged>> {
        let held = self.copy_of(id)?;
        let has = self.numbers_here(&given.uuid, &held)?;
        let takes_values = numbers.values > has.values;
        let takes_place = numbers.place > has.place;
        self.report_overwritten(given, (&held, has), (&incoming, numbers))?;
        if !takes_values && !takes_place {
            return Ok(None);
        }
        let above = match takes_place {
            true => self.placed(given, &incoming.dn)?.parent(),
            false => held.dn.parent(),
        };
        let given_leaf = incoming.dn.leaf();
        let mut entry = match takes_values {
            true => incoming,
            false => held.clone(),
        };
        // With the same values, the RDN is the same; the one here may be aside.
        let leaf = match numbers.values == has.values {
            true => given_leaf,
            false => entry.dn.leaf(),
        };
        let name = |above: Option<Dn>, leaf: Option<&Dn>| match (above, leaf) {
            (Some(above), Some(leaf)) => Some(above.child(leaf)),
            (_, leaf) => leaf.cloned(),
        };
        if let Some(dn) = name(above, leaf.as_ref()) {
            entry.dn = dn;
        }
        let is_misplaced = entry.dn.is_under(&held.dn);
        if is_misplaced && let Some(dn) = name(held.dn.parent(), leaf.as_ref()) {
            entry.dn = dn;
        }
        if takes_values {
            self.keep_others(&mut entry, &held);
            self.keep_bind_state(id, &mut entry, &held)?;
        }
        Ok(Some(Merged {
            id: Some(id),
            entry,
            numbers: EntryNumbers {
                values: numbers.values.max(has.values),
                place: numbers.place.max(has.place),
            },
            takes_values,
            takes_place,
            is_misplaced,
        }))
    }

    fn newcomer(
        &mut self,
        given: &ContentEntry,
        mut entry: Entry,
        numbers: EntryNumbers,
    ) -> ContentResult<Merged> {
        entry.dn = self.placed(given, &entry.dn)?;
        Ok(Merged {
            id: None,
            entry,
            numbers,
            takes_values: true,
            takes_place: true,
            is_misplaced: false,
        })
    }

    /// Lets an entry contend with the one that has its name. A holder whose own new name waits
    /// frees this one, and is returned.
    fn contend(
        &mut self,
        holder: EntryId,
        given: &ContentEntry,
        merged: &Merged,
    ) -> ContentResult<Contest> {
        let mut held = self.copy_of(holder)?;
        let uuid = self.uuid_of(&held);
        if let Some(uuid) = uuid
            && let Some(WaitingEntry {
                numbers: waiting, ..
            }) = self.waiting.get(&uuid).copied()
        {
            let here = self.numbers_here(&uuid, &held)?;
            if waiting > here && waiting.values >= here.values {
                self.set_aside(holder)?;
                return Ok(Contest::Won(Some(uuid)));
            }
            // Only its place is newer. It keeps its RDN, so it must not lose that for a moment.
            self.settle_one(&uuid)?;
            if self.writer.find(&merged.entry.dn)?.entry() != Some(holder) {
                return Ok(Contest::Won(None));
            }
            held = self.copy_of(holder)?;
        }
        let newcomer = (merged.numbers.values, given.uuid);
        let held_number = self.number_of(&held);
        if newcomer > (held_number, uuid.unwrap_or_default()) {
            self.drop_loser(holder, merged.numbers.values)?;
            return Ok(Contest::Won(None));
        }
        let name = merged.entry.dn.pretty();
        self.report_conflict(&NewConflict {
            kind: ConflictKind::NameTaken,
            uuid: given.uuid,
            dn: name,
            winner: held_number,
            loser: merged.numbers.values,
            values: Some(&merged.entry),
        })?;
        match merged.id {
            Some(id) => {
                // Its values here may be older than those that lose.
                self.drop_entry(id, merged.numbers.values)?;
            }
            None => {
                let deletion = Deletion::of_loser(merged.numbers.values);
                self.end_unknown(&given.uuid, name, deletion)?;
            }
        }
        let text = format!("{name}: an entry of the name with a lower number leaves");
        self.report.warnings.push(text);
        Ok(Contest::Lost)
    }

    /// Stores a merged entry, under a name that is free.
    fn put_merged(&mut self, given: &ContentEntry, merged: Merged) -> ContentResult {
        let Merged {
            id,
            entry,
            numbers,
            takes_values,
            takes_place,
            is_misplaced,
        } = merged;
        let id = match id {
            None => match self.add(entry)? {
                Some(id) => id,
                None => return Ok(()),
            },
            Some(id) => {
                let held = self.copy_of(id)?;
                let number = match takes_values {
                    true => numbers.values,
                    false => numbers.place,
                };
                if entry.dn.normal() == held.dn.normal() {
                    self.change_values(id, &held, entry, number)?;
                } else {
                    self.rename_as(id, entry, number)?;
                }
                id
            }
        };
        self.known.insert(given.uuid, Some(id));
        self.content.named.insert(id);
        self.put_place(&given.uuid, numbers)?;
        if takes_values && takes_place && numbers.place > numbers.values {
            let entry = self.copy_of(id)?;
            self.log_place(id, &entry, numbers.place)?;
        }
        let Some(place) = given.place.as_ref().filter(|_| takes_place) else {
            return Ok(());
        };
        if is_misplaced || self.above(id)? != Some(place.above) {
            self.renumber_place(id)?;
        }
        Ok(())
    }

    /// Stores other values of an entry under its name, perhaps in another spelling.
    fn change_values(
        &mut self,
        id: EntryId,
        held: &Entry,
        entry: Entry,
        number: Option<PackedCsn>,
    ) -> ContentResult {
        let is_respelled = entry.dn.pretty() != held.dn.pretty();
        let checked = self.checked(entry)?;
        let parent = self.writer.parent(id)?;
        match parent {
            Some(parent) if is_respelled => self.writer.rename(id, parent, &checked)?,
            _ if checked.entry().attributes == held.attributes => {
                return self.log_place(id, held, number);
            }
            _ => self.writer.modify(id, &checked)?,
        }
        self.log_change_as(id, held, checked.entry(), number)
    }

    /// Returns the number of the values of an entry.
    pub(super) fn number_of(&self, entry: &Entry) -> Option<PackedCsn> {
        let csn = entry.values(self.core.types.entry_csn.attribute).first()?;
        PackedCsn::parse(csn)
    }

    pub(super) fn uuid_of(&self, entry: &Entry) -> Option<EntryUuid> {
        let text = entry.values(self.core.types.entry_uuid.attribute).first()?;
        Some(uuid::Uuid::try_parse_ascii(text).ok()?.into_bytes())
    }

    /// Removes the holder of a name that another entry gets, which has a greater number.
    pub(super) fn drop_loser(&mut self, id: EntryId, winner: Option<PackedCsn>) -> ContentResult {
        let held = self.copy_of(id)?;
        let name = held.dn.pretty();
        self.report_conflict(&NewConflict {
            kind: ConflictKind::NameTaken,
            uuid: self.uuid_of(&held).unwrap_or_default(),
            dn: name,
            winner,
            loser: self.number_of(&held),
            values: Some(&held),
        })?;
        let text = format!("{name}: the entry gives its name to one with a greater number");
        self.report.warnings.push(text);
        self.drop_entry(id, self.number_of(&held))
    }

    /// Reports that one of two states of an entry loses that were made without the other.
    fn report_overwritten(
        &mut self,
        given: &ContentEntry,
        (held, has): (&Entry, EntryNumbers),
        (incoming, numbers): (&Entry, EntryNumbers),
    ) -> ContentResult {
        let wins = numbers.values > has.values;
        let is_conflict = match wins {
            true => self.is_unknown_to_provider(has.values, numbers.values),
            false => {
                numbers.values < has.values
                    && self.is_news(numbers.values)
                    && numbers.values.map(|csn| csn.server()) != has.values.map(|csn| csn.server())
            }
        };
        if !is_conflict {
            return Ok(());
        }
        let (winner, loser, values) = match wins {
            true => (numbers.values, has.values, held),
            false => (has.values, numbers.values, incoming),
        };
        self.report_conflict(&NewConflict {
            kind: ConflictKind::Overwritten,
            uuid: given.uuid,
            dn: held.dn.pretty(),
            winner,
            loser,
            values: Some(values),
        })
    }

    /// Reports a state that loses to a later deletion.
    fn report_late(
        &mut self,
        incoming: &Entry,
        given: &ContentEntry,
        numbers: EntryNumbers,
    ) -> ContentResult {
        let deletion = self.writer.tombstone(given.uuid)?.map(|known| known.ends);
        let is_same = |csn: PackedCsn| numbers.values.map(|csn| csn.server()) == Some(csn.server());
        if !self.is_news(numbers.values) || deletion.is_none_or(is_same) {
            return Ok(());
        }
        self.report_conflict(&NewConflict {
            kind: ConflictKind::DeletedOverChange,
            uuid: given.uuid,
            dn: incoming.dn.pretty(),
            winner: deletion,
            loser: numbers.values,
            values: Some(incoming),
        })
    }

    /// Reports that a deleted entry comes back by a later change.
    fn report_return(&mut self, given: &ContentEntry, merged: &Merged) -> ContentResult {
        let Some(deletion) = self.writer.tombstone(given.uuid)?.map(|known| known.ends) else {
            return Ok(());
        };
        self.report_conflict(&NewConflict {
            kind: ConflictKind::Resurrected,
            uuid: given.uuid,
            dn: merged.entry.dn.pretty(),
            winner: merged.numbers.values,
            loser: Some(deletion),
            values: None,
        })
    }

    /// Removes an entry whose states up to a number have lost.
    fn drop_entry(&mut self, id: EntryId, ends: Option<PackedCsn>) -> ContentResult {
        self.forget_uuid(id)?;
        self.remove(id, Deletion::of_loser(ends))
    }
}

/// The outcome of a contest for a name.
enum Contest {
    Lost,
    /// The name is free. The entry that had it is named; its new name waits.
    Won(Option<EntryUuid>),
}
