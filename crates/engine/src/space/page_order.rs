//! Sorting page numbers: one copy of the code for each direction.

use fulgurite_format::Pgno;

/// Sorts from the lowest to the highest.
#[inline(never)]
pub(super) fn sort_ascending(pages: &mut [Pgno]) {
    pages.sort_unstable();
}

/// Sorts from the highest to the lowest, as a record of the free list has them.
#[inline(never)]
pub(super) fn sort_descending(pages: &mut [Pgno]) {
    pages.sort_unstable_by(|a, b| b.cmp(a));
}
