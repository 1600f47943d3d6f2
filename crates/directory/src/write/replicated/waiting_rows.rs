//! The rows of entries that wait for a name.
//!
//! Nothing bounds their number: thousands of entries may swap their names in one refresh. So memory
//! has a summary of the rows, and a part of those that are due.

use std::collections::{BTreeMap, BinaryHeap};

use fulgurite_ldap::control::EntryUuid;
use fulgurite_store::{CsnVector, PackedCsn, Snapshot, StoreError, View};

use super::numbers::EntryNumbers;

/// The prefix of the rows.
const PREFIX: &[u8] = b"waiting/";

/// The waiting entries, in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WaitingSummary {
    /// True if an entry may wait.
    pub(super) has_any: bool,
    /// The least number of each server, of one consumer.
    least: BTreeMap<u16, PackedCsn>,
    /// True if an entry of that consumer has no number.
    has_unnumbered: bool,
}

/// A waiting entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingEntry {
    pub(super) numbers: EntryNumbers,
    /// The consumer that got it. Its settings decide about the entry.
    pub(super) rid: u16,
}

impl WaitingSummary {
    /// Returns the summary of the rows of a database, with the numbers of one consumer.
    pub(super) fn read<T: Snapshot>(view: &View<'_, T>, rid: u16) -> Result<Self, StoreError> {
        let mut summary = WaitingSummary::default();
        view.sync_rows(PREFIX, &mut |_, value| {
            summary.has_any = true;
            if let Some(entry) = entry_of(value).filter(|entry| entry.rid == rid) {
                summary.add(entry.numbers);
            }
            true
        })?;
        Ok(summary)
    }

    /// Adds an entry of the consumer.
    pub(super) fn add(&mut self, numbers: EntryNumbers) {
        self.has_any = true;
        let Some(csn) = numbers.values else {
            self.has_unnumbered = true;
            return;
        };
        let least = self.least.entry(csn.server()).or_insert(csn);
        *least = csn.min(*least);
    }

    /// Returns true if a state may cover an entry of the consumer.
    pub(super) fn has_due(&self, state: &CsnVector) -> bool {
        self.has_unnumbered || self.least.values().any(|csn| state.covers(*csn))
    }
}

pub(super) fn key(uuid: &EntryUuid) -> Vec<u8> {
    [PREFIX, uuid].concat()
}

/// Returns true if an entry of a database waits.
pub(super) fn has_waiting<T: Snapshot>(view: &View<'_, T>) -> Result<bool, StoreError> {
    let mut has_any = false;
    view.sync_rows(PREFIX, &mut |_, _| {
        has_any = true;
        false
    })?;
    Ok(has_any)
}

/// Returns entries of a consumer that a state covers: `count_max` at most, those with the least
/// numbers. They ascend.
pub(super) fn due<T: Snapshot>(
    view: &View<'_, T>,
    (rid, state): (u16, &CsnVector),
    count_max: usize,
) -> Result<Vec<EntryUuid>, StoreError> {
    let mut due: BinaryHeap<(EntryNumbers, EntryUuid)> = BinaryHeap::new();
    view.sync_rows(PREFIX, &mut |key, value| {
        let uuid = key.get(PREFIX.len()..).and_then(|key| key.try_into().ok());
        let entry = entry_of(value).filter(|entry| {
            let csn = entry.numbers.values;
            entry.rid == rid && csn.is_none_or(|csn| state.covers(csn))
        });
        if let Some((uuid, entry)) = uuid.zip(entry) {
            due.push((entry.numbers, uuid));
            if due.len() > count_max {
                due.pop();
            }
        }
        true
    })?;
    let due = due.into_sorted_vec().into_iter();
    Ok(due.map(|(_, uuid)| uuid).collect())
}

/// Returns the facts of a row.
pub(super) fn entry_of(row: &[u8]) -> Option<WaitingEntry> {
    let (numbers, entry) = split(row)?;
    let rid = rid_of(entry)?;
    Some(WaitingEntry { numbers, rid })
}

/// Splits a row into the numbers and the entry.
pub(super) fn split(row: &[u8]) -> Option<(EntryNumbers, &[u8])> {
    let (values, rest) = row.split_at_checked(PackedCsn::LEN)?;
    let (place, rest) = rest.split_at_checked(PackedCsn::LEN)?;
    let numbers = EntryNumbers {
        values: PackedCsn::from_bytes(values),
        place: PackedCsn::from_bytes(place),
    };
    Some((numbers, rest))
}

/// Returns the consumer of a row without its numbers, which is one of the quarantine.
pub(super) fn rid_of(row: &[u8]) -> Option<u16> {
    let (_, rest) = row.split_first()?;
    rest.first_chunk().copied().map(u16::from_le_bytes)
}
