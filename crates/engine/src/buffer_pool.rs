//! Keeps buffers of pages and runs that no writer uses, for the next writer of this process. Fresh
//! memory from the system costs more than the work done with it. They go when the last environment
//! is closed.
//!
//! A buffer keeps its old contents. The writer that takes it fills it, but for the free space of a
//! tree page.

use alloc::boxed::Box;
use alloc::vec::Vec;
use fulgurite_os::platform::sync::{Mutex, TryLockError};

/// Returns the largest number of pages kept, by a writer or between two writers: as many as large
/// transactions change.
pub(crate) const fn pages_max(page_size: usize) -> usize {
    const BYTES_MAX: usize = 32 << 20;
    match BYTES_MAX.checked_div(page_size) {
        Some(pages) => pages,
        None => 0,
    }
}

/// Unused buffers, with their old contents.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Of single pages, all of one size.
    pub(crate) pages: Vec<Box<[u8]>>,
    /// Buffers of runs of pages, of any size; the writer bounds their number.
    pub(crate) runs: Vec<Box<[u8]>>,
    /// How many bytes the runs are.
    pub(crate) run_bytes: usize,
}

/// Neither environment nor thread owns them.
static POOL: Mutex<Buffers> = Mutex::new(Buffers {
    pages: Vec::new(),
    runs: Vec::new(),
    run_bytes: 0,
});

/// Takes the buffers that are kept, those of pages if they are of this size.
pub(crate) fn take(page_size: usize) -> Buffers {
    with_pool(|kept| match kept.pages.last() {
        Some(buffer) if buffer.len() != page_size => Buffers {
            pages: Vec::new(),
            runs: core::mem::take(&mut kept.runs),
            run_bytes: core::mem::take(&mut kept.run_bytes),
        },
        _ => core::mem::take(kept),
    })
    .unwrap_or_default()
}

/// Keeps the larger set of run buffers, and as many page buffers as there is room for.
pub(crate) fn keep(mut unused: Buffers) {
    let len = |pages: &Vec<Box<[u8]>>| pages.last().map(|buffer| buffer.len());
    with_pool(|kept| {
        if len(&kept.pages) == len(&unused.pages) {
            let page_size = len(&unused.pages).unwrap_or(1);
            let room = pages_max(page_size).saturating_sub(kept.pages.len());
            let count = room.min(unused.pages.len());
            kept.pages.extend(unused.pages.drain(..count));
        } else if kept.pages.len() < unused.pages.len() {
            core::mem::swap(&mut kept.pages, &mut unused.pages);
        }
        if kept.run_bytes < unused.run_bytes {
            core::mem::swap(&mut kept.runs, &mut unused.runs);
            core::mem::swap(&mut kept.run_bytes, &mut unused.run_bytes);
        }
    });
    // The excess is freed here, outside the lock.
    drop(unused);
}

/// Gives all buffers back to the system's allocator: this process has nothing open any more.
pub(crate) fn clear() {
    drop(with_pool(core::mem::take));
}

/// Works on the pool. Does nothing if another thread holds the lock, which may be a thread lost in
/// a fork.
fn with_pool<T>(work: impl FnOnce(&mut Buffers) -> T) -> Option<T> {
    match POOL.try_lock() {
        Ok(mut kept) => Some(work(&mut kept)),
        Err(TryLockError::Poisoned(poisoned)) => Some(work(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers(count: usize, len: usize) -> Buffers {
        Buffers {
            pages: (0..count).map(|_| vec![0; len].into()).collect(),
            ..Buffers::default()
        }
    }

    /// Other tests of this process take and keep buffers at the same time, but none of such sizes.
    #[test]
    fn buffers_of_another_size_are_left_alone() {
        keep(buffers(9, 24));
        assert!(take(40).pages.iter().all(|buffer| buffer.len() == 40));
        let taken = take(24).pages;
        assert!(taken.len() <= 9);
        assert!(taken.iter().all(|buffer| buffer.len() == 24));
        assert!(take(24).pages.is_empty());
        keep(buffers(1, 24));
        clear();
        assert!(take(24).pages.is_empty());
    }
}
