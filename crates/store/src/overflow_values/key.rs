//! Keys of the rows.

use crate::ids::{AttributeId, EntryId};

const BLOCK_CODE: u8 = 0;
const HASH_CODE: u8 = 1;

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// The block of this number.
    Block(u32),
    /// The numbers of the blocks with values of a hash.
    Hash(u64),
}

/// Returns the beginning of the keys of all rows of an attribute.
pub(super) fn prefix(entry: EntryId, attribute: AttributeId) -> Vec<u8> {
    let mut key = Vec::with_capacity(19);
    key.extend_from_slice(&entry.key());
    key.extend_from_slice(&attribute.key());
    key
}

pub(crate) fn of_block(entry: EntryId, attribute: AttributeId, number: u32) -> Vec<u8> {
    let mut key = prefix(entry, attribute);
    key.push(BLOCK_CODE);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

pub(super) fn of_hash(entry: EntryId, attribute: AttributeId, hash: u64) -> Vec<u8> {
    let mut key = prefix(entry, attribute);
    key.push(HASH_CODE);
    key.extend_from_slice(&hash.to_be_bytes());
    key
}

/// Returns the first key behind the last block.
pub(super) fn end_of_blocks(entry: EntryId, attribute: AttributeId) -> Vec<u8> {
    let mut key = prefix(entry, attribute);
    key.push(HASH_CODE);
    key
}

/// Splits a key into its parts.
pub(crate) fn parse_key(key: &[u8]) -> Option<(EntryId, AttributeId, RowKind)> {
    let (entry, rest) = key.split_at_checked(8)?;
    let (attribute, rest) = rest.split_at_checked(2)?;
    let (kind, number) = rest.split_first()?;
    let row = match *kind {
        BLOCK_CODE => RowKind::Block(u32::from_be_bytes(number.try_into().ok()?)),
        HASH_CODE => RowKind::Hash(u64::from_be_bytes(number.try_into().ok()?)),
        _ => return None,
    };
    Some((
        EntryId::from_key(entry)?,
        AttributeId::from_key(attribute)?,
        row,
    ))
}
