//! A number that one thread writes, and the lock of the rest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A number that one thread increases and all threads may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter. Only the thread that owns the counter may call this.
    pub(crate) fn add(&self, count: u64) {
        let sum = self.0.load(Ordering::Relaxed).wrapping_add(count);
        self.0.store(sum, Ordering::Relaxed);
    }

    /// Returns the number and begins at zero again. Only the thread that owns the counter may call
    /// this.
    pub(super) fn take(&self) -> u64 {
        let count = self.get();
        self.0.store(0, Ordering::Relaxed);
        count
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Locks a mutex. A poisoned one is safe to use, because each holder leaves complete values.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
