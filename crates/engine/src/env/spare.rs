//! Page buffers that no writer needs at the moment, kept for the next one of this process: memory that the system gives anew
//! costs more than what is done with it. They go when the last environment is closed.
//!
//! What was in a buffer stays in it; whoever takes one fills it whole.

use std::sync::{Mutex, TryLockError};

/// At most so many pages are kept, by a writer or between two of them: as much as large transactions change, 32 MiB of pages
/// of the usual size.
pub(crate) const SPARE_MAX: usize = 1 << 13;

/// All of one size. Neither environment nor thread owns them.
static KEPT: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());

/// Takes the buffers that are kept, if they are of this size.
pub(crate) fn take(page_size: usize) -> Vec<Box<[u8]>> {
    with_kept(|kept| match kept.last() {
        Some(buffer) if buffer.len() == page_size => std::mem::take(kept),
        _ => Vec::new(),
    })
    .unwrap_or_default()
}

/// Keeps buffers, which all have one size.
pub(crate) fn keep(mut buffers: Vec<Box<[u8]>>) {
    let len = |buffers: &Vec<Box<[u8]>>| buffers.last().map(|buffer| buffer.len());
    with_kept(|kept| {
        if len(kept) == len(&buffers) {
            let room = SPARE_MAX.saturating_sub(kept.len());
            kept.extend(buffers.drain(..room.min(buffers.len())));
        } else if kept.len() < buffers.len() {
            std::mem::swap(kept, &mut buffers);
        }
    });
    // Those that are too many are given back here, where nobody waits for the list.
    drop(buffers);
}

/// Gives all buffers back to the system's allocator: this process has nothing open any more.
pub(super) fn forget() {
    drop(with_kept(std::mem::take));
}

/// Works on the list; not at all if somebody else does, who may have been left behind by a fork.
fn with_kept<T>(work: impl FnOnce(&mut Vec<Box<[u8]>>) -> T) -> Option<T> {
    match KEPT.try_lock() {
        Ok(mut kept) => Some(work(&mut kept)),
        Err(TryLockError::Poisoned(poisoned)) => Some(work(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers(count: usize, len: usize) -> Vec<Box<[u8]>> {
        (0..count).map(|_| vec![0; len].into()).collect()
    }

    /// Other tests of this process take and keep buffers at the same time, but none of such sizes.
    #[test]
    fn buffers_of_another_size_are_left_alone() {
        keep(buffers(SPARE_MAX + 1, 24));
        assert!(take(40).iter().all(|buffer| buffer.len() == 40));
        let taken = take(24);
        assert!(taken.len() <= SPARE_MAX + 1);
        assert!(taken.iter().all(|buffer| buffer.len() == 24));
        assert!(take(24).is_empty());
        keep(buffers(1, 24));
        forget();
        assert!(take(24).is_empty());
    }
}
