//! An id as the number of its chunk and its position within the chunk.

use crate::ids::EntryId;

pub(crate) const CHUNK_BITS: u32 = 13;

pub(crate) const CHUNK_IDS: usize = 1 << CHUNK_BITS;

/// Returns the chunk number of an id and its position in the chunk. Ids above 2^45 do not occur, as
/// ids are dense.
#[inline]
pub(crate) fn split(id: EntryId) -> (u32, u16) {
    let chunk = u32::try_from(id.0 >> CHUNK_BITS).unwrap_or(u32::MAX);
    #[allow(clippy::cast_possible_truncation)] // masked to 13 bits
    let low = (id.0 & (CHUNK_IDS as u64 - 1)) as u16;
    (chunk, low)
}

#[inline]
pub(crate) fn join(chunk: u32, low: u16) -> EntryId {
    debug_assert!(usize::from(low) < CHUNK_IDS, "a position is in its chunk");
    EntryId((u64::from(chunk) << CHUNK_BITS) | u64::from(low))
}
