//! Membership of positions in a stored chunk, tested in place.

use super::position::CHUNK_IDS;
use crate::bytes::u64_at;

/// The positions of an array that are compared at once. An array is short, so a walk over blocks
/// costs less than a search.
const BLOCK: usize = 8;

/// A test of positions that ascend. A chunk that is damaged may give wrong answers, but no others
/// than a chunk with other positions.
#[derive(Debug)]
pub(crate) enum Members<'a> {
    /// The positions behind those that were passed.
    Array(&'a [[u8; 2]]),
    /// The runs behind those that were passed.
    Runs(&'a [[u8; 4]]),
    Bitmap(&'a [u8]),
}

impl<'a> Members<'a> {
    pub(super) fn of_array(positions: &'a [[u8; 2]]) -> Members<'a> {
        Members::Array(positions)
    }

    pub(super) fn of_runs(runs: &'a [[u8; 4]]) -> Members<'a> {
        Members::Runs(runs)
    }

    pub(super) fn of_bitmap(bytes: &'a [u8]) -> Members<'a> {
        Members::Bitmap(bytes)
    }

    /// Returns true if the chunk has this position. Positions must be asked in ascending order.
    #[inline]
    pub(crate) fn contains(&mut self, low: u16) -> bool {
        debug_assert!(usize::from(low) < CHUNK_IDS, "a position is in its chunk");
        match self {
            Members::Array(rest) => {
                while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>()
                    && u16::from_le_bytes(block[BLOCK - 1]) < low
                {
                    *rest = behind;
                }
                match rest.first_chunk::<BLOCK>() {
                    // Without an early end the compiler compares a block at once.
                    Some(block) => block.iter().fold(false, |found, at| found | is(at, low)),
                    None => rest.iter().any(|at| is(at, low)),
                }
            }
            Members::Runs(rest) => {
                skip_below(rest, low);
                let first = |[a, b, _, _]: &[u8; 4]| u16::from_le_bytes([*a, *b]);
                rest.first().is_some_and(|run| first(run) <= low)
            }
            Members::Bitmap(bytes) => {
                let word = u64_at(bytes, usize::from(low) / 64 * 8).unwrap_or(0);
                (word >> (low % 64)) & 1 == 1
            }
        }
    }
}

fn is(stored: &[u8; 2], low: u16) -> bool {
    u16::from_le_bytes(*stored) == low
}

/// Removes the runs from the front that end below `low`. The steps double, because the next run is
/// mostly near.
fn skip_below(rest: &mut &[[u8; 4]], low: u16) {
    let below = |[_, _, c, d]: &[u8; 4]| u16::from_le_bytes([*c, *d]) < low;
    let mut end = 1;
    while rest.get(end - 1).is_some_and(below) {
        end *= 2;
    }
    debug_assert!(end / 2 <= rest.len(), "steps double within the items");
    let window = rest.get(end / 2..end.min(rest.len())).unwrap_or_default();
    let skipped = end / 2 + window.partition_point(below);
    *rest = rest.get(skipped..).unwrap_or_default();
}
