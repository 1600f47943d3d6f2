//! Purges logs of changes by their age, while nobody writes (slapd's directive `logpurge`).
//!
//! Each commit drops old records too. The timer is for databases without commits. It works in small
//! commits, with pauses, so that others can write in between.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_directory::LogPurge;
use fulgurite_store::Store;

/// The interval of looks at the clock.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Records that one commit drops at most.
const RECORDS_MAX: u64 = 1_000;

/// The pause between two commits of one purge.
const BETWEEN: Duration = Duration::from_millis(20);

/// A log that was purged.
struct PurgedLog {
    store: Arc<Store>,
    at: Instant,
    /// True if the last purge failed, which was logged then.
    has_failed: bool,
}

/// Purges until `pause` returns false. Each round asks for the logs again, because a reload may
/// have replaced them.
pub(crate) fn run(logs: &dyn Fn() -> Vec<LogPurge>, pause: &dyn Fn(Duration) -> bool) {
    let mut purged: Vec<PurgedLog> = Vec::new();
    while pause(LOOK_EVERY) {
        let present = logs();
        let is_of = |one: &PurgedLog, log: &LogPurge| one.store.path() == log.store().path();
        purged.retain(|one| present.iter().any(|log| is_of(one, log)));
        for log in &present {
            let now = Instant::now();
            match purged.iter_mut().find(|one| is_of(one, log)) {
                Some(one) if now.duration_since(one.at) < log.every() => {}
                Some(one) => {
                    one.at = now;
                    if !purge(log, &mut one.has_failed, pause) {
                        return;
                    }
                }
                None => {
                    // The first purge comes after the interval, as in slapd.
                    purged.push(PurgedLog {
                        store: Arc::clone(log.store()),
                        at: now,
                        has_failed: false,
                    });
                }
            }
        }
    }
}

/// Purges one log. Returns false if `pause` did.
fn purge(log: &LogPurge, has_failed: &mut bool, pause: &dyn Fn(Duration) -> bool) -> bool {
    loop {
        match log.run(RECORDS_MAX) {
            Ok(dropped) => {
                *has_failed = false;
                if dropped < RECORDS_MAX {
                    return true;
                }
            }
            Err(error) => {
                if !std::mem::replace(has_failed, true) {
                    let path = log.store().path().display();
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
