//! Buffers of pages and runs that no writer needs at the moment, kept for the next one of this process: memory that the system gives anew
//! costs more than what is done with it. They go when the last environment is closed.
//!
//! What was in a buffer stays in it; whoever takes one fills it whole.

use std::sync::{Mutex, TryLockError};

/// At most so many pages are kept, by a writer or between two of them: as much as large transactions change.
pub(crate) const fn pages_max(page_size: usize) -> usize {
    const OCTETS_MAX: usize = 32 << 20;
    OCTETS_MAX / page_size
}

/// Buffers, with whatever was in them.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Of single pages, all of one size.
    pub(crate) pages: Vec<Box<[u8]>>,
    /// Of runs of pages, of any size; how many there are is bounded by who puts them here.
    pub(crate) runs: Vec<Box<[u8]>>,
    /// How many octets the runs are.
    pub(crate) run_octets: usize,
}

/// Neither environment nor thread owns them.
static KEPT: Mutex<Spare> = Mutex::new(Spare {
    pages: Vec::new(),
    runs: Vec::new(),
    run_octets: 0,
});

/// Takes the buffers that are kept, those of pages if they are of this size.
pub(crate) fn take(page_size: usize) -> Spare {
    with_kept(|kept| match kept.pages.last() {
        Some(buffer) if buffer.len() != page_size => Spare {
            pages: Vec::new(),
            runs: std::mem::take(&mut kept.runs),
            run_octets: std::mem::take(&mut kept.run_octets),
        },
        _ => std::mem::take(kept),
    })
    .unwrap_or_default()
}

/// Keeps buffers: of runs those that are more, of pages all that there is room for.
pub(crate) fn keep(mut spare: Spare) {
    let len = |pages: &Vec<Box<[u8]>>| pages.last().map(|buffer| buffer.len());
    with_kept(|kept| {
        if len(&kept.pages) == len(&spare.pages) {
            let page_size = len(&spare.pages).unwrap_or(1);
            let room = pages_max(page_size).saturating_sub(kept.pages.len());
            let count = room.min(spare.pages.len());
            kept.pages.extend(spare.pages.drain(..count));
        } else if kept.pages.len() < spare.pages.len() {
            std::mem::swap(&mut kept.pages, &mut spare.pages);
        }
        if kept.run_octets < spare.run_octets {
            std::mem::swap(&mut kept.runs, &mut spare.runs);
            std::mem::swap(&mut kept.run_octets, &mut spare.run_octets);
        }
    });
    // Those that are too many are given back here, where nobody waits for the list.
    drop(spare);
}

/// Gives all buffers back to the system's allocator: this process has nothing open any more.
pub(crate) fn clear() {
    drop(with_kept(std::mem::take));
}

/// Works on the list; not at all if somebody else does, who may have been left behind by a fork.
fn with_kept<T>(work: impl FnOnce(&mut Spare) -> T) -> Option<T> {
    match KEPT.try_lock() {
        Ok(mut kept) => Some(work(&mut kept)),
        Err(TryLockError::Poisoned(poisoned)) => Some(work(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers(count: usize, len: usize) -> Spare {
        Spare {
            pages: (0..count).map(|_| vec![0; len].into()).collect(),
            ..Spare::default()
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
