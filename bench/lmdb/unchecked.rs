//! Trusts every page instead of checking it. In a copy of the source, `scripts/bench-checks.sh`
//! replaces `crates/format/src/checks.rs` by this file. The library crashes on a damaged file.

#[inline(always)]
pub(crate) const fn holds(_check: bool) -> bool {
    true
}

#[inline(always)]
pub(crate) fn present<T>(part: Option<T>) -> Option<T> {
    // SAFETY: the benchmark reads only a file that this library has just written, so each page
    // has its parts.
    Some(unsafe { part.unwrap_unchecked() })
}
