//! Entries whose name another entry has: one row for each, until the state covers it.
//!
//! The other entry may move later in the same refresh. So nothing is decided before the state of
//! the copy covers the newcomer.

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_store::{CsnVector, PackedCsn};

use super::applier::Applier;
use super::error::{ContentError, ContentResult};
use super::merge::TakenName;
use super::numbers::EntryNumbers;
use super::quarantine::{decode, encode};
use super::waiting_rows::{WaitingEntry, key, split};

impl Applier<'_, '_> {
    /// Lets an entry wait.
    pub(super) fn wait(&mut self, given: &ContentEntry, numbers: EntryNumbers) -> ContentResult {
        let (Some(values), Some(place)) = (numbers.values, numbers.place) else {
            return Err(ContentError::Refused(format!(
                "{} has no number, and another entry has its name",
                given.dn
            )));
        };
        let row = encode(self.content.rid, given, "");
        let row = [values.as_bytes(), place.as_bytes(), row.as_slice()].concat();
        self.writer.put_sync_row(&key(&given.uuid), &row)?;
        let rid = self.content.rid;
        self.waiting
            .insert(given.uuid, WaitingEntry { numbers, rid });
        Ok(())
    }

    pub(super) fn stop_waiting(&mut self, uuid: &EntryUuid) -> ContentResult {
        if self.waiting.remove(uuid).is_some() {
            self.writer.delete_sync_row(&key(uuid))?;
        }
        Ok(())
    }

    /// Decides about all entries of this consumer that a state covers.
    pub(super) fn settle(&mut self, state: &CsnVector) -> ContentResult {
        let is_covered = |csn: Option<PackedCsn>| csn.is_none_or(|csn| state.covers(csn));
        let rid = self.content.rid;
        let due = self.waiting.iter().filter(|(_, entry)| entry.rid == rid);
        let due = due.filter(|(_, entry)| is_covered(entry.numbers.values));
        let mut due: Vec<_> = due.map(|(uuid, entry)| (entry.numbers, *uuid)).collect();
        due.sort_unstable();
        due.into_iter()
            .try_for_each(|(_, uuid)| self.settle_one(&uuid))
    }

    /// Returns the state of an entry that waits.
    pub(super) fn waiting_row(&self, uuid: &EntryUuid) -> ContentResult<Option<ContentEntry>> {
        if !self.waiting.contains_key(uuid) {
            return Ok(None);
        }
        let row = self.writer.sync_row(&key(uuid))?;
        let row = row.and_then(|row| decode(*uuid, split(row)?.1));
        Ok(row.map(|row| row.entry))
    }

    /// Decides about one entry, if it waits.
    pub(super) fn settle_one(&mut self, uuid: &EntryUuid) -> ContentResult {
        let row = self.writer.sync_row(&key(uuid))?;
        let row = row.and_then(|row| decode(*uuid, split(row)?.1));
        self.stop_waiting(uuid)?;
        let Some(row) = row else {
            return Ok(());
        };
        match self.merge_state(&row.entry, TakenName::Decides) {
            Err(ContentError::Refused(reason)) => self.quarantine(row.rid, &row.entry, &reason),
            done => done,
        }
    }
}
