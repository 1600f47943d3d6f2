//! Who we are, as other processes see us in the lock file.

/// The system's page size in octets.
#[must_use]
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// This process's id, as it stands in reader slots. Asks the system each time: the answer changes in a forked child.
#[must_use]
pub fn process_id() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().cast_unsigned()
}

/// The word that names the calling thread in a reader slot; information for people, nothing depends on it.
#[must_use]
pub fn thread_word() -> u64 {
    // SAFETY: `pthread_self` has no preconditions and cannot fail.
    unsafe { libc::pthread_self() }
}
