//! Counts durations in classes.

use std::time::Duration;

use super::counter::Counter;

/// The bounds of the classes in nanoseconds. A search takes some tens of microseconds, a commit
/// some milliseconds.
pub(crate) const BOUNDS_NS: [u64; 16] = [
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000,
    2_500_000_000,
    10_000_000_000,
];

/// Durations by their classes, counted by one thread.
#[derive(Debug, Default)]
pub(crate) struct DurationCounters {
    /// The last class has no bound.
    classes: [Counter; BOUNDS_NS.len() + 1],
    nanoseconds: Counter,
}

/// Sums of the counters of several threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DurationCounts {
    pub(crate) classes: [u64; BOUNDS_NS.len() + 1],
    pub(crate) total: Duration,
}

impl DurationCounters {
    /// Counts a duration this number of times. Most are short, so that the first bounds decide.
    pub(crate) fn add(&self, nanoseconds: u64, times: u64) {
        let class = BOUNDS_NS.iter().position(|bound| nanoseconds <= *bound);
        if let Some(count) = self.classes.get(class.unwrap_or(BOUNDS_NS.len())) {
            count.add(times);
        }
        self.nanoseconds.add(nanoseconds.saturating_mul(times));
    }

    /// Adds the counters to sums.
    pub(crate) fn add_to(&self, counts: &mut DurationCounts) {
        for (sum, count) in counts.classes.iter_mut().zip(&self.classes) {
            *sum += count.get();
        }
        counts.total += Duration::from_nanos(self.nanoseconds.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_the_class_below_its_bound() {
        let counters = DurationCounters::default();
        let mut counts = DurationCounts::default();
        for nanoseconds in [0, 25_000, 25_001, 10_000_000_000, 10_000_000_001] {
            counters.add(nanoseconds, 1);
        }
        counters.add_to(&mut counts);
        counters.add_to(&mut counts);
        assert_eq!(counts.classes[..3], [4, 2, 0]);
        assert_eq!(counts.classes[BOUNDS_NS.len() - 1..], [2, 2]);
        assert_eq!(counts.total, Duration::from_nanos(2 * 20_000_050_002));
    }
}
