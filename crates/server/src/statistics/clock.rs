//! The clock of the counters: nanoseconds since the server was made.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A clock whose times fit into counters. It never goes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatisticsClock(Instant);

impl StatisticsClock {
    /// Returns a clock that begins now.
    pub(crate) fn start() -> StatisticsClock {
        StatisticsClock(Instant::now())
    }

    /// Returns a time in nanoseconds.
    pub(crate) fn at(self, time: Instant) -> u64 {
        let since = time.saturating_duration_since(self.0);
        // Enough for 584 years.
        since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos())
    }

    pub(crate) fn now(self) -> u64 {
        self.at(Instant::now())
    }

    /// Returns the time that has passed since a time of this clock.
    pub(crate) fn since(self, nanoseconds: u64) -> Duration {
        Duration::from_nanos(self.now().saturating_sub(nanoseconds))
    }
}

impl Default for StatisticsClock {
    fn default() -> StatisticsClock {
        StatisticsClock::start()
    }
}

/// Returns the seconds since 1970.
pub(crate) fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
