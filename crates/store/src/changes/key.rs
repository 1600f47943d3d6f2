//! The keys of the tables of the log.

use super::csn::PackedCsn;

/// The bit of a tombstone's position that tells of a number behind the time.
pub(crate) const HAS_END: u64 = 1 << 63;

/// Returns the beginning of the keys of changes or deletions with a number.
pub(crate) fn csn_key(csn: PackedCsn) -> [u8; 2 + PackedCsn::LEN] {
    let mut key = [0; 2 + PackedCsn::LEN];
    let (server, number) = key.split_at_mut(2);
    server.copy_from_slice(&csn.server().to_be_bytes());
    number.copy_from_slice(csn.as_bytes());
    key
}

/// Returns the key of a change by its number. Several changes may have the same.
pub(crate) fn change_key(csn: PackedCsn, position: u64) -> [u8; 10 + PackedCsn::LEN] {
    let mut key = [0; 10 + PackedCsn::LEN];
    let (number, place) = key.split_at_mut(2 + PackedCsn::LEN);
    number.copy_from_slice(&csn_key(csn));
    place.copy_from_slice(&position.to_be_bytes());
    key
}

/// Returns the number and the position in such a key.
pub(crate) fn change_of_key(key: &[u8]) -> Option<(PackedCsn, u64)> {
    let (server, rest) = key.split_at_checked(2)?;
    let (number, position) = rest.split_at_checked(PackedCsn::LEN)?;
    let position = u64::from_be_bytes(position.try_into().ok()?);
    let csn = PackedCsn::from_bytes(number)?;
    (server == csn.server().to_be_bytes()).then_some((csn, position))
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

pub(crate) fn tombstone_key(csn: PackedCsn, uuid: [u8; 16]) -> [u8; 19 + PackedCsn::LEN] {
    let mut key = [BY_CSN; 19 + PackedCsn::LEN];
    key[1..3 + PackedCsn::LEN].copy_from_slice(&csn_key(csn));
    key[3 + PackedCsn::LEN..].copy_from_slice(&uuid);
    key
}

/// Returns the number and the entry in such a key.
pub(crate) fn tombstone_of_key(key: &[u8]) -> Option<(PackedCsn, [u8; 16])> {
    let (number, uuid) = key.get(3..)?.split_at_checked(PackedCsn::LEN)?;
    Some((PackedCsn::from_bytes(number)?, uuid.try_into().ok()?))
}
