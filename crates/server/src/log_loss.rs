//! Lines of the log that could not be written. The program that writes them counts here, and
//! `cn=Monitor` and the metrics tell.

use std::sync::atomic::{AtomicU64, Ordering};

static LINES: AtomicU64 = AtomicU64::new(0);

/// Counts a line that the log has lost.
pub fn count_lost_log_line() {
    LINES.fetch_add(1, Ordering::Relaxed);
}

/// Returns the lines that the log of this process has lost.
pub(crate) fn lost_log_lines() -> u64 {
    LINES.load(Ordering::Relaxed)
}
