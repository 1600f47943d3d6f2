//! Positions of walks over all items, which go on from one transaction to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The position of the hand that evicts.
#[derive(Debug, Default)]
pub(super) struct ClockHand {
    pub(super) next: Vec<u8>,
    /// Items that were used and got another round, since one was removed.
    pub(super) spared: usize,
}

/// The position of a walk after a flush.
#[derive(Debug, Default)]
pub(super) struct FlushWalk {
    /// True until the walk has reached the last key.
    pub(super) is_under_way: bool,
    /// The key to go on at.
    pub(super) next: Vec<u8>,
}

impl FlushWalk {
    pub(super) fn beginning(is_under_way: bool) -> FlushWalk {
        FlushWalk {
            is_under_way,
            next: Vec::new(),
        }
    }
}

/// Takes a lock whose data are sound also after a panic of another thread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
