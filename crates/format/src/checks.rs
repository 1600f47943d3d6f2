//! The checks that reads make of pages, by two functions.
//!
//! `scripts/bench-checks.sh` counts their cost: it builds a copy of the source with
//! `bench/lmdb/unchecked.rs` in place of this file.

/// Returns the result of a check.
#[inline(always)]
pub(crate) const fn holds(check: bool) -> bool {
    check
}

/// Returns a part of a page, if the page has it.
#[inline(always)]
pub(crate) fn present<T>(part: Option<T>) -> Option<T> {
    part
}
