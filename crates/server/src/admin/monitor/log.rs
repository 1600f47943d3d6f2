//! The state of the log.

use fulgurite_directory::TreeEntry;

use super::figures::Monitor;
use crate::log_loss::lost_log_lines;

impl Monitor {
    /// Adds an entry if lines of the log were lost.
    pub(super) fn log(&self, out: &mut Vec<TreeEntry>) {
        let lost = lost_log_lines();
        if lost > 0 {
            let entry = self.entry("monitoredObject", "File", "cn=Log,cn=Monitor");
            out.push(entry.with("monitoredInfo", [format!("lost lines: {lost}")]));
        }
    }
}
