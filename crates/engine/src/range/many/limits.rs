//! The sizes that both searches share.

/// Keys per group: about as many cache lines as a processor core can have in flight.
pub(super) const GROUP: usize = 16;
/// Bytes of branches that fit the processor's caches. Below this size, searching branches in step
/// gains nothing.
pub(super) const NEAR_MAX: u64 = if cfg!(test) { 0 } else { 4 << 20 };
/// Cache lines of a value that the caller is likely to read.
pub(super) const VALUE_LINES: usize = 3;
