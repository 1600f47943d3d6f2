//! A hint to the processor: these bytes will be read soon.

/// Bytes that a processor fetches at a time, on the machines in use today.
pub const CACHE_LINE: usize = 64;

/// Asks for all cache lines that `bytes` lie in, as [`prefetch`] does for one.
#[inline(always)]
pub fn prefetch_lines(bytes: &[u8]) {
    let within = bytes.as_ptr().addr() % CACHE_LINE;
    let lines = (within + bytes.len()).div_ceil(CACHE_LINE);
    let first = bytes.as_ptr().wrapping_sub(within);
    for line in 0..lines {
        prefetch_at(first.wrapping_add(line * CACHE_LINE));
    }
}

/// Asks for the first `lines` cache lines of bytes, or as many as there are.
#[inline(never)]
pub fn prefetch_first_lines(bytes: &[u8], lines: usize) {
    for line in 0..lines.min(bytes.len().div_ceil(CACHE_LINE)) {
        prefetch_at(bytes.as_ptr().wrapping_add(line * CACHE_LINE));
    }
}

/// Asks for the cache line in which `bytes` begins, without waiting for it. On machines other than
/// x86-64 it does nothing. It never changes the data read.
#[inline(always)]
pub fn prefetch(bytes: &[u8]) {
    prefetch_at(bytes.as_ptr());
}

/// As [`prefetch`], for the line `offset` bytes behind the beginning of `bytes`, at any address.
#[inline(always)]
pub fn prefetch_at_offset(bytes: &[u8], offset: usize) {
    prefetch_at(bytes.as_ptr().wrapping_add(offset));
}

#[inline(always)]
fn prefetch_at(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no visible effect and never faults, at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
