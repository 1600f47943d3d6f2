//! `cn=Monitor`: the server's own figures as entries, under the names that exporters of slapd's know.
//!
//! ```text
//!   cn=Monitor ─┬─ cn=Backends     ├─ cn=Operations    cn=Bind ... monitorOpInitiated, monitorOpCompleted
//!               ├─ cn=Connections  ├─ cn=Overlays
//!               ├─ cn=Databases    ├─ cn=SASL, cn=TLS
//!               ├─ cn=Listeners    ├─ cn=Statistics    cn=Bytes, cn=PDU, cn=Entries, cn=Referrals
//!               └─ cn=Log          └─ cn=Threads, cn=Time, cn=Waiters
//! ```
//! Entries are made up when somebody asks, and only in the branch asked for.

mod connections;
mod databases;
mod threads;

use std::sync::Arc;

use fulgurite_directory::{Timestamp, TreeEntry, TreeSource};

use crate::statistics::{OPERATIONS, Statistics, seconds_now};

pub use databases::{MonitoredDatabase, MonitoredKind};

/// The name at the top.
pub(crate) const SUFFIX: &str = "cn=Monitor";

/// Makes up the entries of `cn=Monitor`.
pub struct Monitor {
    statistics: Arc<Statistics>,
    databases: Vec<MonitoredDatabase>,
}

/// A branch: its name, what it is, and what makes its entries.
type Branch = (
    &'static str,
    &'static [&'static str],
    fn(&Monitor, &mut Vec<TreeEntry>),
);

const BRANCHES: [Branch; 13] = [
    (
        "Backends",
        &["This subsystem contains information about available backends."],
        Monitor::backends,
    ),
    (
        "Connections",
        &["This subsystem contains information about connections."],
        Monitor::connections,
    ),
    (
        "Databases",
        &["This subsystem contains information about configured databases."],
        Monitor::databases,
    ),
    (
        "Listeners",
        &["This subsystem contains information about active listeners."],
        Monitor::listeners,
    ),
    (
        "Log",
        &["This subsystem contains information about logging."],
        Monitor::nothing,
    ),
    (
        "Operations",
        &["This subsystem contains information about performed operations."],
        Monitor::operations,
    ),
    (
        "Overlays",
        &["This subsystem contains information about available overlays."],
        Monitor::overlays,
    ),
    (
        "SASL",
        &["This subsystem contains information about SASL."],
        Monitor::nothing,
    ),
    (
        "Statistics",
        &["This subsystem contains statistics."],
        Monitor::statistics,
    ),
    (
        "TLS",
        &["This subsystem contains information about TLS."],
        Monitor::nothing,
    ),
    (
        "Threads",
        &["This subsystem contains information about threads."],
        Monitor::threads,
    ),
    (
        "Time",
        &["This subsystem contains information about time."],
        Monitor::time,
    ),
    (
        "Waiters",
        &["This subsystem contains information about read/write waiters."],
        Monitor::waiters,
    ),
];

impl Monitor {
    /// Shows what a server counts and the databases it has, in the order of their configuration.
    #[must_use]
    pub fn new(statistics: Arc<Statistics>, databases: Vec<MonitoredDatabase>) -> Monitor {
        Monitor {
            statistics,
            databases,
        }
    }

    /// Everything, as lines for a log.
    #[must_use]
    pub fn dump(&self) -> Vec<String> {
        let entries = self.entries("").into_iter();
        let line = |entry: TreeEntry| {
            let values = entry.attributes.iter().filter(|(name, _)| {
                ![
                    "objectClass",
                    "cn",
                    "structuralObjectClass",
                    "description",
                    "creatorsName",
                    "modifiersName",
                    "createTimestamp",
                    "modifyTimestamp",
                    "seeAlso",
                    "supportedControl",
                ]
                .contains(&name.as_str())
            });
            let values = values.map(|(name, values)| {
                let texts = values.iter().map(|value| String::from_utf8_lossy(value));
                format!("{name}={}", texts.collect::<Vec<_>>().join(","))
            });
            let values: Vec<String> = values.collect();
            (!values.is_empty()).then(|| format!("{}: {}", entry.dn, values.join(" ")))
        };
        entries.filter_map(line).collect()
    }

    fn nothing(&self, _: &mut Vec<TreeEntry>) {}

    fn operations(&self, out: &mut Vec<TreeEntry>) {
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

    fn statistics(&self, out: &mut Vec<TreeEntry>) {
        let totals = self.statistics.totals();
        let at = "cn=Statistics,cn=Monitor";
        let growing = |name: &str, count, octets| {
            let entry = self.entry("monitorCounterObject", name, at);
            entry.counting_sent("monitorCounter", count, octets)
        };
        out.push(growing("Bytes", totals.octets, true));
        out.push(growing("PDU", totals.messages, false));
        out.push(growing("Entries", totals.entries, false));
        out.push(self.counter("Referrals", at, totals.references));
    }

    fn listeners(&self, out: &mut Vec<TreeEntry>) {
        for (number, (url, address)) in self.statistics.facts().listeners.iter().enumerate() {
            let name = format!("Listener {number}");
            out.push(
                self.entry("monitoredObject", &name, "cn=Listeners,cn=Monitor")
                    .with("monitorConnectionLocalAddress", [address.as_str()])
                    .with("labeledURI", [url.as_str()]),
            );
        }
    }

    fn time(&self, out: &mut Vec<TreeEntry>) {
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

    /// An entry with what every entry of the monitor has.
    fn entry(&self, class: &str, name: &str, above: &str) -> TreeEntry {
        let dn = if above.is_empty() {
            format!("cn={name}")
        } else {
            format!("cn={name},{above}")
        };
        let started = generalized(self.statistics.facts().started_s);
        TreeEntry::new(dn)
            .with("objectClass", [class])
            .with("structuralObjectClass", [class])
            .with("cn", [name])
            .with("creatorsName", [SUFFIX])
            .with("modifiersName", [SUFFIX])
            .with("createTimestamp", [started.clone()])
            .with("modifyTimestamp", [started])
    }

    fn counter(&self, name: &str, above: &str, count: u64) -> TreeEntry {
        let entry = self.entry("monitorCounterObject", name, above);
        entry.with("monitorCounter", [count.to_string()])
    }
}

impl TreeSource for Monitor {
    fn suffix(&self) -> &str {
        SUFFIX
    }

    fn entries(&self, base: &str) -> Vec<TreeEntry> {
        let top = self.entry("monitorServer", "Monitor", "");
        let version = concat!("Fulgurite ", env!("CARGO_PKG_VERSION"));
        let mut entries = vec![
            top.with(
                "description",
                [
                    "This subtree contains monitoring/managing objects.",
                    "This object contains information about this server.",
                    "Most of the information is held in operational attributes, which must be explicitly requested.",
                ],
            )
            .with("monitoredInfo", [version]),
        ];
        for (name, description, fill) in BRANCHES {
            let branch = self.entry("monitorContainer", name, SUFFIX);
            entries.push(branch.with("description", description.iter().copied()));
            // The whole tree, or this branch.
            let own = format!("cn={},cn=monitor", name.to_ascii_lowercase());
            if own.ends_with(base) || base.ends_with(&own) {
                fill(self, &mut entries);
            }
        }
        entries
    }
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").finish_non_exhaustive()
    }
}

/// Seconds since 1970 as a generalized time.
pub(crate) fn generalized(seconds: u64) -> String {
    Timestamp(seconds.saturating_mul(1_000_000)).generalized()
}

#[cfg(test)]
mod tests;
