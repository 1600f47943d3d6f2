//! The rows of entries that wait for a name.

use std::collections::BTreeMap;

use fulgurite_ldap::control::EntryUuid;
use fulgurite_store::{PackedCsn, Snapshot, StoreError, View};

use super::numbers::EntryNumbers;

/// The prefix of the rows.
const PREFIX: &[u8] = b"waiting/";

/// The waiting entries.
pub(super) type WaitingEntries = BTreeMap<EntryUuid, WaitingEntry>;

/// A waiting entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingEntry {
    pub(super) numbers: EntryNumbers,
    /// The consumer that got it. Its settings decide about the entry.
    pub(super) rid: u16,
}

pub(super) fn key(uuid: &EntryUuid) -> Vec<u8> {
    [PREFIX, uuid].concat()
}

/// Returns the entries of a database that wait.
pub(super) fn waiting<T: Snapshot>(view: &View<'_, T>) -> Result<WaitingEntries, StoreError> {
    let mut found = WaitingEntries::new();
    view.sync_rows(PREFIX, &mut |key, value| {
        let uuid = key.get(PREFIX.len()..).and_then(|key| key.try_into().ok());
        let entry = split(value).and_then(|(numbers, row)| {
            let rid = rid_of(row)?;
            Some(WaitingEntry { numbers, rid })
        });
        found.extend(uuid.zip(entry));
        true
    })?;
    Ok(found)
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
