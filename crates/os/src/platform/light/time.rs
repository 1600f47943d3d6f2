//! A clock that only goes forward.

use core::ops::Add;

pub use core::time::Duration;

/// A moment, by that clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

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
        Instant(Duration::new(
            now.tv_sec.cast_unsigned(),
            now.tv_nsec.cast_unsigned() as u32,
        ))
    }

    /// Returns the time since this moment.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    /// Returns the time from `earlier` to this moment; none if that one is later.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, time: Duration) -> Instant {
        Instant(self.0.saturating_add(time))
    }
}
