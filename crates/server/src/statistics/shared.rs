//! The counters of one server, shared between its threads and those who ask.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use fulgurite_directory::SlowSearches;

use super::certificate::CertificateEnd;
use super::clock::{StatisticsClock, seconds_now};
use super::cluster::{ClusterFigures, ClusterSource};
use super::connection::ConnectionCounters;
use super::counter::{Counter, lock};
use super::counters::{Totals, WorkerStatistics};
use super::durations::DurationCounts;
use super::hashing::HashingStatistics;
use crate::backup_status::BackupStatus;
use crate::replication_status::ReplicationStatus;

/// The counters of one server, shared between its threads and the monitor.
#[derive(Debug, Default)]
pub struct Statistics {
    clock: StatisticsClock,
    workers: Mutex<Vec<Arc<WorkerStatistics>>>,
    hashing: Mutex<Vec<Arc<HashingStatistics>>>,
    /// The lengths of the writers' queues, with the updates that they are applying.
    queues: Mutex<Vec<Arc<AtomicUsize>>>,
    /// Accepted connections; written by the acceptor.
    accepted: Counter,
    /// Refused connections; written by the acceptor.
    refused: Counter,
    facts: Mutex<ServerInfo>,
    /// The consumers of other servers.
    replication: Arc<ReplicationStatus>,
    /// The backups that the server makes by itself.
    backups: Arc<BackupStatus>,
    /// Searches that looked at many entries in vain, or took long.
    slow_searches: SlowSearches,
    certificate_end: OnceLock<CertificateEnd>,
    /// The node of a cluster that the server is.
    cluster: OnceLock<ClusterSource>,
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

/// The work of the hashing pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HashingTotals {
    pub(crate) threads: u64,
    /// Passwords that threads are working on.
    pub(crate) busy: u64,
    /// Passwords that wait.
    pub(crate) waiting: u64,
    pub(crate) durations: DurationCounts,
}

impl Statistics {
    /// Sets the facts at the start of the server.
    pub(crate) fn begin(&self, facts: ServerInfo) {
        *lock(&self.facts) = facts;
    }

    pub(crate) fn replication(&self) -> Arc<ReplicationStatus> {
        Arc::clone(&self.replication)
    }

    pub(crate) fn backups(&self) -> Arc<BackupStatus> {
        Arc::clone(&self.backups)
    }

    /// Sets the source of the certificate's end, once.
    pub(crate) fn set_certificate_end(&self, source: CertificateEnd) {
        let set = self.certificate_end.set(source);
        debug_assert!(set.is_ok(), "a server has one place of its certificate");
    }

    /// Returns the end of the certificate in force, in seconds since 1970.
    pub(crate) fn certificate_end_s(&self) -> Option<u64> {
        self.certificate_end.get()?.get()
    }

    /// Sets the source of the figures of a cluster's node.
    pub(crate) fn set_cluster(&self, source: ClusterSource) {
        // A server becomes a node once.
        let _ = self.cluster.set(source);
    }

    /// Returns the figures of the node; `None` for a server that is alone.
    pub(crate) fn cluster(&self) -> Option<ClusterFigures> {
        self.cluster.get().map(ClusterSource::get)
    }

    pub(crate) fn slow_searches(&self) -> &SlowSearches {
        &self.slow_searches
    }

    pub(crate) fn facts(&self) -> ServerInfo {
        lock(&self.facts).clone()
    }

    /// Adds a worker.
    pub(crate) fn worker(&self) -> Arc<WorkerStatistics> {
        let worker = Arc::new(WorkerStatistics::new(self.clock));
        lock(&self.workers).push(Arc::clone(&worker));
        worker
    }

    /// Adds a thread of the hashing pool.
    pub(crate) fn hashing_thread(&self) -> Arc<HashingStatistics> {
        let thread = Arc::<HashingStatistics>::default();
        lock(&self.hashing).push(Arc::clone(&thread));
        thread
    }

    /// Adds the length of a writer's queue.
    pub(crate) fn queue(&self, len: Arc<AtomicUsize>) {
        lock(&self.queues).push(len);
    }

    /// Counts a connection, for the acceptor.
    pub(crate) fn accepted(&self) {
        self.accepted.add(1);
    }

    /// Counts a refused connection, for the acceptor.
    pub(crate) fn refused(&self) {
        self.refused.add(1);
    }

    pub(crate) fn connections_total(&self) -> u64 {
        self.accepted.get()
    }

    pub(crate) fn connections_refused(&self) -> u64 {
        self.refused.get()
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::zero();
        for worker in lock(&self.workers).iter() {
            worker.add_to(&mut totals);
        }
        totals
    }

    pub(crate) fn hashing_totals(&self, queued: u64) -> HashingTotals {
        let mut totals = HashingTotals::default();
        let mut taken = 0;
        for thread in lock(&self.hashing).iter() {
            totals.threads += 1;
            // In this order, a password that ends meanwhile makes no difference below zero.
            let done = thread.done.get();
            let began = thread.taken.get();
            totals.busy += began.saturating_sub(done);
            taken += began;
            thread.durations.add_to(&mut totals.durations);
        }
        totals.waiting = queued.saturating_sub(taken);
        totals
    }

    /// Returns the number of updates that wait for writers, or that these are applying.
    pub(crate) fn updates_queued(&self) -> u64 {
        let queues = lock(&self.queues);
        let lengths = queues.iter().map(|len| len.load(Ordering::Relaxed) as u64);
        lengths.sum()
    }

    /// Returns the longest time that a worker has not looked for events.
    pub(crate) fn workers_busy_for(&self) -> Duration {
        let workers = lock(&self.workers);
        let busy = workers.iter().map(|worker| worker.busy_for());
        busy.max().unwrap_or_default()
    }

    /// Returns a time of the clock in seconds since 1970.
    pub(crate) fn seconds_at(&self, time: u64) -> u64 {
        seconds_now().saturating_sub(self.clock.since(time).as_secs())
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use fulgurite_directory::Connection;
    use fulgurite_ldap::Operation;

    use super::super::{Outcome, SearchWork};
    use super::*;

    #[test]
    fn numbers_of_all_workers_are_summed() {
        let statistics = Statistics::default();
        for number in 1..=2 {
            let worker = statistics.worker();
            worker.begin_round(Instant::now());
            let facts = Arc::new(Connection {
                id: number,
                ..Connection::default()
            });
            let meter = worker.open(&facts);
            meter.initiated(Operation::Search);
            meter.searched(SearchWork {
                entries: 5,
                references: 1,
                candidates: 999 * number,
            });
            meter.wrote_result();
            meter.completed(Operation::Search, meter.round(), Outcome::Code(32));
            meter.completed(Operation::Bind, 0, Outcome::Code(0));
            worker.settle();
            worker.settle();
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
        assert_eq!((totals.candidates, totals.unselective), (2997, 1));
        assert_eq!(totals.outcomes[2][32], 2);
        assert_eq!(totals.outcomes[2].iter().sum::<u64>(), 2);
        for kind in [0, 2] {
            assert_eq!(totals.durations[kind].classes.iter().sum::<u64>(), 2);
        }
        assert_eq!(totals.bytes, 300);
        let connections = statistics.connections();
        assert_eq!(connections.keys().copied().collect::<Vec<_>>(), [1, 2]);
        let waits = |id: u64| connections[&id].waits_to_write.load(Ordering::Relaxed);
        assert_eq!((waits(1), waits(2)), (0, 1));
    }

    #[test]
    fn the_pool_tells_waiting_from_busy() {
        let statistics = Statistics::default();
        let (one, two) = (statistics.hashing_thread(), statistics.hashing_thread());
        one.took();
        one.finished(Duration::from_millis(20));
        two.took();
        let totals = statistics.hashing_totals(5);
        assert_eq!((totals.threads, totals.busy, totals.waiting), (2, 1, 3));
        assert_eq!(totals.durations.total, Duration::from_millis(20));
    }

    #[test]
    fn a_worker_is_busy_during_its_rounds_only() {
        let statistics = Statistics::default();
        let worker = statistics.worker();
        assert_eq!(statistics.workers_busy_for(), Duration::ZERO);
        worker.begin_round(Instant::now());
        std::thread::sleep(Duration::from_millis(1));
        assert!(statistics.workers_busy_for() >= Duration::from_millis(1));
        worker.end_round();
        assert_eq!(statistics.workers_busy_for(), Duration::ZERO);
    }
}
