//! The keys of the tables of the log.

use super::csn::PackedCsn;

/// Returns the key of a change or a deletion by its number.
pub(crate) fn csn_key(csn: PackedCsn) -> [u8; 2 + PackedCsn::LEN] {
    let mut key = [0; 2 + PackedCsn::LEN];
    let (server, number) = key.split_at_mut(2);
    server.copy_from_slice(&csn.server().to_be_bytes());
    number.copy_from_slice(csn.as_bytes());
    key
}

/// The first byte of the keys of tombstones by entryUUID.
pub(crate) const BY_UUID: u8 = 0;
/// The first byte of the keys of tombstones by CSN.
pub(crate) const BY_CSN: u8 = 1;

pub(crate) fn uuid_key(uuid: [u8; 16]) -> [u8; 17] {
    let mut key = [BY_UUID; 17];
    key[1..].copy_from_slice(&uuid);
    key
}

pub(crate) fn tombstone_key(csn: PackedCsn) -> [u8; 3 + PackedCsn::LEN] {
    let mut key = [BY_CSN; 3 + PackedCsn::LEN];
    key[1..].copy_from_slice(&csn_key(csn));
    key
}
