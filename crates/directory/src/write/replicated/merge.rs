//! The state of an entry where clients update the copy, too: several providers of each other.
//!
//! An entry has registers: each attribute or value, its RDN, and its place in the tree. The greater
//! number wins in [each](super::join). A change by a client numbers what it sets. The merge itself
//! only moves entries. It numbers the place alone, so that no client's change is lost.
//!
//! A deletion makes a server forget all of them. So a server that keeps an entry against a deletion
//! announces it. While an entry waits for its name, or is gone, the state may pass changes of it.
//! When these come, the entry is announced, too. A record with a new number of this server brings
//! it to all others. The number is a register, so servers that lack nothing pass it on.
//!
//! A provider that is no server of this program tells whole entries. There the greater entryCSN
//! decides about the whole entry, as it does there, and the outcome is announced.
//!
//! A name that another entry has makes the newcomer [wait](super::waiting): the other entry may
//! move in the same refresh. If the name is still taken when the state covers the newcomer, the
//! entry with the lower number leaves.

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{CsnVector, EntryId, PackedCsn};

use super::applier::Applier;
use super::bind_values::BindValues;
use super::conflict::{ConflictKind, NewConflict};
use super::error::ContentResult;
use super::join::{EntrySide, have_equal_values, order_like, show_name};
use super::numbers::{Deletion, EntryNumbers};
use super::stamps::{EntryStamps, put_stamps, stamps_of};

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
    stamps: EntryStamps,
    /// True if the newest change is the provider's.
    takes_newest: bool,
    takes_place: bool,
    /// Numbers of all that is new here.
    news: Vec<PackedCsn>,
    /// True if others may lack what this server has.
    announces: bool,
    /// Times of binds that both sides have added to.
    binds: BindValues,
    /// True if it cannot go where the provider has it.
    is_misplaced: bool,
}

impl Applier<'_, '_> {
    /// Merges the state of an entry.
    pub(super) fn merge_state(&mut self, given: &ContentEntry, taken: TakenName) -> ContentResult {
        self.note_form(given.stamps.is_none())?;
        self.merge_form(given, taken)
    }

    /// Merges a new entry that a log tells. It says nothing about the form of other states.
    pub(super) fn merge_told(&mut self, given: &ContentEntry) -> ContentResult {
        self.merge_form(given, TakenName::Waits)
    }

    fn merge_form(&mut self, given: &ContentEntry, taken: TakenName) -> ContentResult {
        let Some(given) = self.with_waiting(given)? else {
            return Ok(());
        };
        let given = &*given;
        let incoming = self.admitted(self.incoming(given)?)?;
        let numbers = self.numbers_of(given, &incoming);
        let found = self.entry_of(&given.uuid)?;
        if let Some(id) = found {
            self.content.named.insert(id);
        }
        let parent = given.place.as_ref().map(|place| place.above);
        let parent_waits = match parent {
            Some(above) => self.waiting_entry(&above)?.is_some(),
            None => false,
        };
        let merged = match found {
            Some(id) => self.merged(id, given, incoming, numbers)?,
            None if self.was_deleted(&given.uuid, &incoming)? => {
                self.report_late(&incoming, given, numbers)?;
                None
            }
            None => Some(self.newcomer(given, incoming, numbers)?),
        };
        let Some(mut merged) = merged else {
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
            Some(holder) => match self.contend(holder, given, &mut merged)? {
                Contest::Lost => return self.release(&given.uuid),
                Contest::Won(freed) => freed,
            },
            None => None,
        };
        if merged.id.is_none() {
            self.report_return(given, &merged)?;
        }
        if merged.takes_newest && self.is_ahead(merged.numbers.values) {
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
        self.freed.extend(freed);
        Ok(())
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
        let own = stamps_of(self.writer, &given.uuid, has.values)?;
        let told = self.told_stamps(given, numbers.values);
        let has_place = match told {
            Some(_) => has.place,
            None => has.place.max(has.values),
        };
        let takes_place = numbers.place > has_place;
        let held_side = EntrySide {
            entry: &held,
            csn: has.values,
            stamps: &own,
        };
        let told_side = (&incoming, numbers.values);
        let decided = self.decide(held_side, told_side, told.as_ref())?;
        let mut joined = decided.joined;
        let announces = decided.announces || joined.keeps_forgotten(numbers.place < has.place);
        let above = match takes_place {
            true => self.placed(given, &incoming.dn)?.parent(),
            false => held.dn.parent(),
        };
        let leaf = match joined.takes_leaf {
            true => incoming.dn.leaf(),
            false => held.dn.leaf(),
        };
        let name = |above: Option<Dn>| match (above, &leaf) {
            (Some(above), Some(leaf)) => Some(above.child(leaf)),
            (_, leaf) => leaf.clone(),
        };
        let mut entry = joined.entry;
        if let Some(dn) = name(above) {
            entry.dn = dn;
        }
        let is_misplaced = entry.dn.is_under(&held.dn);
        if is_misplaced && let Some(dn) = name(held.dn.parent()) {
            entry.dn = dn;
        }
        show_name(&self.core.schema, &mut entry, &mut joined.stamps);
        let takes_newest = numbers.values > has.values;
        order_like(&mut entry, if takes_newest { &incoming } else { &held });
        self.report_changes(
            &given.uuid,
            (&held, has.values),
            (&incoming, numbers.values),
            &entry,
        )?;
        let told_again = told.and_then(|told| told.announced);
        if told_again > own.announced {
            joined.stamps.announced = told_again;
            joined.news.extend(told_again);
        }
        let outlives_more = joined.stamps.deleted > own.deleted;
        let is_new = !joined.news.is_empty() || takes_place || outlives_more;
        if !is_new && !decided.announces {
            return Ok(None);
        }
        let binds = match takes_newest {
            true => self.keep_bind_state(id, &mut entry, &held)?,
            false => Vec::new(),
        };
        joined.news.extend(numbers.place.filter(|_| takes_place));
        Ok(Some(Merged {
            id: Some(id),
            entry,
            numbers: EntryNumbers {
                values: numbers.values.max(has.values),
                place: numbers.place.max(has.place),
            },
            announces,
            stamps: joined.stamps,
            takes_newest,
            takes_place,
            news: joined.news,
            binds,
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
        let told = self.told_stamps(given, numbers.values);
        let mut stamps = told.unwrap_or_else(|| EntryStamps::whole(numbers.values));
        let outlives = self.writer.tombstone(given.uuid)?.map(|known| known.ends);
        let announces = outlives > stamps.deleted;
        stamps.deleted = stamps.deleted.max(outlives);
        let mut news = stamps.numbers();
        news.extend(numbers.place);
        Ok(Merged {
            id: None,
            entry,
            numbers,
            stamps,
            takes_newest: true,
            takes_place: true,
            news,
            announces,
            binds: Vec::new(),
            is_misplaced: false,
        })
    }

    /// Lets an entry contend with the one that has its name. A holder whose own new name waits
    /// frees this one, and is returned.
    fn contend(
        &mut self,
        holder: EntryId,
        given: &ContentEntry,
        merged: &mut Merged,
    ) -> ContentResult<Contest> {
        let mut held = self.copy_of(holder)?;
        let uuid = self.uuid_of(&held);
        if let Some(uuid) = uuid
            && let Some(waiting) = self.waiting_row(&uuid)?
        {
            if self.gets_name(&uuid, &held, &waiting)? {
                self.set_aside_without_name(holder)?;
                return Ok(Contest::Won(Some(uuid)));
            }
            // It may keep its RDN, so it must not lose that for a moment.
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
            // An access log names the loser, so who follows it deletes what has the name there.
            merged.announces |= self.database.audit_context.is_some();
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
    fn put_merged(&mut self, given: &ContentEntry, mut merged: Merged) -> ContentResult {
        let takes_place = merged.takes_place;
        let mut open = self.unknown_numbers(&merged.news);
        // While the entry waited or was gone, the state may have passed changes of it. Consumers
        // that know that state would never look for them.
        let has_passed = merged.news.iter().any(|csn| self.vector.covers(*csn));
        let announces = merged.announces || has_passed;
        if announces {
            merged.stamps.announced = self.own_number(merged.stamps.announced);
        }
        let number = match announces {
            true => merged.stamps.announced,
            false => open.iter().max().copied(),
        };
        let (id, logged) = match merged.id {
            None => match self.add(merged.entry)? {
                Some(id) => (id, merged.numbers.values),
                None => return Ok(()),
            },
            Some(id) => {
                let held = self.copy_of(id)?;
                if merged.entry.dn.normal() != held.dn.normal() {
                    self.rename_as(id, merged.entry, number)?;
                } else {
                    let is_logged = number.is_some() || announces;
                    self.change_values(id, &held, merged.entry, (number, is_logged))?;
                }
                (id, number)
            }
        };
        self.put_bind_values(id, &merged.binds)?;
        self.known.insert(given.uuid, Some(id));
        self.content.named.insert(id);
        self.put_place(&given.uuid, merged.numbers.place, merged.stamps.base)?;
        put_stamps(self.writer, &given.uuid, &merged.stamps)?;
        let is_moved = match given.place.as_ref().filter(|_| takes_place) {
            Some(place) => merged.is_misplaced || self.above(id)? != Some(place.above),
            None => false,
        };
        if announces && !is_moved && merged.id.is_none() {
            let entry = self.copy_of(id)?;
            self.log_place(id, &entry, number)?;
        }
        // Consumers that know one of the numbers may lack another.
        open.retain(|csn| !announces && Some(*csn) != logged);
        for csn in open {
            let entry = self.copy_of(id)?;
            self.log_place(id, &entry, Some(csn))?;
        }
        match is_moved {
            true => self.renumber_place(id),
            false => Ok(()),
        }
    }

    /// Returns the greatest number of each server that the state here does not cover.
    fn unknown_numbers(&self, news: &[PackedCsn]) -> Vec<PackedCsn> {
        let unknown = news.iter().copied();
        let unknown = unknown.filter(|csn| !self.vector.covers(*csn) && !self.is_impossible(*csn));
        unknown.collect::<CsnVector>().iter().collect()
    }

    /// Stores other values of an entry under its name, perhaps in another spelling.
    pub(super) fn change_values(
        &mut self,
        id: EntryId,
        held: &Entry,
        entry: Entry,
        (number, is_logged): (Option<PackedCsn>, bool),
    ) -> ContentResult {
        let is_respelled = entry.dn.pretty() != held.dn.pretty();
        let checked = self.checked(entry)?;
        let parent = self.writer.parent(id)?;
        match parent {
            Some(parent) if is_respelled => self.writer.rename(id, parent, &checked)?,
            _ if have_equal_values(checked.entry(), held) => {
                return match is_logged {
                    true => self.log_place(id, held, number),
                    false => Ok(()),
                };
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
    fn drop_loser(&mut self, id: EntryId, winner: Option<PackedCsn>) -> ContentResult {
        let ends = self.report_loser(id, winner)?;
        self.drop_entry(id, ends)
    }

    /// Reports the holder of a name that another entry gets. Returns its number.
    pub(super) fn report_loser(
        &mut self,
        id: EntryId,
        winner: Option<PackedCsn>,
    ) -> ContentResult<Option<PackedCsn>> {
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
        Ok(self.number_of(&held))
    }

    /// Reports two states of an entry that were made without each other.
    pub(super) fn report_changes(
        &mut self,
        uuid: &EntryUuid,
        (held, has): (&Entry, Option<PackedCsn>),
        (incoming, told): (&Entry, Option<PackedCsn>),
        merged: &Entry,
    ) -> ContentResult {
        let wins = told > has;
        let is_conflict = match wins {
            true => self.is_unknown_to_provider(has, told),
            false => {
                told < has
                    && self.is_news(told)
                    && told.map(|csn| csn.server()) != has.map(|csn| csn.server())
            }
        };
        if !is_conflict {
            return Ok(());
        }
        let (newest, older, winner, loser) = match wins {
            true => (incoming, held, told, has),
            false => (held, incoming, has, told),
        };
        let has_lost = have_equal_values(merged, newest) && merged.dn.leaf() == newest.dn.leaf();
        self.report_conflict(&NewConflict {
            kind: match has_lost {
                true => ConflictKind::Overwritten,
                false => ConflictKind::Merged,
            },
            uuid: *uuid,
            dn: held.dn.pretty(),
            winner,
            loser,
            values: Some(older),
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
