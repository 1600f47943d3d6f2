//! A clock that only goes forward.

use core::ops::Add;

pub use core::time::Duration;

/// A moment, by that clock: nanoseconds, which last for 584 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// Returns the present moment.
    #[must_use]
    pub fn now() -> Instant {
        let mut now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: `now` is valid for writes.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let seconds = now.tv_sec.cast_unsigned().saturating_mul(1_000_000_000);
        Instant(seconds.saturating_add(now.tv_nsec.cast_unsigned()))
    }

    /// Returns the time since this moment.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    /// Returns the time from `earlier` to this moment; none if that one is later.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Instant(self.0.saturating_add(nanoseconds))
    }
}
