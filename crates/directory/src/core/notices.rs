//! Lines for the log of the server that no client gets, each kind at most once a minute.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::clock::Clock;

/// The time between two lines of one kind, in microseconds.
const INTERVAL_US: u64 = 60_000_000;

/// The number of kinds whose time is remembered.
const KINDS_MAX: usize = 1024;

/// The log of the server.
pub trait WarningLog: Send + Sync {
    /// Writes a line.
    fn warn(&self, line: &str);
}

/// A log that drops all lines.
pub(crate) struct NoLog;

impl WarningLog for NoLog {
    fn warn(&self, _: &str) {}
}

/// The log, and the times of its last lines.
pub(crate) struct Notices {
    log: Arc<dyn WarningLog>,
    last_us: Mutex<BTreeMap<String, u64>>,
}

impl Notices {
    pub(crate) fn new(log: Arc<dyn WarningLog>) -> Notices {
        Notices {
            log,
            last_us: Mutex::default(),
        }
    }

    /// Writes a line, unless one of its kind was written within the last minute.
    pub(crate) fn warn(&self, clock: &dyn Clock, kind: &str, line: impl FnOnce() -> String) {
        if self.is_due(kind, clock.elapsed_us()) {
            self.log.warn(&line());
        }
    }

    /// Writes a line, unless one of its kind was written before.
    pub(crate) fn warn_once(&self, clock: &dyn Clock, kind: &str, line: impl FnOnce() -> String) {
        // No time is a minute after that one.
        if self.is_due_until(kind, clock.elapsed_us(), u64::MAX) {
            self.log.warn(&line());
        }
    }

    fn is_due(&self, kind: &str, now_us: u64) -> bool {
        self.is_due_until(kind, now_us, now_us)
    }

    /// Returns true if a line may be written; `noted_us` is remembered as its time.
    fn is_due_until(&self, kind: &str, now_us: u64, noted_us: u64) -> bool {
        let mut last_us = self.last_us.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |then: &u64| now_us.saturating_sub(*then) < INTERVAL_US;
        if last_us.get(kind).is_some_and(is_recent) {
            return false;
        }
        last_us.retain(|_, then| is_recent(then));
        if last_us.len() >= KINDS_MAX {
            return false;
        }
        last_us.insert(kind.to_owned(), noted_us);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_line_a_minute() {
        let notices = Notices::new(Arc::new(NoLog));
        let due = |kind: &str, second: u64| notices.is_due(kind, second * 1_000_000);
        assert!(due("a", 0));
        assert!(!due("a", 59));
        assert!(due("b", 59));
        assert!(due("a", 60));
        assert!(!due("b", 60));
    }

    #[test]
    fn a_kind_may_have_one_line_for_ever() {
        let notices = Notices::new(Arc::new(NoLog));
        assert!(notices.is_due_until("a", 0, u64::MAX));
        assert!(notices.is_due("b", 59_000_000));
        assert!(!notices.is_due_until("a", 10 * INTERVAL_US, u64::MAX));
        assert!(notices.is_due("b", 20 * INTERVAL_US));
    }

    #[test]
    fn the_memory_of_kinds_is_bounded() {
        let notices = Notices::new(Arc::new(NoLog));
        let kinds = (0..KINDS_MAX).filter(|kind| notices.is_due(&kind.to_string(), 0));
        assert_eq!(kinds.count(), KINDS_MAX);
        assert!(!notices.is_due("one more", 1));
        assert!(notices.is_due("one more", INTERVAL_US));
    }
}
