//! `cn=Monitor`: the server's own figures as entries, under the names that exporters of slapd's
//! know.
//!
//! ```text
//!   cn=Monitor ─┬─ cn=Backends     ├─ cn=Operations    cn=Bind ... initiated, completed
//!               ├─ cn=Connections  ├─ cn=Overlays
//!               ├─ cn=Databases    ├─ cn=SASL, cn=TLS
//!               ├─ cn=Listeners    ├─ cn=Statistics    cn=Bytes, cn=PDU, cn=Entries, cn=Referrals
//!               └─ cn=Log          └─ cn=Threads, cn=Time, cn=Waiters
//! ```
//! With backups there is cn=Backups, too, with slow searches cn=Searches, and in a cluster
//! cn=Cluster. Each search generates the entries anew, and only those of the requested branch.

mod backups;
mod certificate;
mod cluster;
mod connections;
mod consumers;
mod counters;
mod databases;
mod figures;
mod log;
mod searches;
mod threads;
mod tree;

#[cfg(test)]
mod tests;

pub use figures::{Monitor, MonitoredDatabase, MonitoredKind};
