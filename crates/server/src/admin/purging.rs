//! Purges logs of changes by their age, while nobody writes (slapd's directive `logpurge`).
//!
//! Each commit drops old records too. The timer is for databases without commits. It works in small
//! commits, with pauses, so that others can write in between.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fulgurite_directory::LogPurge;
use fulgurite_store::{LogPurged, StoreError};

/// The interval of looks at the clock, and of tries while another writer is active.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Records that one commit drops at most.
const RECORDS_MAX: u64 = 1_000;

/// The pause between two commits of one purge.
const BETWEEN: Duration = Duration::from_millis(20);

/// A log that is purged.
trait PurgedLog {
    fn store(&self) -> &Path;
    fn every(&self) -> Duration;
    fn purge(&self) -> Result<LogPurged, StoreError>;
}

impl PurgedLog for LogPurge {
    fn store(&self) -> &Path {
        LogPurge::store(self).path()
    }

    fn every(&self) -> Duration {
        LogPurge::every(self)
    }

    fn purge(&self) -> Result<LogPurged, StoreError> {
        self.run(RECORDS_MAX)
    }
}

/// The last purge of a log.
struct LastPurge {
    store: PathBuf,
    at: Instant,
    /// True if it has failed, which was logged then.
    has_failed: bool,
}

/// The last purges of all logs.
#[derive(Default)]
struct Schedule(Vec<LastPurge>);

/// Purges until `pause` returns false. Each round asks for the logs again, because a reload may
/// have replaced them.
pub(crate) fn run(logs: &dyn Fn() -> Vec<LogPurge>, pause: &dyn Fn(Duration) -> bool) {
    let mut schedule = Schedule::default();
    while pause(LOOK_EVERY) {
        if !schedule.round(&logs(), Instant::now(), pause) {
            return;
        }
    }
}

impl Schedule {
    /// Purges the logs whose time has come. Returns false if `pause` did.
    fn round<L: PurgedLog>(
        &mut self,
        logs: &[L],
        now: Instant,
        pause: &dyn Fn(Duration) -> bool,
    ) -> bool {
        self.0
            .retain(|last| logs.iter().any(|log| log.store() == last.store));
        for log in logs {
            let Some(last) = self.0.iter_mut().find(|last| log.store() == last.store) else {
                // The first purge comes after the interval, as in slapd.
                self.0.push(LastPurge {
                    store: log.store().to_owned(),
                    at: now,
                    has_failed: false,
                });
                continue;
            };
            if now.duration_since(last.at) >= log.every() && !last.purge(log, now, pause) {
                return false;
            }
        }
        true
    }
}

impl LastPurge {
    /// Purges a log. Returns false if `pause` did.
    fn purge(
        &mut self,
        log: &impl PurgedLog,
        now: Instant,
        pause: &dyn Fn(Duration) -> bool,
    ) -> bool {
        loop {
            match log.purge() {
                // It stays due, so the next round tries again.
                Ok(LogPurged::Busy) => return true,
                Ok(purged) => {
                    self.at = now;
                    self.has_failed = false;
                    if let LogPurged::Done(_) = purged {
                        return true;
                    }
                }
                Err(error) => {
                    self.at = now;
                    if !std::mem::replace(&mut self.has_failed, true) {
                        let path = self.store.display();
                        tracing::error!("the log of changes in {path} cannot be purged: {error}");
                    }
                    return true;
                }
            }
            if !pause(BETWEEN) {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A log that answers by a list, from its end.
    struct Scripted(RefCell<Vec<LogPurged>>);

    impl PurgedLog for Scripted {
        fn store(&self) -> &Path {
            Path::new("store")
        }

        fn every(&self) -> Duration {
            Duration::from_secs(3600)
        }

        fn purge(&self) -> Result<LogPurged, StoreError> {
            Ok(self.0.borrow_mut().pop().expect("a purge too many"))
        }
    }

    #[test]
    fn a_purge_that_meets_a_writer_comes_again_soon() {
        let done = LogPurged::Done(1);
        let answers = vec![done, LogPurged::More(1_000), LogPurged::Busy];
        let log = [Scripted(RefCell::new(answers))];
        let mut schedule = Schedule::default();
        let begun = Instant::now();
        let mut left_at = |seconds: u64| {
            let now = begun + Duration::from_secs(seconds);
            assert!(schedule.round(&log, now, &|_| true));
            log[0].0.borrow().len()
        };
        assert_eq!(left_at(0), 3);
        assert_eq!(left_at(3599), 3, "the first one comes after the interval");
        assert_eq!(left_at(3600), 2, "a writer is active");
        assert_eq!(left_at(3601), 0, "the next round, in two commits");
        assert_eq!(left_at(7200), 0, "the interval counts from there");
        log[0].0.borrow_mut().push(LogPurged::Busy);
        assert_eq!(left_at(7201), 0);
    }
}
