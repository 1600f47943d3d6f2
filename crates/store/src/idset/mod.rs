//! Sets of entry ids: chunks of 2^13 ids, each an array, a bitmap or runs, whichever is shortest.
//!
//! ```text
//! posting of uid=jane    key "uid = jane" + chunk 0  ->  array [17]
//! posting of person      key "... person" + chunk 0  ->  runs  [1..=8191]
//!                        key "... person" + chunk 1  ->  runs  [0..=4711]
//! ```
//!
//! 2^13 rather than Roaring's 2^16: a bitmap is then 1 KiB, so that every chunk lies inside a leaf page together
//! with others, and an update rewrites a part of one page. At 2 KiB a bitmap with its key would pass the engine's
//! limit for values on the page and take an overflow page for itself.
//!
//! Sets are never materialised as a whole when they come from the index: a plan is evaluated one chunk at a
//! time on [`Bits`].

mod bits;
mod chunk;
mod edit;
mod owned;

pub(crate) use bits::Bits;
#[cfg(test)]
pub(crate) use chunk::encode;
pub(crate) use chunk::{Chunk, encode_sorted};
pub(crate) use edit::edit;
pub(crate) use owned::IdSet;

use crate::ids::EntryId;

pub(crate) const CHUNK_BITS: u32 = 13;
pub(crate) const CHUNK_IDS: usize = 1 << CHUNK_BITS;

/// Chunk number and place within it. Ids above 2^45 do not occur: ids are dense.
#[inline]
pub(crate) fn split(id: EntryId) -> (u32, u16) {
    let chunk = u32::try_from(id.0 >> CHUNK_BITS).unwrap_or(u32::MAX);
    #[allow(clippy::cast_possible_truncation)] // masked to 13 bits
    let low = (id.0 & (CHUNK_IDS as u64 - 1)) as u16;
    (chunk, low)
}

#[inline]
pub(crate) fn join(chunk: u32, low: u16) -> EntryId {
    EntryId((u64::from(chunk) << CHUNK_BITS) | u64::from(low))
}

#[cfg(test)]
mod tests;
