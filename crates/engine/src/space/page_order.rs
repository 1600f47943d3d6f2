//! Sorting page numbers: one copy of the code.

use fulgurite_format::Pgno;

/// Sorts from the lowest to the highest.
pub(super) fn sort_ascending(pages: &mut [Pgno]) {
    sort_descending(pages);
    pages.reverse();
}

/// Sorts from the highest to the lowest, as a record of the free list has them. Parts that are in
/// order merge fast.
#[inline(never)]
pub(super) fn sort_descending(pages: &mut [Pgno]) {
    pages.sort_by(|a, b| b.cmp(a));
}
