//! Writing the rows of an attribute, and changing one value among many.

use super::block::{Block, BlockList};
use super::key;
use crate::bytes::u32_at;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use fulgurite::{Database, Snapshot, WriteTxn};

/// Receives rows with their keys.
pub(crate) type RowSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError> + 'a;

/// Gives all rows of an attribute to `sink`, ascending. `values` come with their hashes.
pub(crate) fn rows<'v>(
    entry: EntryId,
    attribute: AttributeId,
    values: impl Iterator<Item = (u64, &'v [u8])>,
    sink: &mut RowSink<'_>,
) -> Result<(), StoreError> {
    let mut holders: Vec<(u64, u32)> = Vec::new();
    let (mut list, mut number) = (BlockList::default(), 0_u32);
    let mut write = |number, list: &BlockList<'_>| {
        sink(&key::of_block(entry, attribute, number), &list.encode()?)
    };
    for (hash, value) in values {
        if !list.has_room(value) {
            write(number, &list)?;
            list = BlockList::default();
            number = number.checked_add(1).ok_or(StoreError::EntryTooLarge)?;
        }
        list.push(hash, value);
        holders.push((hash, number));
    }
    if !list.is_empty() {
        write(number, &list)?;
    }
    holders.sort_unstable();
    holders.dedup();
    for same in holders.chunk_by(|a, b| a.0 == b.0) {
        let Some((hash, _)) = same.first() else {
            continue;
        };
        let numbers: Vec<u8> = same.iter().flat_map(|(_, n)| n.to_le_bytes()).collect();
        sink(&key::of_hash(entry, attribute, *hash), &numbers)?;
    }
    Ok(())
}

/// Replaces all rows of an attribute.
pub(crate) fn rewrite<'v>(
    txn: &mut WriteTxn<'_>,
    db: Database,
    entry: EntryId,
    attribute: AttributeId,
    values: impl Iterator<Item = (u64, &'v [u8])>,
) -> Result<(), StoreError> {
    clear(txn, db, entry, attribute)?;
    rows(entry, attribute, values, &mut |key, row| {
        Ok(txn.put(db, key, row)?)
    })
}

/// Whether the attribute holds a value of this hash that `is` the one.
pub(crate) fn holds(
    txn: &impl Snapshot,
    db: Database,
    (entry, attribute): (EntryId, AttributeId),
    hash: u64,
    is: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<bool, StoreError> {
    for number in holders(txn, db, entry, attribute, hash)? {
        let row = txn.get(db, &key::of_block(entry, attribute, number))?;
        let block = row.and_then(Block::parse).ok_or(Damage::Values)?;
        let half = super::block::half(hash);
        if block.iter().any(|(held, value)| held == half && is(value)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds a value that is not there, behind the others.
pub(crate) fn add(
    txn: &mut WriteTxn<'_>,
    db: Database,
    entry: EntryId,
    attribute: AttributeId,
    (hash, value): (u64, &[u8]),
) -> Result<(), StoreError> {
    let (mut number, row) = last_block(txn, db, entry, attribute)?;
    let mut list = match row {
        Some(row) => BlockList::parse(row)?,
        None => BlockList::default(),
    };
    if !list.has_room(value) {
        number = number.checked_add(1).ok_or(StoreError::EntryTooLarge)?;
        list = BlockList::default();
    }
    list.push(hash, value);
    let row = list.encode()?;
    txn.put(db, &key::of_block(entry, attribute, number), &row)?;
    let mut numbers = holders(txn, db, entry, attribute, hash)?;
    if !numbers.contains(&number) {
        numbers.push(number);
        put_holders(txn, db, &key::of_hash(entry, attribute, hash), &numbers)?;
    }
    Ok(())
}

/// Takes out the value of this hash that `is` the one; `None` if there is none. Besides the value, whether no other of
/// the attribute has its hash.
pub(crate) fn remove(
    txn: &mut WriteTxn<'_>,
    db: Database,
    (entry, attribute): (EntryId, AttributeId),
    hash: u64,
    is: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<Option<(Vec<u8>, bool)>, StoreError> {
    let mut numbers = holders(txn, db, entry, attribute, hash)?;
    for (at, number) in numbers.clone().into_iter().enumerate() {
        let block_key = key::of_block(entry, attribute, number);
        let row = txn.get(db, &block_key)?.ok_or(Damage::Values)?;
        let mut list = BlockList::parse(row)?;
        let Some(position) = list.find(hash, is) else {
            continue;
        };
        let value = list.remove(position).to_vec();
        if list.count(hash) == 0 {
            numbers.remove(at);
        }
        let row = (!list.is_empty()).then(|| list.encode()).transpose()?;
        match row {
            Some(row) => txn.put(db, &block_key, &row)?,
            None => drop(txn.delete(db, &block_key)?),
        }
        put_holders(txn, db, &key::of_hash(entry, attribute, hash), &numbers)?;
        return Ok(Some((value, numbers.is_empty())));
    }
    Ok(None)
}

/// Deletes all rows of an attribute.
pub(crate) fn clear(
    txn: &mut WriteTxn<'_>,
    db: Database,
    entry: EntryId,
    attribute: AttributeId,
) -> Result<(), StoreError> {
    clear_prefix(txn, db, &key::prefix(entry, attribute))
}

/// Deletes all rows of an entry.
pub(crate) fn clear_entry(
    txn: &mut WriteTxn<'_>,
    db: Database,
    entry: EntryId,
) -> Result<(), StoreError> {
    clear_prefix(txn, db, &entry.key())
}

fn clear_prefix(txn: &mut WriteTxn<'_>, db: Database, prefix: &[u8]) -> Result<(), StoreError> {
    // Keys are collected some at a time, so that memory stays bounded.
    const KEYS_AT_ONCE: usize = 1000;
    loop {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let mut cursor = txn.cursor(db)?;
        let mut row = cursor.seek_range(prefix)?;
        while let Some((key, _)) = row.filter(|(key, _)| key.starts_with(prefix)) {
            keys.push(key.to_vec());
            if keys.len() == KEYS_AT_ONCE {
                break;
            }
            row = cursor.next()?;
        }
        drop(cursor);
        if keys.is_empty() {
            return Ok(());
        }
        for key in keys {
            txn.delete(db, &key)?;
        }
    }
}

fn last_block(
    txn: &impl Snapshot,
    db: Database,
    entry: EntryId,
    attribute: AttributeId,
) -> Result<(u32, Option<&[u8]>), StoreError> {
    let mut cursor = txn.cursor(db)?;
    let last = match cursor.seek_range(&key::end_of_blocks(entry, attribute))? {
        Some(_) => cursor.prev()?,
        None => cursor.last()?,
    };
    let found = last.and_then(|(key, row)| Some((key::parse_key(key)?, row)));
    Ok(match found {
        Some(((of, within, key::Row::Block(number)), row))
            if (of, within) == (entry, attribute) =>
        {
            (number, Some(row))
        }
        _ => (0, None),
    })
}

fn holders(
    txn: &impl Snapshot,
    db: Database,
    entry: EntryId,
    attribute: AttributeId,
    hash: u64,
) -> Result<Vec<u32>, StoreError> {
    let row = txn.get(db, &key::of_hash(entry, attribute, hash))?;
    let row = row.unwrap_or_default();
    Ok((0..row.len() / 4)
        .filter_map(|n| u32_at(row, n * 4))
        .collect())
}

fn put_holders(
    txn: &mut WriteTxn<'_>,
    db: Database,
    key: &[u8],
    numbers: &[u32],
) -> Result<(), StoreError> {
    if numbers.is_empty() {
        txn.delete(db, key)?;
    } else {
        let row: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        txn.put(db, key, &row)?;
    }
    Ok(())
}
