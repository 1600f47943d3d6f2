//! The counters of one worker, and their sums.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fulgurite_ldap::Operation;

use super::clock::StatisticsClock;
use super::connection::ConnectionCounters;
use super::counter::{Counter, lock};
use super::durations::{DurationCounters, DurationCounts};
use super::results::{Outcome, OutcomeCounters, outcome_names};

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

/// Returns the name of an operation.
pub(crate) fn operation_name(operation: Operation) -> &'static str {
    OPERATIONS
        .get(place(operation))
        .map_or("Unknown", |(name, _)| name)
}

/// Returns the place of an operation in [`OPERATIONS`].
const fn place(operation: Operation) -> usize {
    match operation {
        Operation::Bind => 0,
        Operation::Unbind => 1,
        Operation::Search => 2,
        Operation::Compare => 3,
        Operation::Modify => 4,
        Operation::ModifyDn => 5,
        Operation::Add => 6,
        Operation::Delete => 7,
        Operation::Abandon => 8,
        Operation::Extended => 9,
    }
}

/// Numbers of one worker.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    kinds: [KindCounters; OPERATIONS.len()],
    pub(super) bytes: Counter,
    pub(super) messages: Counter,
    pub(super) entries: Counter,
    pub(super) references: Counter,
    /// Candidates that searches have looked at.
    pub(super) candidates: Counter,
    /// Searches that looked at nearly all candidates in vain.
    pub(super) unselective: Counter,
    pub(super) tls_failures: Counter,
    pub(super) passwords_queued: Counter,
    pub(super) passwords_refused: Counter,
    pub(super) binds_delayed: Counter,
}

/// Numbers of one kind of operations.
#[derive(Debug, Default)]
struct KindCounters {
    initiated: Counter,
    completed: Counter,
    durations: DurationCounters,
    outcomes: OutcomeCounters,
    /// Operations of this round whose time is still to be counted.
    unsettled: Counter,
}

/// Sums of the numbers of all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) initiated: [u64; OPERATIONS.len()],
    pub(crate) completed: [u64; OPERATIONS.len()],
    pub(crate) durations: [DurationCounts; OPERATIONS.len()],
    /// Each in the order of [`outcome_names`].
    pub(crate) outcomes: [Vec<u64>; OPERATIONS.len()],
    pub(crate) bytes: u64,
    pub(crate) messages: u64,
    pub(crate) entries: u64,
    pub(crate) references: u64,
    pub(crate) candidates: u64,
    pub(crate) unselective: u64,
    pub(crate) tls_failures: u64,
    pub(crate) passwords_queued: u64,
    pub(crate) passwords_refused: u64,
    pub(crate) binds_delayed: u64,
}

/// The counters and connections of one worker.
#[derive(Debug)]
pub(crate) struct WorkerStatistics {
    pub(super) counters: Counters,
    pub(super) clock: StatisticsClock,
    /// The time of the last round's begin.
    round: AtomicU64,
    /// 1 during a round, 0 while the worker waits for events.
    in_round: AtomicU64,
    /// A bit for each kind with unsettled operations.
    unsettled: AtomicU64,
    pub(super) connections: Mutex<BTreeMap<u64, Arc<ConnectionCounters>>>,
}

impl WorkerStatistics {
    pub(super) fn new(clock: StatisticsClock) -> WorkerStatistics {
        WorkerStatistics {
            counters: Counters::default(),
            clock,
            round: AtomicU64::new(clock.now()),
            in_round: AtomicU64::new(0),
            unsettled: AtomicU64::new(0),
            connections: Mutex::default(),
        }
    }

    /// Records that events have come, or that the worker has work left.
    pub(crate) fn begin_round(&self, now: Instant) {
        self.round.store(self.clock.at(now), Ordering::Relaxed);
        self.in_round.store(1, Ordering::Relaxed);
    }

    /// Records that the worker waits for events.
    pub(crate) fn end_round(&self) {
        self.settle();
        self.in_round.store(0, Ordering::Relaxed);
    }

    /// Returns how long the present round has lasted; zero between rounds.
    pub(super) fn busy_for(&self) -> Duration {
        match self.in_round.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            _ => self.clock.since(self.round()),
        }
    }

    /// Returns the time of the last round's begin.
    pub(super) fn round(&self) -> u64 {
        self.round.load(Ordering::Relaxed)
    }

    /// Removes a connection.
    pub(crate) fn close(&self, id: u64) {
        lock(&self.connections).remove(&id);
    }

    pub(super) fn initiated(&self, operation: Operation) {
        if let Some(kind) = self.counters.kinds.get(place(operation)) {
            kind.initiated.add(1);
        }
    }

    /// Counts the end of an operation that has lasted since a time of the clock.
    ///
    /// Its response goes out at the end of the turn. So the turns of a round need one look at the
    /// clock each, however many operations they end.
    pub(super) fn completed(&self, operation: Operation, since: u64, outcome: Outcome) {
        let place = place(operation);
        let Some(kind) = self.counters.kinds.get(place) else {
            return;
        };
        kind.completed.add(1);
        kind.outcomes.add(outcome);
        if since == self.round() {
            kind.unsettled.add(1);
            let bits = self.unsettled.load(Ordering::Relaxed) | 1 << place;
            self.unsettled.store(bits, Ordering::Relaxed);
        } else {
            kind.durations
                .add(self.clock.now().saturating_sub(since), 1);
        }
    }

    /// Counts the time of the operations that have ended since the last call. A worker calls this
    /// before it sends responses.
    pub(crate) fn settle(&self) {
        let mut bits = self.unsettled.load(Ordering::Relaxed);
        if bits == 0 {
            return;
        }
        self.unsettled.store(0, Ordering::Relaxed);
        let took = self.clock.now().saturating_sub(self.round());
        while bits != 0 {
            if let Some(kind) = self.counters.kinds.get(bits.trailing_zeros() as usize) {
                kind.durations.add(took, kind.unsettled.take());
            }
            bits &= bits - 1;
        }
    }

    /// Counts a password that waits for the hashing pool.
    pub(crate) fn password_queued(&self) {
        self.counters.passwords_queued.add(1);
    }

    /// Counts a password that the full queue of the hashing pool has refused.
    pub(crate) fn password_refused(&self) {
        self.counters.passwords_refused.add(1);
    }

    /// Counts a bind whose answer is held after failed ones.
    pub(crate) fn bind_delayed(&self) {
        self.counters.binds_delayed.add(1);
    }

    /// Adds the counters to sums.
    pub(super) fn add_to(&self, totals: &mut Totals) {
        let counters = &self.counters;
        let sums = totals.initiated.iter_mut().zip(&mut totals.completed);
        let sums = sums.zip(totals.durations.iter_mut().zip(&mut totals.outcomes));
        for (kind, ((initiated, completed), (durations, outcomes))) in
            counters.kinds.iter().zip(sums)
        {
            *initiated += kind.initiated.get();
            *completed += kind.completed.get();
            kind.durations.add_to(durations);
            kind.outcomes.add_to(outcomes);
        }
        totals.bytes += counters.bytes.get();
        totals.messages += counters.messages.get();
        totals.entries += counters.entries.get();
        totals.references += counters.references.get();
        totals.candidates += counters.candidates.get();
        totals.unselective += counters.unselective.get();
        totals.tls_failures += counters.tls_failures.get();
        totals.passwords_queued += counters.passwords_queued.get();
        totals.binds_delayed += counters.binds_delayed.get();
        totals.passwords_refused += counters.passwords_refused.get();
    }
}

impl Totals {
    /// Returns sums of nothing.
    pub(super) fn zero() -> Totals {
        let names = outcome_names().count();
        Totals {
            outcomes: std::array::from_fn(|_| vec![0; names]),
            ..Totals::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_their_places() {
        for (at, (name, operation)) in OPERATIONS.into_iter().enumerate() {
            assert_eq!(place(operation), at, "{name}");
        }
    }
}
