//! The rows of entries that could not be stored, without their content.

use fulgurite_ldap::control::EntryUuid;
use fulgurite_store::{Snapshot, StoreError, View};

use super::waiting_rows::rid_of;

/// The prefix of the rows.
pub(super) const PREFIX: &[u8] = b"quarantine/";

/// The size of a quarantine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuarantineSize {
    pub(crate) rows: usize,
    pub(super) bytes: u64,
}

impl QuarantineSize {
    pub(crate) fn read<T: Snapshot>(view: &View<'_, T>) -> Result<Self, StoreError> {
        let mut size = QuarantineSize::default();
        view.sync_rows(PREFIX, &mut |_, row| {
            size.rows += 1;
            size.bytes += row.len() as u64;
            true
        })?;
        Ok(size)
    }
}

pub(super) fn key(uuid: &EntryUuid) -> Vec<u8> {
    [PREFIX, uuid].concat()
}

/// Returns the entry of a key.
pub(super) fn uuid_of(key: &[u8]) -> Option<EntryUuid> {
    key.get(PREFIX.len()..)?.try_into().ok()
}

/// Returns the entries of a consumer in the quarantine.
pub(crate) fn quarantined_by<T: Snapshot>(
    view: &View<'_, T>,
    rid: u16,
) -> Result<Vec<EntryUuid>, StoreError> {
    let mut found = Vec::new();
    view.sync_rows(PREFIX, &mut |key, value| {
        found.extend(uuid_of(key).filter(|_| rid_of(value) == Some(rid)));
        true
    })?;
    Ok(found)
}
