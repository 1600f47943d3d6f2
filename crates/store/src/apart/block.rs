//! Some values of an attribute in one row.
//!
//! ```text
//! values u32 | hash u32 x values | end u32 x values | the values' bytes       little-endian
//! ```
//!
//! The hashes, halves of those in the keys, tell without normalising which values a search means.

use crate::bytes::{take, u32_at};
use crate::error::Damage;

/// A block grows up to so many octets, so that two of them share a page with their keys. A longer value is alone.
const BLOCK_MAX: usize = 1980;

/// A block in the map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    hashes: &'a [u8],
    pub(crate) ends: &'a [u8],
    pub(crate) bytes: &'a [u8],
}

impl<'a> Block<'a> {
    /// Checks the lengths of a block; its ends are checked as they are used.
    pub(crate) fn parse(mut row: &'a [u8]) -> Option<Block<'a>> {
        let count = u32_at(take(&mut row, 4)?, 0)? as usize;
        let hashes = take(&mut row, count.checked_mul(4)?)?;
        let ends = take(&mut row, count.checked_mul(4)?)?;
        let used = ends.len().checked_sub(4).map(|last| u32_at(ends, last));
        let used = used.flatten()? as usize;
        (row.len() == used).then_some(Block {
            hashes,
            ends,
            bytes: row,
        })
    }

    /// The values with the halves of their hashes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
        let Block {
            hashes,
            ends,
            bytes,
        } = *self;
        let mut start = 0;
        (0..ends.len() / 4).map_while(move |position| {
            let end = u32_at(ends, position * 4)? as usize;
            let value = bytes.get(start..end)?;
            start = end;
            Some((u32_at(hashes, position * 4)?, value))
        })
    }
}

/// A block being made or changed.
#[derive(Default)]
pub(crate) struct BlockList<'a> {
    values: Vec<(u32, &'a [u8])>,
    bytes: usize,
}

impl<'a> BlockList<'a> {
    /// # Errors
    /// [`Damage::Values`].
    pub(super) fn parse(row: &'a [u8]) -> Result<BlockList<'a>, Damage> {
        let block = Block::parse(row).ok_or(Damage::Values)?;
        let mut list = BlockList::default();
        block.iter().for_each(|(half, value)| {
            list.values.push((half, value));
            list.bytes += value.len();
        });
        if list.values.len() * 4 == block.ends.len() {
            Ok(list)
        } else {
            Err(Damage::Values)
        }
    }

    /// Whether another value fits.
    pub(super) fn has_room(&self, value: &[u8]) -> bool {
        self.values.is_empty()
            || 4 + (self.values.len() + 1) * 8 + self.bytes + value.len() <= BLOCK_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn push(&mut self, hash: u64, value: &'a [u8]) {
        self.values.push((half(hash), value));
        self.bytes += value.len();
    }

    /// The position of the value of this hash that `is` meant.
    pub(super) fn find(&self, hash: u64, is: &mut dyn FnMut(&[u8]) -> bool) -> Option<usize> {
        let mut values = self.values.iter();
        values.position(|(held, value)| *held == half(hash) && is(value))
    }

    /// How many values there are of this hash, by the halves.
    pub(super) fn count(&self, hash: u64) -> usize {
        let same = |(held, _): &&(u32, &[u8])| *held == half(hash);
        self.values.iter().filter(same).count()
    }

    pub(super) fn remove(&mut self, position: usize) -> &'a [u8] {
        let (_, value) = self.values.remove(position);
        self.bytes -= value.len();
        value
    }

    /// # Errors
    /// [`Damage::Values`] beyond 4 GiB.
    pub(super) fn encode(&self) -> Result<Vec<u8>, Damage> {
        let number = |len: usize| u32::try_from(len).map_err(|_| Damage::Values);
        let mut out = Vec::with_capacity(4 + self.values.len() * 8 + self.bytes);
        out.extend_from_slice(&number(self.values.len())?.to_le_bytes());
        for (half, _) in &self.values {
            out.extend_from_slice(&half.to_le_bytes());
        }
        let mut end = 0;
        for (_, value) in &self.values {
            end += value.len();
            out.extend_from_slice(&number(end)?.to_le_bytes());
        }
        self.values
            .iter()
            .for_each(|(_, value)| out.extend_from_slice(value));
        Ok(out)
    }
}

#[allow(clippy::cast_possible_truncation)] // one half is enough
pub(super) fn half(hash: u64) -> u32 {
    hash as u32
}
