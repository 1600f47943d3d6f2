//! Some values of an attribute in one row.
//!
//! ```text
//! values u32 | hash u32 x values       little-endian
//! { 04 length value } x values         as in a record
//! ```
//!
//! The hashes are halves of the hashes in the keys. A search compares them before it normalises a
//! value.

use crate::bytes::{take, u32_at};
use crate::error::Damage;
use crate::record::take_element;
use fulgurite_ber::{Writer, element_len};

/// Size of a block in bytes at most, so that two blocks with their keys share a page. A longer
/// value is alone in its block.
const BLOCK_BYTES_MAX: usize = 1980;

/// A block in the map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    hashes: &'a [u8],
    pub(crate) elements: &'a [u8],
}

impl<'a> Block<'a> {
    /// Checks the length of a block; its values are checked as they are read.
    pub(crate) fn parse(mut row: &'a [u8]) -> Option<Block<'a>> {
        let count = u32_at(take(&mut row, 4)?, 0)? as usize;
        let hashes = take(&mut row, count.checked_mul(4)?)?;
        (count != 0).then_some(Block {
            hashes,
            elements: row,
        })
    }

    /// Returns the values with the halves of their hashes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
        let mut rest = self.elements;
        let (hashes, _) = self.hashes.as_chunks();
        hashes
            .iter()
            .map_while(move |hash| Some((u32::from_le_bytes(*hash), take_element(&mut rest)?)))
    }
}

/// A block that is being made or changed.
#[derive(Default)]
pub(crate) struct BlockBuilder<'a> {
    values: Vec<(u32, &'a [u8])>,
    /// Length of the elements in bytes.
    bytes: usize,
}

impl<'a> BlockBuilder<'a> {
    /// Reads a block to change it.
    ///
    /// # Errors
    /// [`Damage::Values`].
    pub(super) fn parse(row: &'a [u8]) -> Result<BlockBuilder<'a>, Damage> {
        let block = Block::parse(row).ok_or(Damage::Values)?;
        let mut list = BlockBuilder::default();
        block.iter().for_each(|(half, value)| {
            list.values.push((half, value));
            list.bytes += element_len(value.len());
        });
        if list.values.len() * 4 == block.hashes.len() && list.bytes == block.elements.len() {
            Ok(list)
        } else {
            Err(Damage::Values)
        }
    }

    /// Returns true if another value fits.
    pub(super) fn has_room(&self, value: &[u8]) -> bool {
        self.values.is_empty() || self.len() + 4 + element_len(value.len()) <= BLOCK_BYTES_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) fn push(&mut self, hash: u64, value: &'a [u8]) {
        self.values.push((half(hash), value));
        self.bytes += element_len(value.len());
    }

    /// Returns the length of the block in bytes.
    fn len(&self) -> usize {
        4 + self.values.len() * 4 + self.bytes
    }

    /// Returns the position of the value of this hash that satisfies `is`.
    pub(super) fn find(&self, hash: u64, is: &mut dyn FnMut(&[u8]) -> bool) -> Option<usize> {
        let mut values = self.values.iter();
        values.position(|(held, value)| *held == half(hash) && is(value))
    }

    /// Returns the number of values of this hash, by the halves.
    pub(super) fn count(&self, hash: u64) -> usize {
        let same = |(held, _): &&(u32, &[u8])| *held == half(hash);
        self.values.iter().filter(same).count()
    }

    pub(super) fn remove(&mut self, position: usize) -> &'a [u8] {
        let (_, value) = self.values.remove(position);
        self.bytes -= element_len(value.len());
        value
    }

    /// Encodes the block.
    ///
    /// # Errors
    /// [`Damage::Values`] beyond 4 GiB.
    pub(super) fn encode(&self) -> Result<Vec<u8>, Damage> {
        let len = u32::try_from(self.len()).map_err(|_| Damage::Values)?;
        let mut out = Vec::with_capacity(len as usize);
        let count = u32::try_from(self.values.len()).map_err(|_| Damage::Values)?;
        out.extend_from_slice(&count.to_le_bytes());
        for (half, _) in &self.values {
            out.extend_from_slice(&half.to_le_bytes());
        }
        let mut writer = Writer::new(&mut out);
        self.values
            .iter()
            .for_each(|(_, value)| writer.octet_string(value));
        Ok(out)
    }
}

#[allow(clippy::cast_possible_truncation)] // one half is enough
pub(super) fn half(hash: u64) -> u32 {
    hash as u32
}
