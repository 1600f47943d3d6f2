//! Watches the clock of the machine: jumps, and changes of the data that are ahead of it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fulgurite_store::Store;

use crate::metrics::csn_seconds;

/// A difference to the steady clock between two looks that is a jump.
const JUMP_S: i64 = 5;

/// Seconds that a change may be ahead of the clock without a word. Clocks of servers differ.
const AHEAD_S: u64 = 60;

/// The interval of looks at the changes.
const MEASURE_EVERY: Duration = Duration::from_secs(30);

/// The last look at the clock.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch {
    last: Option<(SystemTime, Instant)>,
    measured: Option<Instant>,
    /// Databases that were spoken of, because their changes are ahead of the clock.
    ahead: Vec<String>,
}

impl ClockWatch {
    /// Compares both clocks, and writes jumps to the log. Returns true if it is time to look at the
    /// changes, too, as it is after a jump.
    pub(crate) fn look(&mut self, clock: SystemTime, now: Instant) -> bool {
        let jump = self.jump_s(clock, now);
        if let Some(seconds) = jump {
            let direction = if seconds < 0 { "back" } else { "forward" };
            tracing::warn!(
                "the clock of this machine has jumped {} seconds {direction}; times of changes \
                 follow it, numbers of changes stay ascending",
                seconds.unsigned_abs()
            );
        }
        let is_due = |at: Instant| now.saturating_duration_since(at) >= MEASURE_EVERY;
        let is_due = jump.is_some() || self.measured.is_none_or(is_due);
        if is_due {
            self.measured = Some(now);
        }
        is_due
    }

    /// Tells once of a database whose last change is ahead of the clock.
    pub(crate) fn tell(&mut self, suffix: &str, ahead_s: Option<u64>) {
        let known = self.ahead.iter().position(|known| known == suffix);
        match (ahead_s, known) {
            (Some(seconds), None) => {
                tracing::warn!(
                    "{suffix}: the last change is {seconds} seconds ahead of the clock of this \
                     machine: set the clock, and those of the other servers"
                );
                self.ahead.push(suffix.to_owned());
            }
            (None, Some(at)) => drop(self.ahead.remove(at)),
            _ => {}
        }
    }

    fn jump_s(&mut self, clock: SystemTime, now: Instant) -> Option<i64> {
        let (before, then) = self.last.replace((clock, now))?;
        let seconds = |time: SystemTime| match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            Err(_) => 0,
        };
        let passed = now.saturating_duration_since(then).as_secs();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let jump = seconds(clock) - seconds(before) - passed;
        (jump.abs() >= JUMP_S).then_some(jump)
    }
}

/// Returns how many seconds the last change of a store is ahead of a time, if that is too many.
pub(crate) fn ahead_s(store: &Store, now_s: u64) -> Option<u64> {
    let changes = store.snapshot().and_then(|view| view.changes()).ok()?;
    let times = changes.vector.iter();
    let times = times.filter_map(|csn| csn_seconds(&csn.text()));
    let newest = times.fold(0.0, f64::max) as u64;
    newest
        .checked_sub(now_s)
        .filter(|seconds| *seconds >= AHEAD_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_a_difference_to_the_steady_clock() {
        let (mut watch, start) = (ClockWatch::default(), Instant::now());
        let noon = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let mut jump = |clock: i64, steady: u64| {
            let clock = match u64::try_from(clock) {
                Ok(after) => noon + Duration::from_secs(after),
                Err(_) => noon - Duration::from_secs(clock.unsigned_abs()),
            };
            watch.jump_s(clock, start + Duration::from_secs(steady))
        };
        assert_eq!((jump(0, 0), jump(1, 1), jump(4, 2)), (None, None, None));
        assert_eq!((jump(-3600, 3), jump(-3599, 4)), (Some(-3605), None));
        assert_eq!((jump(0, 5), jump(60, 65)), (Some(3598), None));
    }

    #[test]
    fn changes_are_looked_at_now_and_then_and_told_once() {
        let (mut watch, start) = (ClockWatch::default(), Instant::now());
        let looks = (0..91).filter(|second| {
            let passed = Duration::from_secs(*second);
            watch.look(UNIX_EPOCH + passed, start + passed)
        });
        assert_eq!(looks.count(), 4);
        let (hour, after) = (Duration::from_secs(3600), Duration::from_secs(91));
        assert!(watch.look(UNIX_EPOCH + hour, start + after));
        watch.tell("dc=a", Some(61));
        watch.tell("dc=a", Some(60));
        assert_eq!(watch.ahead, ["dc=a"]);
        watch.tell("dc=a", None);
        assert!(watch.ahead.is_empty());
    }
}
