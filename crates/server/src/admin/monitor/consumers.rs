//! The consumers of a database, under the names that slapd gives them, and its copies elsewhere.

use fulgurite_directory::TreeEntry;
use fulgurite_store::Store;

use super::figures::{Monitor, generalized};
use crate::statistics::seconds_now;

/// The time of an event that has not happened.
const NEVER: &str = "00000101000000Z";

fn time(ms: Option<u64>) -> String {
    ms.map_or_else(|| NEVER.to_owned(), |ms| generalized(ms / 1000))
}

impl Monitor {
    /// Adds an entry for each provider that the database is copied from.
    pub(super) fn consumers(&self, store: &Store, above: &str, out: &mut Vec<TreeEntry>) {
        for (rid, status) in self.replication().of(store.path()) {
            let consumer = status.consumer;
            let trouble = consumer.trouble.map(|text| format!("trouble: {text}"));
            let facts = [
                format!("applied: {}", status.applied),
                format!("conflicts: {}", status.conflicts),
                format!("quarantined: {}", status.quarantined),
                format!("refreshed: {}", consumer.refresh_entries),
            ];
            let facts = facts.into_iter().chain(trouble);
            let name = format!("Consumer {rid:03}");
            out.push(
                self.entry("olmSyncReplInstance", &name, above)
                    .with("olmSRProviderURIList", [status.provider])
                    .with("olmSRConnection", [status.connection])
                    .with("olmSRSyncPhase", [consumer.phase.as_str()])
                    .with("olmSRNextConnect", [time(consumer.next_connect_ms)])
                    .with("olmSRLastConnect", [time(consumer.last_connect_ms)])
                    .with("olmSRLastContact", [time(consumer.last_contact_ms)])
                    .with("olmSRLastCookieRcvd", [consumer.cookie_received])
                    .with("olmSRLastCookieSent", [consumer.cookie_sent])
                    .with("monitoredInfo", facts),
            );
        }
    }

    /// Adds an entry for each search that copies the database to another server.
    pub(super) fn copies(&self, store: &Store, above: &str, out: &mut Vec<TreeEntry>) {
        let readers = store.log_readers();
        if readers.is_empty() {
            return;
        }
        let Ok(view) = store.snapshot() else { return };
        let Ok(entries) = view.entry_count() else {
            return;
        };
        let now_us = seconds_now() * 1_000_000;
        for (number, reader) in (1..).zip(readers) {
            let lag = view.lag_behind(reader.position, now_us);
            let lag = lag.unwrap_or_default();
            let phase = match reader.is_refreshing {
                true => "Refresh",
                false => "Persist",
            };
            let mut facts = vec![
                format!("copy: {}", reader.name),
                format!("phase: {phase}"),
                format!("behind: {}", lag.changes),
                format!("lag: {}", lag.age_us / 1_000_000),
            ];
            if reader.is_refreshing {
                facts.push(format!("refreshed: {} of {entries}", reader.entries));
            }
            let name = format!("Copy {number:03}");
            let entry = self.entry("monitoredObject", &name, above);
            out.push(entry.with("monitoredInfo", facts));
        }
    }
}
