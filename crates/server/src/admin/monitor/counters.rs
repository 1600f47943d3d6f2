//! Branches of counters, listeners and times.

use fulgurite_directory::TreeEntry;

use super::figures::{Monitor, generalized};
use crate::statistics::{OPERATIONS, seconds_now};

impl Monitor {
    pub(super) fn nothing(&self, _: &mut Vec<TreeEntry>) {}

    pub(super) fn operations(&self, out: &mut Vec<TreeEntry>) {
        let totals = self.statistics.totals();
        let all = |counts: &[u64]| [counts.iter().sum::<u64>().to_string()];
        if let Some(branch) = out.last_mut() {
            let whole = std::mem::take(branch)
                .with("monitorOpInitiated", all(&totals.initiated))
                .with("monitorOpCompleted", all(&totals.completed));
            *branch = whole;
        }
        let counts = totals.initiated.iter().zip(&totals.completed);
        for ((name, _), (initiated, completed)) in OPERATIONS.iter().zip(counts) {
            out.push(
                self.entry("monitorOperation", name, "cn=Operations,cn=Monitor")
                    .with("monitorOpInitiated", [initiated.to_string()])
                    .with("monitorOpCompleted", [completed.to_string()]),
            );
        }
    }

    pub(super) fn statistics(&self, out: &mut Vec<TreeEntry>) {
        let totals = self.statistics.totals();
        let at = "cn=Statistics,cn=Monitor";
        let growing = |name: &str, count, bytes| {
            let entry = self.entry("monitorCounterObject", name, at);
            entry.counting_sent("monitorCounter", count, bytes)
        };
        out.push(growing("Bytes", totals.bytes, true));
        out.push(growing("PDU", totals.messages, false));
        out.push(growing("Entries", totals.entries, false));
        out.push(self.counter("Referrals", at, totals.references));
    }

    pub(super) fn listeners(&self, out: &mut Vec<TreeEntry>) {
        for (number, (url, address)) in self.statistics.facts().listeners.iter().enumerate() {
            let name = format!("Listener {number}");
            out.push(
                self.entry("monitoredObject", &name, "cn=Listeners,cn=Monitor")
                    .with("monitorConnectionLocalAddress", [address.as_str()])
                    .with("labeledURI", [url.as_str()]),
            );
        }
    }

    pub(super) fn time(&self, out: &mut Vec<TreeEntry>) {
        let (start, now) = (self.statistics.facts().started_s, seconds_now());
        let at = "cn=Time,cn=Monitor";
        for (name, seconds) in [("Start", start), ("Current", now)] {
            let stamp = self.entry("monitoredObject", name, at);
            out.push(stamp.with("monitorTimestamp", [generalized(seconds)]));
        }
        let uptime = now.saturating_sub(start).to_string();
        out.push(
            self.entry("monitoredObject", "Uptime", at)
                .with("monitoredInfo", [uptime]),
        );
    }
}
