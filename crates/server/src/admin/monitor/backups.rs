//! The backups that the server makes by itself.

use fulgurite_directory::TreeEntry;

use super::figures::{Monitor, SUFFIX, generalized};
use crate::statistics::seconds_now;

/// The name of the entry.
const NAME: &str = "Backups";

impl Monitor {
    /// Returns the entry of the backups if `base` is at it, above or below it. There is none unless
    /// the settings ask for backups.
    pub(super) fn backups(&self, base: &str) -> Option<TreeEntry> {
        let own = format!("cn={},{}", NAME, SUFFIX).to_ascii_lowercase();
        if !own.ends_with(base) && !base.ends_with(&own) {
            return None;
        }
        let status = self.statistics.backups();
        let plan = status.plan()?;
        let state = status.state();
        let last = state.last.map(|last| {
            [
                format!("last: {}", generalized(last.time_s)),
                format!("age: {}", seconds_now().saturating_sub(last.time_s)),
                format!("bytes: {}", last.bytes),
            ]
        });
        let facts = [
            format!("directory: {}", plan.to.display()),
            format!("interval: {}", plan.every.as_secs()),
            format!("keep: {}", plan.keep),
            format!("written: {}", state.written),
            format!("failures: {}", state.failures),
        ];
        let facts = facts.into_iter().chain(last.into_iter().flatten());
        let trouble = state.trouble.map(|text| format!("trouble: {text}"));
        Some(
            self.entry("monitoredObject", NAME, SUFFIX)
                .with(
                    "description",
                    ["This object contains information about backups."],
                )
                .with("monitoredInfo", facts.chain(trouble)),
        )
    }
}
