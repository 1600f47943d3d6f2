//! This process and its threads, as other processes see them in the lock file.

use crate::platform::sync::Once;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

/// The system's page size in bytes.
#[must_use]
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// Returns a number of bytes, rounded up to whole pages of the system. The size of a page is a
/// power of two.
#[must_use]
pub fn whole_system_pages(bytes: u64) -> u64 {
    let last = page_size() as u64 - 1;
    bytes.saturating_add(last) & !last
}

/// Returns true if this process may map less memory than the machine can address (`ulimit -v`).
#[must_use]
pub fn address_space_is_limited() -> bool {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As);
    limit.current.is_some()
}

/// This process's id, as it is stored in reader slots. Asks the system each time: the answer
/// changes in a forked child.
#[must_use]
pub fn process_id() -> u32 {
    rustix::process::getpid()
        .as_raw_nonzero()
        .get()
        .cast_unsigned()
}

/// Returns each process once, in ascending order. Cheap for as many as have a file open.
pub fn distinct_processes(pids: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut distinct = Vec::new();
    for pid in pids {
        if let Err(gap) = distinct.binary_search(&pid) {
            distinct.insert(gap, pid);
        }
    }
    distinct
}

/// Returns the word that names the calling thread. No two live threads of a process have the same
/// word. It is stored in reader slots, and names the owner of the write transaction. It has the
/// value of `pthread_self`, mostly without a call.
#[must_use]
#[inline(always)]
pub fn thread_word() -> u64 {
    #[cfg(all(
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu",
        target_pointer_width = "64",
        not(miri)
    ))]
    {
        let word: u64;
        // SAFETY: on this ABI the `fs` register points to the thread's control block, whose first
        // word is its own address. The C library names a thread by that address. The code reads
        // nothing else and changes nothing. The word is constant for the life of the thread, so
        // that two reads may become one.
        unsafe {
            core::arch::asm!(
                "mov {}, qword ptr fs:[0]",
                out(reg) word,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        word
    }
    #[cfg(not(all(
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu",
        target_pointer_width = "64",
        not(miri)
    )))]
    {
        // SAFETY: `pthread_self` has no preconditions and cannot fail.
        let thread = unsafe { libc::pthread_self() };
        // In musl it is a pointer.
        #[cfg(target_env = "musl")]
        let thread = thread.addr() as u64;
        thread
    }
}

/// Number of forks between the first call and this process; a handle made at another count belongs
/// to a parent.
///
/// Costs one load: the first call registers a handler that counts in each forked child.
#[must_use]
#[inline]
pub fn fork_generation() -> u32 {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // SAFETY: the handler only changes an atomic, which is allowed between fork and exec.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    });
    FORKS.load(Ordering::Relaxed)
}

static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::thread_word;

    #[test]
    fn a_thread_is_named_as_the_c_library_names_it() {
        let name = || {
            // SAFETY: it has no preconditions and cannot fail.
            assert_eq!(thread_word(), unsafe { libc::pthread_self() });
            thread_word()
        };
        let here = name();
        let there = std::thread::spawn(name).join().unwrap();
        assert_ne!(here, there);
        assert_eq!(here, name());
    }
}
