//! The counters of cn=Monitor at one moment.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::bail;
use fulgurite_client::{Client, Entry, Scope};

/// Counters at one moment.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    /// The kinds of operations in the server's order, with those begun and ended.
    pub(super) operations: Vec<(String, u64, u64)>,
    /// Bytes and entries that were sent.
    pub(super) sent: (u64, u64),
    /// The connections by their numbers.
    pub(super) clients: BTreeMap<u64, ClientCounters>,
    /// Connections since the start.
    pub(super) total: u64,
}

/// The counters of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClientCounters {
    pub(super) address: String,
    /// The identity; empty if anonymous.
    pub(super) identity: String,
    pub(super) since: String,
    pub(super) completed: u64,
    pub(super) executing: u64,
    pub(super) pending: u64,
    /// True if it does not read its answers.
    pub(super) is_stalled: bool,
}

impl Sample {
    /// Asks the server.
    pub(super) fn take(client: &mut Client) -> anyhow::Result<Sample> {
        let at = Instant::now();
        let operations = branch(client, "Operations", "(objectClass=monitorOperation)")?;
        if operations.is_empty() {
            bail!("cn=Monitor cannot be read: set monitor = true, and let this identity read it");
        }
        let operations = operations.iter().map(|entry| {
            let kind = entry.first("cn").unwrap_or_default();
            let (begun, ended) = ("monitorOpInitiated", "monitorOpCompleted");
            (kind, number(entry, begun), number(entry, ended))
        });
        let counters = branch(client, "Statistics", "(objectClass=monitorCounterObject)")?;
        let counter = |name: &str| {
            let mut counters = counters.iter();
            let found = counters.find(|entry| entry.first("cn").as_deref() == Some(name));
            found.map_or(0, |entry| number(entry, "monitorCounter"))
        };
        let sent = (counter("Bytes"), counter("Entries"));
        let operations = operations.collect();
        let connections = branch(client, "Connections", "(objectClass=*)")?;
        let total = connections.iter();
        let mut total = total.filter(|entry| entry.first("cn").as_deref() == Some("Total"));
        let clients = connections.iter().filter_map(|entry| {
            let id = entry.first("monitorConnectionNumber")?.parse().ok()?;
            Some((id, counters_of(entry)))
        });
        Ok(Sample {
            at,
            operations,
            sent,
            total: total
                .next()
                .map_or(0, |entry| number(entry, "monitorCounter")),
            clients: clients.collect(),
        })
    }
}

fn branch(client: &mut Client, name: &str, filter: &str) -> anyhow::Result<Vec<Entry>> {
    let base = format!("cn={name},cn=Monitor");
    let found = client.search(&base, Scope::Subtree, filter, &["*", "+"])?;
    Ok(found.entries)
}

fn counters_of(entry: &Entry) -> ClientCounters {
    let text = |name: &str| entry.first(name).unwrap_or_default();
    ClientCounters {
        address: text("monitorConnectionPeerAddress"),
        identity: text("monitorConnectionAuthzDN"),
        since: text("monitorConnectionStartTime"),
        completed: number(entry, "monitorConnectionOpsCompleted"),
        executing: number(entry, "monitorConnectionOpsExecuting"),
        pending: number(entry, "monitorConnectionOpsPending"),
        is_stalled: text("monitorConnectionMask").contains('w'),
    }
}

fn number(entry: &Entry, attribute: &str) -> u64 {
    let value = entry.first(attribute);
    value.and_then(|text| text.parse().ok()).unwrap_or(0)
}
