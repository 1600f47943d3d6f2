//! Commits the records of operations that wait in memory.

use std::time::Duration;

/// The time that a record waits at most, about. A crash loses records of that time.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Flushes until `pause` returns false, and once more then.
pub(crate) fn run(flush: &dyn Fn(), pause: &dyn Fn(Duration) -> bool) {
    while pause(FLUSH_EVERY) {
        flush();
    }
    flush();
}
