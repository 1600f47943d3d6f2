//! The work of one thread of the hashing pool.

use std::time::Duration;

use super::counter::Counter;
use super::durations::DurationCounters;

/// Numbers of one thread that verifies passwords.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct HashingStatistics {
    /// Passwords that it took from the queue.
    pub(super) taken: Counter,
    pub(super) done: Counter,
    pub(super) durations: DurationCounters,
}

impl HashingStatistics {
    /// Counts a password that the thread begins with.
    pub(crate) fn took(&self) {
        self.taken.add(1);
    }

    /// Counts the end of that work.
    pub(crate) fn finished(&self, took: Duration) {
        self.done.add(1);
        let nanoseconds = u64::try_from(took.as_nanos());
        self.durations.add(nanoseconds.unwrap_or(u64::MAX), 1);
    }
}
