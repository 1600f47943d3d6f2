//! The end of the log that a store has applied: a row, in the transaction of each batch.
//!
//! The row also has the number of records in the store's own log of changes. So a change that was
//! made outside the cluster is noticed when the node begins.

use fulgurite_cluster::{Csn, Digest, Head, Position};
use fulgurite_store::{Snapshot, StoreError, View, Writer};

use crate::core::database::Database;

/// The key of the row.
const KEY: &[u8] = b"cluster/end";

/// The first byte of the row.
const VERSION: u8 = 1;

/// The row of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredEnd {
    pub(super) head: Head,
    /// The position of the newest record in the log of changes.
    pub(super) changes: u64,
}

/// Returns the row; `None` for a store that belongs to no cluster, or whose row is damaged.
pub(super) fn read<T: Snapshot>(view: &View<'_, T>) -> Result<Option<StoredEnd>, StoreError> {
    Ok(view.sync_row(KEY)?.and_then(decode))
}

/// Returns the last batch that a database has applied; `None` if it cannot be read.
#[must_use]
pub fn cluster_position(database: &Database) -> Option<Position> {
    let view = database.store.snapshot().ok()?;
    Some(read(&view).ok()??.head.position)
}

/// Writes the end of a batch, whose changes are made.
pub(super) fn write(writer: &mut Writer<'_>, head: Head) -> Result<(), StoreError> {
    let changes = writer.log_state()?.newest;
    writer.put_sync_row(KEY, &encode(&StoredEnd { head, changes }))
}

fn encode(end: &StoredEnd) -> Vec<u8> {
    let mut row = vec![VERSION];
    row.extend_from_slice(&end.head.position.0.to_le_bytes());
    row.extend_from_slice(end.head.csn.as_bytes());
    row.extend_from_slice(&end.head.digest.0);
    row.extend_from_slice(&end.changes.to_le_bytes());
    row
}

fn decode(row: &[u8]) -> Option<StoredEnd> {
    let (version, row) = row.split_first()?;
    let (position, row) = row.split_first_chunk::<8>()?;
    let (csn, row) = row.split_first_chunk::<{ Csn::LEN }>()?;
    let (digest, row) = row.split_first_chunk::<32>()?;
    let end = StoredEnd {
        head: Head {
            position: Position(u64::from_le_bytes(*position)),
            csn: Csn::from_bytes(*csn)?,
            digest: Digest(*digest),
        },
        changes: u64::from_le_bytes(row.try_into().ok()?),
    };
    (*version == VERSION).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_back() {
        let mut csn = [0; Csn::LEN];
        csn[3] = 0x42;
        let end = StoredEnd {
            head: Head {
                position: Position(7),
                csn: Csn::from_bytes(csn).expect("decimal digits"),
                digest: Digest([9; 32]),
            },
            changes: 12,
        };
        let row = encode(&end);
        assert_eq!(decode(&row), Some(end));
        for len in 0..row.len() {
            assert_eq!(decode(&row[..len]), None);
        }
        assert_eq!(decode(&[&row[..], &[0]].concat()), None);
    }
}
