//! The figures that the monitor shows, and the attributes that all its entries share.

use std::sync::Arc;

use fulgurite_directory::{Timestamp, TreeEntry};
use fulgurite_store::Store;

use crate::replication_status::ReplicationStatus;
use crate::statistics::Statistics;

/// The name of the top entry.
pub(crate) const SUFFIX: &str = "cn=Monitor";

/// Generates the entries of `cn=Monitor`.
pub struct Monitor {
    pub(super) statistics: Arc<Statistics>,
    pub(super) databases: Vec<MonitoredDatabase>,
}

/// A database as the monitor shows it.
#[derive(Clone, Debug)]
pub struct MonitoredDatabase {
    /// Its backend.
    pub kind: MonitoredKind,
    /// Its suffixes.
    pub suffixes: Vec<String>,
    /// True if it is glued to the database above it.
    pub glued: bool,
    /// True if it refuses updates.
    pub read_only: bool,
    /// True if the monitor shows it.
    pub shown: bool,
    /// True if it is a copy that clients may not update.
    pub shadow: bool,
    /// The URLs that clients are sent to with updates.
    pub update_refs: Vec<String>,
}

/// The backend of a database.
#[derive(Clone, Debug)]
pub enum MonitoredKind {
    /// A store.
    Store(Arc<Store>),
    /// The monitor itself.
    Monitor,
    /// The configuration.
    Config,
}

impl MonitoredKind {
    pub(super) fn name(&self) -> &'static str {
        match self {
            MonitoredKind::Store(_) => "mdb",
            MonitoredKind::Monitor => "monitor",
            MonitoredKind::Config => "config",
        }
    }
}

impl Monitor {
    /// Makes the monitor of a server with these databases, in the order of their configuration.
    #[must_use]
    pub fn new(statistics: Arc<Statistics>, databases: Vec<MonitoredDatabase>) -> Monitor {
        Monitor {
            statistics,
            databases,
        }
    }

    /// Returns the states of the consumers.
    pub(crate) fn replication(&self) -> Arc<ReplicationStatus> {
        self.statistics.replication()
    }

    /// Returns the end of the certificate in force, in seconds since 1970.
    pub(crate) fn certificate_end_s(&self) -> Option<u64> {
        self.statistics.certificate_end_s()
    }

    /// Makes an entry with the attributes that every entry of the monitor has.
    pub(super) fn entry(&self, class: &str, name: &str, above: &str) -> TreeEntry {
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

    pub(super) fn counter(&self, name: &str, above: &str, count: u64) -> TreeEntry {
        let entry = self.entry("monitorCounterObject", name, above);
        entry.with("monitorCounter", [count.to_string()])
    }
}

impl std::fmt::Debug for Monitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Monitor").finish_non_exhaustive()
    }
}

/// Formats seconds since 1970 as a Generalized Time.
pub(super) fn generalized(seconds: u64) -> String {
    Timestamp(seconds.saturating_mul(1_000_000)).generalized()
}
