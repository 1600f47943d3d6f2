//! The forms of a chunk, and the shortest one.

use super::position::CHUNK_IDS;

pub(super) const BITMAP_LEN: usize = CHUNK_IDS / 8;

/// Length in bytes of the header of a bitmap or of runs.
pub(super) const HEADER_LEN: usize = 3;

pub(super) const ARRAY: u8 = 1;

pub(super) const BITMAP: u8 = 2;

pub(super) const RUNS: u8 = 3;

/// Returns the kind of chunk that takes the fewest bytes, header included.
pub(super) fn shortest(cardinality: usize, runs: usize) -> u8 {
    // An empty chunk may be counted as one run.
    debug_assert!(runs <= cardinality.max(1), "a run has at least one id");
    if cardinality * 2 <= HEADER_LEN + (runs * 4).min(BITMAP_LEN) {
        ARRAY
    } else if runs * 4 <= BITMAP_LEN {
        RUNS
    } else {
        BITMAP
    }
}

pub(super) fn header(out: &mut Vec<u8>, kind: u8, cardinality: usize) {
    debug_assert!(out.is_empty(), "a header is at the start");
    if kind == ARRAY {
        return;
    }
    out.push(kind);
    out.extend_from_slice(&u16::try_from(cardinality).unwrap_or(u16::MAX).to_le_bytes());
}
