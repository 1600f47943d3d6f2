//! Counters of the server.
//!
//! ```text
//!   worker 0: Counters   worker 1: Counters ...     each has its own writer and cache lines
//!        \                   /
//!         Statistics::totals                        summed when somebody asks
//! ```
//! Counting costs a worker one load and one store of memory that no other thread writes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fulgurite_directory::Connection;
use fulgurite_ldap::Operation;

use crate::replication_status::ReplicationStatus;

/// The counted operations, in the order of their entries.
pub(crate) const OPERATIONS: [(&str, Operation); 10] = [
    ("Bind", Operation::Bind),
    ("Unbind", Operation::Unbind),
    ("Search", Operation::Search),
    ("Compare", Operation::Compare),
    ("Modify", Operation::Modify),
    ("Modrdn", Operation::ModifyDn),
    ("Add", Operation::Add),
    ("Delete", Operation::Delete),
    ("Abandon", Operation::Abandon),
    ("Extended", Operation::Extended),
];

/// The counters of one server, shared between its threads and the monitor.
#[derive(Debug, Default)]
pub struct Statistics {
    workers: Mutex<Vec<Arc<WorkerStatistics>>>,
    /// Accepted connections; written by the acceptor.
    accepted: Counter,
    facts: Mutex<ServerInfo>,
    /// The consumers of other servers.
    replication: Arc<ReplicationStatus>,
}

/// Facts that do not change while a server runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerInfo {
    /// Seconds since 1970; zero before it runs.
    pub(crate) started_s: u64,
    /// URL and local address of each listener.
    pub(crate) listeners: Vec<(String, String)>,
    pub(crate) connections_max: u64,
    pub(crate) threads: u64,
}

/// A number that one thread increases and all threads may read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

/// Numbers of one worker.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) initiated: [Counter; OPERATIONS.len()],
    pub(crate) completed: [Counter; OPERATIONS.len()],
    pub(crate) bytes: Counter,
    pub(crate) messages: Counter,
    pub(crate) entries: Counter,
    pub(crate) references: Counter,
}

/// Sums of the numbers of all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) initiated: [u64; OPERATIONS.len()],
    pub(crate) completed: [u64; OPERATIONS.len()],
    pub(crate) bytes: u64,
    pub(crate) messages: u64,
    pub(crate) entries: u64,
    pub(crate) references: u64,
}

/// The counters and connections of one worker.
#[derive(Debug, Default)]
pub(crate) struct WorkerStatistics {
    pub(crate) counters: Counters,
    connections: Mutex<BTreeMap<u64, Arc<ConnectionCounters>>>,
}

/// Numbers of one connection, written by its worker.
#[derive(Debug)]
pub(crate) struct ConnectionCounters {
    /// Facts about the connection, and the name of its identity.
    pub(crate) about: Mutex<(Arc<Connection>, String)>,
    /// Protocol version of the last bind.
    pub(crate) version: AtomicU8,
    pub(crate) started_s: u64,
    pub(crate) active_s: AtomicU64,
    pub(crate) received: Counter,
    pub(crate) completed: Counter,
    pub(crate) executing: AtomicU64,
    pub(crate) pending: AtomicU64,
    pub(crate) reads: Counter,
    /// Number of times that the server had to wait for the client.
    pub(crate) write_waits: Counter,
    /// 1 while the server waits for the client.
    pub(crate) waits_to_write: AtomicU8,
}

/// The counters in which a session counts.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    pub(crate) worker: Arc<WorkerStatistics>,
    pub(crate) connection: Arc<ConnectionCounters>,
}

impl Counter {
    /// Adds to the counter. Only the thread that owns the counter may call this.
    pub(crate) fn add(&self, count: u64) {
        let sum = self.0.load(Ordering::Relaxed).wrapping_add(count);
        self.0.store(sum, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Statistics {
    /// Sets the facts at the start of the server.
    pub(crate) fn begin(&self, facts: ServerInfo) {
        *lock(&self.facts) = facts;
    }

    pub(crate) fn replication(&self) -> Arc<ReplicationStatus> {
        Arc::clone(&self.replication)
    }

    pub(crate) fn facts(&self) -> ServerInfo {
        lock(&self.facts).clone()
    }

    /// Adds a worker.
    pub(crate) fn worker(&self) -> Arc<WorkerStatistics> {
        let worker = Arc::<WorkerStatistics>::default();
        lock(&self.workers).push(Arc::clone(&worker));
        worker
    }

    /// Counts a connection, for the acceptor.
    pub(crate) fn accepted(&self) {
        self.accepted.add(1);
    }

    pub(crate) fn connections_total(&self) -> u64 {
        self.accepted.get()
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for worker in lock(&self.workers).iter() {
            let counters = &worker.counters;
            for (sum, counter) in totals.initiated.iter_mut().zip(&counters.initiated) {
                *sum += counter.get();
            }
            for (sum, counter) in totals.completed.iter_mut().zip(&counters.completed) {
                *sum += counter.get();
            }
            totals.bytes += counters.bytes.get();
            totals.messages += counters.messages.get();
            totals.entries += counters.entries.get();
            totals.references += counters.references.get();
        }
        totals
    }

    /// Returns the open connections by number.
    pub(crate) fn connections(&self) -> BTreeMap<u64, Arc<ConnectionCounters>> {
        let workers = lock(&self.workers);
        let each = workers
            .iter()
            .map(|worker| lock(&worker.connections).clone());
        each.flatten().collect()
    }
}

impl WorkerStatistics {
    /// Adds a connection.
    pub(crate) fn open(self: &Arc<Self>, facts: &Arc<Connection>) -> Meter {
        let now = seconds_now();
        let figures = Arc::new(ConnectionCounters {
            about: Mutex::new((Arc::clone(facts), String::new())),
            version: AtomicU8::new(3),
            started_s: now,
            active_s: AtomicU64::new(now),
            received: Counter::default(),
            completed: Counter::default(),
            executing: AtomicU64::new(0),
            pending: AtomicU64::new(0),
            reads: Counter::default(),
            write_waits: Counter::default(),
            waits_to_write: AtomicU8::new(0),
        });
        lock(&self.connections).insert(facts.id, Arc::clone(&figures));
        Meter {
            worker: Arc::clone(self),
            connection: figures,
        }
    }

    /// Removes a connection.
    pub(crate) fn close(&self, id: u64) {
        lock(&self.connections).remove(&id);
    }
}

impl Meter {
    pub(crate) fn initiated(&self, operation: Operation) {
        if let Some(counter) =
            index(operation).and_then(|at| self.worker.counters.initiated.get(at))
        {
            counter.add(1);
        }
        self.connection.received.add(1);
    }

    pub(crate) fn completed(&self, operation: Operation) {
        if let Some(counter) =
            index(operation).and_then(|at| self.worker.counters.completed.get(at))
        {
            counter.add(1);
        }
        self.connection.completed.add(1);
    }

    /// Counts written responses: entries and references of a search, and results.
    pub(crate) fn wrote(&self, entries: u64, references: u64, results: u64) {
        let counters = &self.worker.counters;
        counters.entries.add(entries);
        counters.references.add(references);
        counters.messages.add(entries + references + results);
    }

    /// Records the numbers of running and waiting operations.
    pub(crate) fn outstanding(&self, executing: usize, pending: usize) {
        let store = |to: &AtomicU64, count: usize| to.store(count as u64, Ordering::Relaxed);
        store(&self.connection.executing, executing);
        store(&self.connection.pending, pending);
    }

    /// Records the number of running operations when one begins.
    pub(crate) fn executing(&self, count: usize) {
        self.connection
            .executing
            .store(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) {
        self.connection.reads.add(1);
        self.connection
            .active_s
            .store(seconds_now(), Ordering::Relaxed);
    }

    /// Counts bytes that the client's socket has taken. `waits` is true if it takes no more for
    /// now.
    pub(crate) fn sent(&self, bytes: usize, waits: bool) {
        self.worker.counters.bytes.add(bytes as u64);
        let before = self.connection.waits_to_write.load(Ordering::Relaxed);
        if waits && before == 0 {
            self.connection.write_waits.add(1);
        }
        if u8::from(waits) != before {
            self.connection
                .waits_to_write
                .store(waits.into(), Ordering::Relaxed);
        }
    }

    /// Records the name of the connection's new identity.
    pub(crate) fn bound(&self, name: String) {
        lock(&self.connection.about).1 = name;
    }

    /// Records the client that a load balancer has named.
    pub(crate) fn introduced(&self, facts: Arc<Connection>) {
        self.secured(facts);
    }

    /// Records new facts about the connection.
    pub(crate) fn secured(&self, facts: Arc<Connection>) {
        lock(&self.connection.about).0 = facts;
    }
}

fn index(operation: Operation) -> Option<usize> {
    OPERATIONS.iter().position(|(_, of)| *of == operation)
}

pub(crate) fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Locks a mutex. A poisoned one is safe to use, because each holder leaves complete values.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_workers_are_summed() {
        let statistics = Statistics::default();
        for number in 1..=2 {
            let worker = statistics.worker();
            let facts = Arc::new(Connection {
                id: number,
                ..Connection::default()
            });
            let meter = worker.open(&facts);
            meter.initiated(Operation::Search);
            meter.completed(Operation::Search);
            meter.wrote(5, 1, 1);
            meter.sent(100 * number as usize, number == 2);
        }
        let totals = statistics.totals();
        assert_eq!(
            (
                totals.initiated[2],
                totals.completed[2],
                totals.initiated[0]
            ),
            (2, 2, 0)
        );
        assert_eq!(
            (totals.entries, totals.references, totals.messages),
            (10, 2, 14)
        );
        assert_eq!(totals.bytes, 300);
        let connections = statistics.connections();
        assert_eq!(connections.keys().copied().collect::<Vec<_>>(), [1, 2]);
        let waits = |id: u64| connections[&id].waits_to_write.load(Ordering::Relaxed);
        assert_eq!((waits(1), waits(2)), (0, 1));
    }
}
