//! A setting of the C library's allocator.

/// Size in bytes from which a block gets a separate mapping.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK_BYTES: libc::c_int = 1 << 20;

/// Lets the allocator return large blocks to the system as soon as they are freed.
///
/// By default glibc raises its bound for mappings when it frees one. Later blocks of that size stay
/// in the heap of their thread, 19 MiB for each thread that verifies passwords. Holds for the whole
/// process. Costs two system calls for each block of 1 MiB and more. Does nothing with another C
/// library.
pub fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: `mallopt` has no preconditions, and locks what it changes. It refuses a value
        // that it does not take and then changes nothing.
        let accepted = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES) };
        debug_assert_eq!(accepted, 1, "glibc takes bounds of up to 32 MiB");
    }
}
