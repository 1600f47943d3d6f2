//! Entries whose name another entry has: one row for each, until the state covers it.
//!
//! The other entry may move later in the same refresh. So nothing is decided before the state of
//! the copy covers the newcomer.

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_store::CsnVector;

use super::applier::Applier;
use super::error::{ContentError, ContentResult};
use super::merge::TakenName;
use super::numbers::EntryNumbers;
use super::quarantine::{decode, encode};
use super::waiting_rows::{WaitingEntry, WaitingSummary, due, entry_of, key, split};

/// Entries that are decided between two looks at the rows. Memory has their numbers.
const DUE_MAX: usize = 10_000;

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
        self.waiting.add(numbers);
        Ok(())
    }

    /// Returns an entry, if it waits.
    pub(super) fn waiting_entry(&self, uuid: &EntryUuid) -> ContentResult<Option<WaitingEntry>> {
        if !self.waiting.has_any {
            return Ok(None);
        }
        Ok(self.writer.sync_row(&key(uuid))?.and_then(entry_of))
    }

    pub(super) fn stop_waiting(&mut self, uuid: &EntryUuid) -> ContentResult {
        match self.waiting.has_any {
            true => Ok(self.writer.delete_sync_row(&key(uuid))?),
            false => Ok(()),
        }
    }

    /// Decides about all entries of this consumer that a state covers.
    pub(super) fn settle(&mut self, state: &CsnVector) -> ContentResult {
        if !self.waiting.has_due(state) {
            return Ok(());
        }
        let rid = self.content.rid;
        let mut due_now = due(self.writer, (rid, state), DUE_MAX)?;
        if due_now.len() == DUE_MAX {
            let text = format!("{DUE_MAX} entries or more wait for names that others have");
            self.report.warnings.push(text);
        }
        while !due_now.is_empty() {
            // Each of them loses its row, so the next look finds others.
            for uuid in &due_now {
                self.settle_one(uuid)?;
            }
            due_now = match due_now.len() {
                DUE_MAX => due(self.writer, (rid, state), DUE_MAX)?,
                _ => Vec::new(),
            };
        }
        self.waiting = WaitingSummary::read(self.writer, rid)?;
        Ok(())
    }

    /// Returns the state of an entry that waits.
    pub(super) fn waiting_row(&self, uuid: &EntryUuid) -> ContentResult<Option<ContentEntry>> {
        if !self.waiting.has_any {
            return Ok(None);
        }
        let row = self.writer.sync_row(&key(uuid))?;
        let row = row.and_then(|row| decode(*uuid, split(row)?.1));
        Ok(row.map(|row| row.entry))
    }

    /// Decides about an entry, if it waits, and about those that it lets go.
    pub(super) fn settle_one(&mut self, uuid: &EntryUuid) -> ContentResult {
        let outer = std::mem::take(&mut self.freed);
        let mut next = Some(*uuid);
        while let Some(uuid) = next {
            self.decide_waiting(&uuid)?;
            next = self.freed.pop();
        }
        self.freed = outer;
        Ok(())
    }

    fn decide_waiting(&mut self, uuid: &EntryUuid) -> ContentResult {
        let row = self.writer.sync_row(&key(uuid))?;
        let row = row.and_then(|row| decode(*uuid, split(row)?.1));
        self.stop_waiting(uuid)?;
        let Some(row) = row else {
            return Ok(());
        };
        let decided = self.attempt(|applier| applier.merge_state(&row.entry, TakenName::Decides));
        match decided {
            Err(ContentError::Refused(reason)) => self.quarantine(row.rid, &row.entry, &reason),
            done => done,
        }
    }
}
