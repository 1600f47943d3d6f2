//! The branches of `cn=Monitor`, and the whole tree.

use fulgurite_directory::{TreeEntry, TreeSource};

use super::figures::{Monitor, SUFFIX};

/// A branch: its name, its description, and the function that makes its entries.
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
        Monitor::log,
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
        Monitor::certificate,
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
    /// Returns all figures as lines for a log.
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
            // The request is for the whole tree or for this branch.
            let own = format!("cn={},cn=monitor", name.to_ascii_lowercase());
            if own.ends_with(base) || base.ends_with(&own) {
                fill(self, &mut entries);
            }
        }
        entries.extend(self.backups(base));
        entries.extend(self.cluster(base));
        entries.extend(self.searches(base));
        entries
    }

    fn end(&self, entry: &str, is_trial: bool) -> bool {
        self.end_activity(entry, is_trial)
    }
}
