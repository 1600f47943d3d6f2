//! Entries that leave the content.

use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::Entry;
use fulgurite_store::{CsnVector, EntryId, PackedCsn, compile_filter};

use super::applier::Applier;
use super::conflict::{ConflictKind, NewConflict};
use super::error::ContentResult;
use super::numbers::Deletion;
use super::stamps::{put_stamps, stamps_of};
use super::state::vector_of;
use crate::core::well_known_types::is_glue;

impl Applier<'_, '_> {
    /// Deletes the entry with a UUID, if it is here.
    pub(super) fn delete(&mut self, uuid: &EntryUuid, number: Deletion) -> ContentResult {
        let ends = number.ends;
        let waiting = self.waiting_entry(uuid)?;
        if waiting.is_some_and(|waiting| ends.is_none() || waiting.numbers.values <= ends) {
            self.stop_waiting(uuid)?;
        }
        self.release(uuid)?;
        let Some(id) = self.entry_of(uuid)? else {
            return self.log_unknown(uuid, number);
        };
        if self.content.multi_provider {
            let held = self.copy_of(id)?;
            // A change after the deletion wins.
            let wins = ends.is_some() && self.number_of(&held) > ends;
            self.report_deletion(uuid, &held, (number, wins))?;
            if wins {
                return self.outlive(id, &held, (uuid, ends));
            }
        }
        self.known.insert(*uuid, None);
        self.remove_deleted(id, number)
    }

    /// Notes that an entry has outlived a deletion. Other servers may have forgotten older changes
    /// of it, so they get it once more.
    fn outlive(
        &mut self,
        id: EntryId,
        held: &Entry,
        (uuid, ends): (&EntryUuid, Option<PackedCsn>),
    ) -> ContentResult {
        let mut stamps = stamps_of(self.writer, uuid, self.number_of(held))?;
        if stamps.deleted >= ends {
            return Ok(());
        }
        stamps.deleted = ends;
        stamps.announced = self.own_number(stamps.announced);
        put_stamps(self.writer, uuid, &stamps)?;
        self.log_place(id, held, stamps.announced)
    }

    /// Reports a deletion made without a change of the entry, whichever of both wins.
    fn report_deletion(
        &mut self,
        uuid: &EntryUuid,
        held: &Entry,
        (deletion, entry_wins): (Deletion, bool),
    ) -> ContentResult {
        let change = self.number_of(held);
        let is_by_other = change.map(|csn| csn.server()) != deletion.ends.map(|csn| csn.server());
        // A deletion that ends older states only is the end of a contest for a name.
        let is_usual = deletion.csn == deletion.ends && is_by_other;
        let (kind, winner, loser, values) = match entry_wins {
            true => (ConflictKind::Resurrected, change, deletion.ends, None),
            false => {
                let kind = ConflictKind::DeletedOverChange;
                (kind, deletion.ends, change, Some(held))
            }
        };
        let is_conflict = match entry_wins {
            true => self.is_news(deletion.csn),
            false => self.is_unknown_to_provider(change, deletion.ends),
        };
        if !is_usual || !is_conflict {
            return Ok(());
        }
        self.report_conflict(&NewConflict {
            kind,
            uuid: *uuid,
            dn: held.dn.pretty(),
            winner,
            loser,
            values,
        })
    }

    /// Removes an entry that the provider has deleted.
    ///
    /// A provider deletes leaves. Children that are still here moved away before, and come later
    /// in a refresh. After that they have left the content with their parent, which slapd does not
    /// tell.
    fn remove_deleted(&mut self, id: EntryId, csn: Deletion) -> ContentResult {
        let left_together = self.content.is_whole && !self.content.multi_provider;
        if !left_together || !self.writer.has_children(id)? {
            return self.remove(id, csn);
        }
        if self.content.is_refreshing {
            self.content.glued.push(id);
            return self.remove(id, csn);
        }
        self.remove_below(id, csn)?;
        self.remove(id, csn)
    }

    /// Removes everything below an entry.
    fn remove_below(&mut self, top: EntryId, csn: Deletion) -> ContentResult {
        let mut below = self.writer.children(top)?;
        let mut looked_at = 0;
        while let Some(&id) = below.get(looked_at) {
            looked_at += 1;
            below.extend(self.writer.children(id)?);
        }
        // Parents come before their children in the list.
        for id in below.into_iter().rev() {
            self.forget_uuid(id)?;
            let entry = self.copy_of(id)?;
            self.log_delete(id, &entry, csn)?;
            self.writer.delete(id)?;
        }
        Ok(())
    }

    /// Notes that an entry is gone.
    pub(super) fn forget_uuid(&mut self, id: EntryId) -> ContentResult {
        let entry = self.copy_of(id)?;
        let uuid = entry.values(self.core.types.entry_uuid.attribute).first();
        let uuid = uuid.and_then(|text| uuid::Uuid::try_parse_ascii(text).ok());
        if let Some(uuid) = uuid {
            self.known.insert(uuid.into_bytes(), None);
        }
        Ok(())
    }

    /// Removes what is below glue that the refresh has made, and that no entry has replaced.
    pub(super) fn drop_below_glue(&mut self) -> ContentResult {
        for id in std::mem::take(&mut self.content.glued) {
            if self.writer.entry(id)?.is_some() && self.is_glue(id)? {
                self.remove_below(id, Deletion::default())?;
                self.remove_empty_glue(Some(id))?;
            }
        }
        Ok(())
    }

    /// Notes that an entry leaves, whatever takes its place.
    pub(super) fn leave(&mut self, id: EntryId, csn: Deletion) -> ContentResult {
        let entry = self.copy_of(id)?;
        self.log_delete(id, &entry, csn)?;
        self.content.parked.retain(|parked| *parked != id);
        match self.uuid_of(&entry) {
            Some(uuid) if self.content.multi_provider => self.forget_place(&uuid),
            _ => Ok(()),
        }
    }

    /// Removes an entry. Glue takes its place if it has children.
    pub(super) fn remove(&mut self, id: EntryId, csn: Deletion) -> ContentResult {
        self.leave(id, csn)?;
        if self.writer.has_children(id)? {
            self.turn_to_glue(id)?;
            if self.content.multi_provider {
                self.renumber_below(id)?;
            }
            return Ok(());
        }
        let parent = self.writer.parent(id)?;
        self.writer.delete(id)?;
        self.remove_empty_glue(parent)
    }

    /// Removes each entry of the content that the refresh has not named; `state` is that of the
    /// provider.
    pub(super) fn drop_unnamed(&mut self, state: &[String]) -> ContentResult {
        let state = vector_of(state);
        self.content.lacks_deletions = true;
        let mut unnamed = self.unnamed(&state)?;
        // Children come before their parents.
        unnamed.sort_unstable_by_key(|(depth, id)| (std::cmp::Reverse(*depth), *id));
        for (_, id) in unnamed {
            self.forget_uuid(id)?;
            self.remove(id, Deletion::default())?;
        }
        Ok(())
    }

    /// Returns the entries that have not been named, each with its depth.
    fn unnamed(&mut self, state: &CsnVector) -> ContentResult<Vec<(usize, EntryId)>> {
        let Some(base) = self.writer.find(&self.content.local_base)?.entry() else {
            return Ok(Vec::new());
        };
        let (schema, types) = (&self.core.schema, &self.core.types);
        let (scope, filter) = (self.content.scope, self.content.filter.clone());
        let mut candidates = self.writer.plan(base, scope, &filter)?;
        let is_exact = candidates.is_exact();
        let filter = compile_filter(&**self.writer, filter);
        let mut unnamed = Vec::new();
        while let Some(entry) = candidates.next_entry(&**self.writer)? {
            let id = entry.id();
            if self.content.named.contains(id) || is_glue(types, &entry) {
                continue;
            }
            if !is_exact && !filter.test(schema, &entry).is_true() {
                continue;
            }
            if self.content.multi_provider {
                let values = entry.plain_values(types.entry_csn.attribute);
                let csn = values.and_then(|values| values.iter().next());
                let csn = csn.and_then(PackedCsn::parse);
                // The provider does not know this change yet.
                if csn.is_some_and(|csn| !state.covers(csn)) {
                    continue;
                }
            }
            unnamed.push((self.writer.depth(id)?, id));
        }
        Ok(unnamed)
    }

    /// Removes entries that gave their name away and got no other one.
    pub(super) fn drop_parked(&mut self) -> ContentResult {
        for id in std::mem::take(&mut self.content.parked) {
            if self.writer.entry(id)?.is_some() && !self.content.named.contains(id) {
                self.remove(id, Deletion::default())?;
            }
        }
        Ok(())
    }
}
