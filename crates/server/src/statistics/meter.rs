//! The interface through which a session counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_directory::Connection;
use fulgurite_ldap::Operation;

use super::connection::ConnectionCounters;
use super::counter::lock;
use super::counters::WorkerStatistics;
use super::results::Outcome;

/// The counters in which a session counts.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    pub(crate) worker: Arc<WorkerStatistics>,
    pub(crate) connection: Arc<ConnectionCounters>,
}

/// The work of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchWork {
    /// Entries that it has returned.
    pub entries: u64,
    /// References that it has returned.
    pub references: u64,
    /// Candidates that it has looked at.
    pub candidates: u64,
}

/// A search that looks at fewer candidates is never unselective.
const UNSELECTIVE_MIN: u64 = 1000;

impl SearchWork {
    /// Returns true if nearly all candidates were looked at in vain: an index may be missing.
    fn is_unselective(self) -> bool {
        self.candidates >= UNSELECTIVE_MIN && self.candidates / 10 > self.entries
    }
}

impl WorkerStatistics {
    /// Adds a connection.
    pub(crate) fn open(self: &Arc<Self>, facts: &Arc<Connection>) -> Meter {
        let figures = Arc::new(ConnectionCounters::new(facts, self.round()));
        lock(&self.connections).insert(facts.id, Arc::clone(&figures));
        Meter {
            worker: Arc::clone(self),
            connection: figures,
        }
    }
}

impl Meter {
    /// Returns true if an administrator has closed the connection.
    pub(crate) fn is_unwanted(&self) -> bool {
        self.connection.is_unwanted()
    }

    /// Returns the time of the present round, by the clock of the statistics. The bytes of a
    /// request have come before.
    pub(crate) fn round(&self) -> u64 {
        self.worker.round()
    }

    pub(crate) fn initiated(&self, operation: Operation) {
        self.worker.initiated(operation);
        self.connection.received.add(1);
    }

    /// Counts the end of an operation that has lasted since a time of the clock.
    pub(crate) fn completed(&self, operation: Operation, since: u64, outcome: Outcome) {
        self.worker.completed(operation, since, outcome);
        self.connection.completed.add(1);
    }

    /// Counts a written result.
    pub(crate) fn wrote_result(&self) {
        self.worker.counters.messages.add(1);
    }

    /// Counts the work of a search, whose result counts separately.
    pub(crate) fn searched(&self, work: SearchWork) {
        let counters = &self.worker.counters;
        counters.entries.add(work.entries);
        counters.references.add(work.references);
        counters.messages.add(work.entries + work.references);
        counters.candidates.add(work.candidates);
        if work.is_unselective() {
            counters.unselective.add(1);
        }
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

    /// Counts a read from the client's socket.
    pub(crate) fn read(&self) {
        self.connection.reads.add(1);
        self.connection
            .active
            .store(self.round(), Ordering::Relaxed);
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

    /// Counts a failed negotiation of TLS.
    pub(crate) fn tls_failed(&self) {
        self.worker.counters.tls_failures.add(1);
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
