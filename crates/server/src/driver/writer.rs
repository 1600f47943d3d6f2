//! A thread that applies updates that have to wait for a disk or for another writer. Updates that
//! queue up while it is busy form one batch.
//!
//! A batch takes about a tenth of a second, as far as the previous one tells. If more updates wait,
//! each connection has an equal share of the batch. So a client with one update waits for two
//! batches, though another has thousands in the queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use fulgurite_ldap::MessageId;
use rustc_hash::FxHashMap;

use super::inbox::{ConnectionId, Response, WorkerHandle, WorkerMessage};
use crate::session::cancel_token::CancelToken;
use crate::session::handler::Handler;

/// The maximum of updates in one batch. A batch writes each page once, so a larger one costs less
/// for each update.
const BATCH_MAX: usize = 4096;

/// The number of updates that a batch may have, however long they take. Some share a commit.
const BATCH_MIN: usize = 512;

/// The number that it may have unless they take [`BATCH_TIME_MAX`]. Each batch writes again pages
/// of the one before. So small batches would make a busy machine even slower.
const BATCH_USUAL: usize = 2048;

/// The time that a batch should take at most.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// The time of a batch of usual size on a busy machine.
const BATCH_TIME_MAX: Duration = Duration::from_secs(1);

/// A batch that took at least this long waited for the disk. Then it pays to wait for more updates.
const WORTH_GATHERING: Duration = Duration::from_micros(500);

/// The divisor for the time that the writer waits for more updates: a tenth of the previous batch.
const GATHERING_SHARE: u32 = 10;

/// An update on its way.
pub(super) struct QueuedUpdate<U> {
    pub(super) origin: UpdateOrigin,
    pub(super) update: U,
}

/// The connection that gets the response to an update.
pub(super) struct UpdateOrigin {
    pub(super) worker: usize,
    pub(super) connection: ConnectionId,
    pub(super) id: MessageId,
    pub(super) token: CancelToken,
}

/// The sending end of a writer's queue.
pub(super) struct WriterHandle<U> {
    sender: Sender<QueuedUpdate<U>>,
    outstanding: Arc<AtomicUsize>,
}

/// The receiving end.
pub(super) struct Queue<U> {
    receiver: Receiver<QueuedUpdate<U>>,
    outstanding: Arc<AtomicUsize>,
}

/// Makes both ends.
pub(super) fn queue<U>() -> (WriterHandle<U>, Queue<U>) {
    // Unbounded, because sessions bound what they have outstanding.
    let (sender, receiver) = crossbeam_channel::unbounded();
    let outstanding = Arc::<AtomicUsize>::default();
    let handle = WriterHandle {
        sender,
        outstanding: Arc::clone(&outstanding),
    };
    let queue = Queue {
        receiver,
        outstanding,
    };
    (handle, queue)
}

impl UpdateOrigin {
    pub(super) fn response(&self, bytes: Vec<u8>) -> Response {
        Response {
            connection: self.connection,
            id: self.id,
            bytes,
        }
    }
}

impl<U> Clone for WriterHandle<U> {
    fn clone(&self) -> Self {
        WriterHandle {
            sender: self.sender.clone(),
            outstanding: Arc::clone(&self.outstanding),
        }
    }
}

impl<U> WriterHandle<U> {
    /// Returns the number of updates that wait or are being applied, for those who watch.
    pub(super) fn outstanding(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.outstanding)
    }

    pub(super) fn send(&self, queued: QueuedUpdate<U>) {
        self.outstanding.fetch_add(1, Ordering::Relaxed);
        // The writer outlives the workers.
        let _ = self.sender.send(queued);
    }

    /// Returns true if the writer has nothing to do. Then all updates that this thread has sent are
    /// done, and their responses are in its inbox.
    pub(super) fn is_idle(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) == 0
    }
}

/// Applies batches until all workers have ended.
pub(super) fn run<H: Handler>(handler: &H, queue: &Queue<H::Update>, workers: &[WorkerHandle<H>]) {
    let mut origins = Vec::new();
    let mut before = PreviousBatch::default();
    let mut waiting = VecDeque::new();
    loop {
        if waiting.is_empty() {
            let Ok(first) = queue.receiver.recv() else {
                break;
            };
            waiting.push_back(first);
        }
        let batch = before.gather(&queue.receiver, &mut waiting);
        let taken = batch.len();
        let mut updates = Vec::with_capacity(taken);
        let begun = Instant::now();
        for QueuedUpdate { origin, update } in batch {
            if origin.token.begin() {
                origins.push(origin);
                updates.push(update);
            }
        }
        if updates.is_empty() {
            queue.outstanding.fetch_sub(taken, Ordering::Release);
            continue;
        }
        before.updates = updates.len();
        let responses = handler.apply(updates);
        before.took = begun.elapsed();
        before.waiting = waiting.len() + queue.receiver.len();
        debug_assert_eq!(responses.len(), origins.len(), "one response per update");
        let mut outgoing: Vec<Vec<Response>> = workers.iter().map(|_| Vec::new()).collect();
        for (origin, bytes) in origins.drain(..).zip(responses) {
            if let Some(responses) = outgoing.get_mut(origin.worker) {
                responses.push(origin.response(bytes));
            }
        }
        for (worker, responses) in workers.iter().zip(outgoing) {
            if !responses.is_empty() {
                worker.send(WorkerMessage::Updated(responses));
            }
        }
        queue.outstanding.fetch_sub(taken, Ordering::Release);
    }
}

/// The size and time of the previous batch.
#[derive(Default)]
struct PreviousBatch {
    updates: usize,
    took: Duration,
    /// Updates that arrived while it was applied, usually from clients without an update in it.
    waiting: usize,
}

impl PreviousBatch {
    /// Collects the updates of the next batch. Clients that wait for an answer before they ask
    /// again return together, shortly after a commit. A writer that started with the first of them
    /// would make all others wait for two commits. A writer that started with those that arrived
    /// meanwhile would serve two halves of the clients in turn, forever.
    ///
    /// The rest stays in `waiting`, which has one update at least.
    fn gather<U>(
        &self,
        queue: &Receiver<QueuedUpdate<U>>,
        waiting: &mut VecDeque<QueuedUpdate<U>>,
    ) -> Vec<QueuedUpdate<U>> {
        debug_assert!(!waiting.is_empty(), "an update begins the batch");
        let len_max = self.len_max();
        waiting.extend(queue.try_iter());
        if self.took >= WORTH_GATHERING {
            let deadline = Instant::now() + self.took / GATHERING_SHARE;
            let expected = self.updates + self.waiting;
            while waiting.len() < expected.min(len_max) {
                match queue.recv_deadline(deadline) {
                    Ok(queued) => waiting.push_back(queued),
                    Err(_) => break,
                }
            }
        }
        take_shares(waiting, len_max)
    }

    /// Returns the number of updates that the next batch may have.
    fn len_max(&self) -> usize {
        if self.took.is_zero() {
            return BATCH_USUAL;
        }
        let each = self.took.as_secs_f64() / self.updates.max(1) as f64;
        // Truncation is meant.
        let fitting = |time: Duration| (time.as_secs_f64() / each) as usize;
        let usual = fitting(BATCH_TIME_MAX).min(BATCH_USUAL);
        fitting(BATCH_TIME).max(usual).clamp(BATCH_MIN, BATCH_MAX)
    }
}

/// Takes updates for a batch. Those of a connection keep their order, and each connection has an
/// equal share.
fn take_shares<U>(waiting: &mut VecDeque<QueuedUpdate<U>>, len_max: usize) -> Vec<QueuedUpdate<U>> {
    if waiting.len() <= len_max {
        return waiting.drain(..).collect();
    }
    let mut taken_of: FxHashMap<(usize, ConnectionId), usize> = FxHashMap::default();
    let connection = |one: &QueuedUpdate<U>| (one.origin.worker, one.origin.connection);
    for one in &*waiting {
        taken_of.insert(connection(one), 0);
    }
    let share = (len_max / taken_of.len()).max(1);
    let mut batch = Vec::with_capacity(len_max);
    let mut rest = VecDeque::with_capacity(waiting.len());
    for one in waiting.drain(..) {
        let taken = taken_of.entry(connection(&one)).or_default();
        if *taken < share && batch.len() < len_max {
            *taken += 1;
            batch.push(one);
        } else {
            rest.push_back(one);
        }
    }
    let free = (len_max - batch.len()).min(rest.len());
    batch.extend(rest.drain(..free));
    *waiting = rest;
    debug_assert_eq!(batch.len(), len_max, "there were enough");
    batch
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// An update for tests; it is never applied.
    pub(in crate::driver) fn queued(id: MessageId) -> QueuedUpdate<()> {
        QueuedUpdate {
            origin: UpdateOrigin {
                worker: 0,
                connection: 1,
                id,
                token: CancelToken::default(),
            },
            update: (),
        }
    }

    #[test]
    fn the_writer_waits_for_answered_and_newly_arrived_clients() {
        let (handle, queue) = queue::<()>();
        let before = PreviousBatch {
            updates: 1,
            // Longer than any test takes.
            took: Duration::from_secs(10_000),
            waiting: 1,
        };
        let batch = std::thread::scope(|scope| {
            scope.spawn(move || handle.send(queued(2)));
            before.gather(&queue.receiver, &mut VecDeque::from([queued(1)]))
        });
        assert_eq!(
            batch.iter().map(|one| one.origin.id).collect::<Vec<_>>(),
            [1, 2]
        );
        let fast = PreviousBatch {
            took: Duration::ZERO,
            ..before
        };
        let mut waiting = VecDeque::from([queued(3)]);
        assert_eq!(fast.gather(&queue.receiver, &mut waiting).len(), 1);
        assert!(waiting.is_empty());
    }

    #[test]
    fn a_batch_has_the_size_of_a_tenth_of_a_second() {
        let after = |updates, millis| {
            let took = Duration::from_millis(millis);
            let before = PreviousBatch {
                updates,
                took,
                waiting: 0,
            };
            before.len_max()
        };
        assert_eq!(PreviousBatch::default().len_max(), BATCH_USUAL);
        assert_eq!(after(1, 10), BATCH_MIN);
        assert_eq!(after(1000, 30), 3333);
        assert_eq!(after(4000, 50), BATCH_MAX);
        assert_eq!(after(4000, 400), BATCH_USUAL);
        assert_eq!(after(4000, 4000), 1000);
        assert_eq!(after(4000, 40_000), BATCH_MIN);
    }

    #[test]
    fn a_client_with_one_update_does_not_wait_for_the_thousands_of_another() {
        let of = |connection, id| {
            let mut queued = queued(id);
            queued.origin.connection = connection;
            queued
        };
        let mut waiting: VecDeque<_> = (1..=20).map(|id| of(7, id)).collect();
        waiting.extend([of(8, 1), of(8, 2)]);
        let key = |one: &QueuedUpdate<()>| (one.origin.connection, one.origin.id);
        let batch = take_shares(&mut waiting, 6);
        let first: Vec<_> = batch.iter().map(key).collect();
        assert_eq!(first, [(7, 1), (7, 2), (7, 3), (8, 1), (8, 2), (7, 4)]);
        let rest: Vec<_> = waiting.iter().map(key).collect();
        assert_eq!(rest, (5..=20).map(|id| (7, id)).collect::<Vec<_>>());
        assert_eq!(take_shares(&mut waiting, 100).len(), 16);
        assert!(waiting.is_empty());
        // There may be more connections than updates in a batch.
        let mut many: VecDeque<_> = (1..=9).map(|number| of(number, 1)).collect();
        let batch = take_shares(&mut many, 4);
        let first: Vec<_> = batch.iter().map(key).collect();
        assert_eq!(first, [(1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(many.len(), 5);
    }
}
