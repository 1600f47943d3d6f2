//! The checks that reads make of pages, by two functions.
//!
//! `--cfg fulgurite_unchecked` leaves them out. `scripts/bench-checks.sh` builds such a library to
//! count their cost. It crashes on a damaged file, so it is never shipped.

/// Returns the result of a check. The build without checks returns true.
#[inline(always)]
pub(crate) const fn holds(check: bool) -> bool {
    cfg!(fulgurite_unchecked) || check
}

/// Returns a part of a page, if the page has it. The build without checks trusts that it has.
#[inline(always)]
pub(crate) fn present<T>(part: Option<T>) -> Option<T> {
    #[cfg(fulgurite_unchecked)]
    // SAFETY: none; whoever builds this trusts that every file is sound.
    return Some(unsafe { part.unwrap_unchecked() });
    #[cfg(not(fulgurite_unchecked))]
    part
}
