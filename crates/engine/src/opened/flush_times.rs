//! Counts flushes by their time, for those who watch the disk.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// Flushes of this process by their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlushTimes {
    /// Flushes within each of [`FlushTimes::BOUNDS_US`] and above the bound before. The last number
    /// counts longer ones.
    pub counts: [u64; BOUNDS_US.len() + 1],
    /// The time of all of them.
    pub total: Duration,
}

/// The bounds in microseconds.
const BOUNDS_US: [u64; 14] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    10_000_000,
];

impl FlushTimes {
    /// The bounds in microseconds, in ascending order.
    pub const BOUNDS_US: &'static [u64] = &BOUNDS_US;
}

/// The counters behind [`FlushTimes`]. One thread at a time adds to them.
#[derive(Debug, Default)]
pub(super) struct FlushCounters {
    counts: [AtomicU64; BOUNDS_US.len() + 1],
    nanoseconds: AtomicU64,
}

impl FlushCounters {
    /// Counts a flush.
    pub(super) fn add(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let fits = |bound: &u64| nanoseconds <= bound * 1_000;
        let at = BOUNDS_US.iter().position(fits).unwrap_or(BOUNDS_US.len());
        if let Some(count) = self.counts.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> FlushTimes {
        let mut times = FlushTimes {
            total: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
            ..FlushTimes::default()
        };
        for (sum, count) in times.counts.iter_mut().zip(&self.counts) {
            *sum = count.load(Ordering::Relaxed);
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_counts_below_its_bound() {
        let counters = FlushCounters::default();
        for microseconds in [0, 50, 51, 10_000_000, 10_000_001] {
            counters.add(Duration::from_micros(microseconds));
        }
        let times = counters.read();
        assert_eq!(&times.counts[..3], [2, 1, 0]);
        assert_eq!(&times.counts[BOUNDS_US.len() - 1..], [1, 1]);
        assert_eq!(times.total, Duration::from_micros(20_000_102));
    }
}
