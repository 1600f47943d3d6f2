//! Writing the rows of an attribute, and changing one value among many.

use super::block::{Block, BlockBuilder};
use super::key;
use crate::bytes::u32_at;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use fulgurite::{Database, Snapshot, WriteTxn};

/// Receives rows with their keys.
pub(crate) type RowSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError> + 'a;

/// Passes all rows of an attribute to `sink`, in ascending order. `values` come with their hashes.
pub(crate) fn each_row<'v>(
    entry: EntryId,
    attribute: AttributeId,
    values: impl Iterator<Item = (u64, &'v [u8])>,
    sink: &mut RowSink<'_>,
) -> Result<(), StoreError> {
    let mut holders: Vec<(u64, u32)> = Vec::new();
    let (mut list, mut number) = (BlockBuilder::default(), 0_u32);
    let mut write = |number, list: &BlockBuilder<'_>| {
        sink(&key::of_block(entry, attribute, number), &list.encode()?)
    };
    for (hash, value) in values {
        if !list.has_room(value) {
            write(number, &list)?;
            list = BlockBuilder::default();
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

/// The rows of one attribute of one entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRows {
    pub(crate) db: Database,
    pub(crate) entry: EntryId,
    pub(crate) attribute: AttributeId,
}

impl ValueRows {
    /// Replaces all rows.
    pub(crate) fn rewrite<'v>(
        &self,
        txn: &mut WriteTxn<'_>,
        values: impl Iterator<Item = (u64, &'v [u8])>,
    ) -> Result<(), StoreError> {
        self.clear(txn)?;
        each_row(self.entry, self.attribute, values, &mut |key, row| {
            Ok(txn.put(self.db, key, row)?)
        })
    }

    /// Returns true if a stored value of this hash satisfies `is`.
    pub(crate) fn holds(
        &self,
        txn: &impl Snapshot,
        hash: u64,
        is: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, StoreError> {
        for number in self.holders(txn, hash)? {
            let row = txn.get(self.db, &self.block_key(number))?;
            let block = row.and_then(Block::parse).ok_or(Damage::Values)?;
            let half = super::block::half(hash);
            if block
                .iter()
                .any(|(stored, value)| stored == half && is(value))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Appends a value that is not stored yet.
    pub(crate) fn add(
        &self,
        txn: &mut WriteTxn<'_>,
        hash: u64,
        value: &[u8],
    ) -> Result<(), StoreError> {
        let (mut number, row) = self.last_block(txn)?;
        let mut list = match row {
            Some(row) => BlockBuilder::parse(row)?,
            None => BlockBuilder::default(),
        };
        if !list.has_room(value) {
            number = number.checked_add(1).ok_or(StoreError::EntryTooLarge)?;
            list = BlockBuilder::default();
        }
        list.push(hash, value);
        let row = list.encode()?;
        txn.put(self.db, &self.block_key(number), &row)?;
        let mut numbers = self.holders(txn, hash)?;
        // The row of a hash names each block once, however many values of the block share the hash.
        if !numbers.contains(&number) {
            numbers.push(number);
            self.put_holders(txn, hash, &numbers)?;
        }
        Ok(())
    }

    /// Removes the value of this hash that satisfies `is`, and returns it; `None` if there is none.
    pub(crate) fn remove(
        &self,
        txn: &mut WriteTxn<'_>,
        hash: u64,
        is: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Option<RemovedValue>, StoreError> {
        let mut numbers = self.holders(txn, hash)?;
        for (at, number) in numbers.clone().into_iter().enumerate() {
            let block_key = self.block_key(number);
            let row = txn.get(self.db, &block_key)?.ok_or(Damage::Values)?;
            let mut list = BlockBuilder::parse(row)?;
            let Some(position) = list.find(hash, is) else {
                continue;
            };
            let value = list.remove(position).to_vec();
            if list.count(hash) == 0 {
                numbers.remove(at);
            }
            let row = (!list.is_empty()).then(|| list.encode()).transpose()?;
            match row {
                Some(row) => txn.put(self.db, &block_key, &row)?,
                None => drop(txn.delete(self.db, &block_key)?),
            }
            self.put_holders(txn, hash, &numbers)?;
            let is_last_of_hash = numbers.is_empty();
            return Ok(Some(RemovedValue {
                value,
                is_last_of_hash,
            }));
        }
        Ok(None)
    }

    /// Deletes all rows.
    pub(crate) fn clear(&self, txn: &mut WriteTxn<'_>) -> Result<(), StoreError> {
        clear_prefix(txn, self.db, &key::prefix(self.entry, self.attribute))
    }

    fn block_key(&self, number: u32) -> Vec<u8> {
        key::of_block(self.entry, self.attribute, number)
    }

    fn last_block<'t>(
        &self,
        txn: &'t impl Snapshot,
    ) -> Result<(u32, Option<&'t [u8]>), StoreError> {
        let mut cursor = txn.cursor(self.db)?;
        let last = match cursor.seek_range(&key::end_of_blocks(self.entry, self.attribute))? {
            Some(_) => cursor.prev()?,
            None => cursor.last()?,
        };
        let found = last.and_then(|(key, row)| Some((key::parse_key(key)?, row)));
        Ok(match found {
            Some(((of, within, key::RowKind::Block(number)), row))
                if (of, within) == (self.entry, self.attribute) =>
            {
                (number, Some(row))
            }
            _ => (0, None),
        })
    }

    /// Returns the numbers of the blocks that hold values of a hash.
    fn holders(&self, txn: &impl Snapshot, hash: u64) -> Result<Vec<u32>, StoreError> {
        let key = key::of_hash(self.entry, self.attribute, hash);
        let row = txn.get(self.db, &key)?.unwrap_or_default();
        Ok((0..row.len() / 4)
            .filter_map(|n| u32_at(row, n * 4))
            .collect())
    }

    fn put_holders(
        &self,
        txn: &mut WriteTxn<'_>,
        hash: u64,
        numbers: &[u32],
    ) -> Result<(), StoreError> {
        let key = key::of_hash(self.entry, self.attribute, hash);
        if numbers.is_empty() {
            txn.delete(self.db, &key)?;
        } else {
            let row: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            txn.put(self.db, &key, &row)?;
        }
        Ok(())
    }
}

/// A value that [`ValueRows::remove`] has removed.
#[derive(Debug)]
pub(crate) struct RemovedValue {
    /// The value as it was stored.
    pub(crate) value: Vec<u8>,
    /// True if no other value of the attribute has its hash.
    pub(crate) is_last_of_hash: bool,
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
    // The keys are collected in groups, so that memory is bounded.
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
