//! The counters of cn=Monitor at one moment.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::bail;
use fulgurite_client::monitored::{count, fact, facts, number, numbers};
use fulgurite_client::names::{first_part, parent};
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
    /// The operations that have been under way for a while.
    pub(super) lasting: Vec<LastingOperation>,
    /// The searches that lack an index or took long, the most costly first.
    pub(super) slow: Vec<SlowSearch>,
}

/// An operation that has been under way for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LastingOperation {
    /// The numbers of its connection and of itself: `7/5`.
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) since: String,
    /// The filter of a search; empty for others.
    pub(super) filter: String,
    /// Entries that a search has looked at.
    pub(super) examined: u64,
}

/// A kind of searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SlowSearch {
    pub(super) database: String,
    pub(super) filter: String,
    pub(super) plan: String,
    pub(super) count: u64,
    pub(super) examined: u64,
    pub(super) returned: u64,
    /// The time of the longest, in milliseconds.
    pub(super) longest_ms: u64,
    pub(super) missing: Vec<String>,
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
            lasting: connections.iter().filter_map(lasting_of).collect(),
            slow: branch(client, "Searches", "(monitoredInfo=filter: *)")?
                .iter()
                .map(slow_of)
                .collect(),
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

/// Returns the operation of an entry; `None` for other entries.
fn lasting_of(entry: &Entry) -> Option<LastingOperation> {
    let kind = fact(entry, "kind")?;
    let number_in = |dn: &str| numbers(&first_part(dn)?.1).first().copied();
    let connection = number_in(&parent(&entry.dn)?)?;
    let text = |name: &str| fact(entry, name).unwrap_or_default();
    Some(LastingOperation {
        id: format!("{connection}/{}", number_in(&entry.dn)?),
        kind,
        state: text("state"),
        since: text("since"),
        filter: text("filter"),
        examined: count(entry, "looked at").unwrap_or(0),
    })
}

fn slow_of(entry: &Entry) -> SlowSearch {
    let text = |name: &str| fact(entry, name).unwrap_or_default();
    let longest = numbers(&text("longest")).first().copied();
    SlowSearch {
        database: text("database"),
        filter: text("filter"),
        plan: text("plan"),
        count: count(entry, "count").unwrap_or(0),
        examined: count(entry, "looked at").unwrap_or(0),
        returned: count(entry, "returned").unwrap_or(0),
        longest_ms: longest.unwrap_or(0),
        missing: facts(entry, "missing index"),
    }
}
