//! A hint to the processor: these octets will be read soon.

/// Octets that a processor fetches at a time, on the machines in use today.
pub const CACHE_LINE: usize = 64;

/// Asks for the cache line in which `bytes` begins, without waiting for it. On machines other than x86-64 nothing
/// happens; nowhere does it change what is read.
#[inline(always)]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing as far as the program can tell, and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
