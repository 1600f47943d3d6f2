//! A set of ids in memory: the union of many small postings, or the children of an entry.

use std::collections::BTreeMap;

use super::bitmap::Bitmap;
use super::chunk::Chunk;
#[cfg(test)]
use super::position::join;
use super::position::split;
use crate::error::Damage;
use crate::ids::EntryId;

/// Chunks by number. Memory is bounded by one bit per entry of the store, and 1 KiB per chunk
/// touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdSet {
    chunks: BTreeMap<u32, Box<Bitmap>>,
}

impl IdSet {
    pub(crate) fn insert(&mut self, id: EntryId) {
        let (chunk, low) = split(id);
        self.chunk_mut(chunk).insert(low);
    }

    pub(crate) fn add_chunk(&mut self, number: u32, chunk: Chunk<'_>) -> Result<(), Damage> {
        chunk.or_into(self.chunk_mut(number))
    }

    pub(crate) fn chunk(&self, number: u32) -> Option<&Bitmap> {
        self.chunks.get(&number).map(|bits| &**bits)
    }

    /// Returns the first chunk at or after `from` that was touched.
    pub(crate) fn next_chunk(&self, from: u32) -> Option<u32> {
        let next = self.chunks.range(from..).next().map(|(number, _)| *number);
        debug_assert!(next.is_none_or(|next| next >= from), "chunks ascend");
        next
    }

    pub(crate) fn len(&self) -> u64 {
        self.chunks.values().map(|bits| bits.len() as u64).sum()
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = EntryId> + '_ {
        self.chunks
            .iter()
            .flat_map(|(number, bits)| bits.iter().map(|low| join(*number, low)))
    }

    fn chunk_mut(&mut self, number: u32) -> &mut Bitmap {
        self.chunks
            .entry(number)
            .or_insert_with(|| Box::new(Bitmap::new()))
    }
}
