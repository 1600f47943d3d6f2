//! A thread that applies updates that have to wait for a disk or for another writer. Updates that
//! queue up while it is busy form one batch.
//!
//! A batch takes about a tenth of a second, as far as the previous one tells. It takes longer if
//! thousands of updates wait, because larger batches write fewer pages for each update. Then those
//! of clients with few updates come first, in a small batch before each large one. So a client with
//! one update waits for one large batch at most, though another has thousands in the queue.

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
const BATCH_MAX: usize = 8192;

/// The number of updates that a batch may have, however long they take. Some share a commit.
const BATCH_MIN: usize = 512;

/// The number that it may have unless they take [`BATCH_TIME_MAX`]. Each batch writes again pages
/// of the one before. So small batches would make a busy machine even slower.
const BATCH_USUAL: usize = 6144;

/// A connection with no more updates in the queue is served before those with more, while
/// [`BATCH_MIN`] updates wait.
const FEW: usize = 16;

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

impl<U> QueuedUpdate<U> {
    /// Returns its connection, among those of all workers.
    fn from(&self) -> (usize, ConnectionId) {
        (self.origin.worker, self.origin.connection)
    }
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
        let (batch, is_small) = before.gather(&queue.receiver, &mut waiting);
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
        let applied = updates.len();
        let responses = handler.apply(updates);
        // A small batch says nothing about the time of a large one.
        before.was_small = is_small;
        if !is_small {
            before.updates = applied;
            before.took = begun.elapsed();
            before.waiting = waiting.len() + queue.receiver.len();
        }
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

/// The size and time of the previous batch that was not a small one before a large one.
#[derive(Default)]
struct PreviousBatch {
    updates: usize,
    took: Duration,
    /// Updates that arrived while it was applied, usually from clients without an update in it.
    waiting: usize,
    /// True if a small batch came behind it.
    was_small: bool,
}

impl PreviousBatch {
    /// Collects the updates of the next batch. Clients that wait for an answer before they ask
    /// again return together, shortly after a commit. A writer that started with the first of them
    /// would make all others wait for two commits. A writer that started with those that arrived
    /// meanwhile would serve two halves of the clients in turn, forever.
    ///
    /// Where hundreds wait already, two halves in turn are right: one is on its way while the other
    /// is applied.
    ///
    /// The rest stays in `waiting`, which has one update at least. The batch comes with true if it
    /// is a small one before a large one.
    fn gather<U>(
        &self,
        queue: &Receiver<QueuedUpdate<U>>,
        waiting: &mut VecDeque<QueuedUpdate<U>>,
    ) -> (Vec<QueuedUpdate<U>>, bool) {
        debug_assert!(!waiting.is_empty(), "an update begins the batch");
        let len_max = self.len_max();
        waiting.extend(queue.try_iter());
        if !self.was_small
            && let Some(batch) = take_few(waiting)
        {
            return (batch, true);
        }
        if self.took >= WORTH_GATHERING {
            let deadline = Instant::now() + self.took / GATHERING_SHARE;
            let expected = (self.updates + self.waiting).min(BATCH_MIN);
            while waiting.len() < expected.min(len_max) {
                match queue.recv_deadline(deadline) {
                    Ok(queued) => waiting.push_back(queued),
                    Err(_) => break,
                }
            }
        }
        (take_shares(waiting, len_max), false)
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

/// Takes the updates of connections with few of them, if others have many.
fn take_few<U>(waiting: &mut VecDeque<QueuedUpdate<U>>) -> Option<Vec<QueuedUpdate<U>>> {
    if waiting.len() < BATCH_MIN {
        return None;
    }
    let mut counts: FxHashMap<(usize, ConnectionId), usize> = FxHashMap::default();
    for one in &*waiting {
        *counts.entry(one.from()).or_default() += 1;
    }
    let has_few = |one: &QueuedUpdate<U>| counts.get(&one.from()).is_some_and(|len| *len <= FEW);
    let few = waiting.iter().filter(|one| has_few(one)).count();
    // Many clients with an update each share a batch: none has a lot.
    if few == 0 || waiting.len() - few < BATCH_MIN {
        return None;
    }
    let (batch, rest): (Vec<_>, Vec<_>) = waiting.drain(..).partition(has_few);
    *waiting = rest.into();
    Some(batch)
}

/// Takes updates for a batch. Those of a connection keep their order, and each connection has an
/// equal share.
fn take_shares<U>(waiting: &mut VecDeque<QueuedUpdate<U>>, len_max: usize) -> Vec<QueuedUpdate<U>> {
    if waiting.len() <= len_max {
        return waiting.drain(..).collect();
    }
    let mut taken_of: FxHashMap<(usize, ConnectionId), usize> = FxHashMap::default();
    for one in &*waiting {
        taken_of.insert(one.from(), 0);
    }
    let share = (len_max / taken_of.len()).max(1);
    let mut batch = Vec::with_capacity(len_max);
    let mut rest = VecDeque::with_capacity(waiting.len());
    for one in waiting.drain(..) {
        let taken = taken_of.entry(one.from()).or_default();
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
            was_small: false,
        };
        let (batch, _) = std::thread::scope(|scope| {
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
        assert_eq!(fast.gather(&queue.receiver, &mut waiting).0.len(), 1);
        assert!(waiting.is_empty());
    }

    #[test]
    fn a_batch_has_the_size_of_a_tenth_of_a_second() {
        let after = |updates, millis| {
            let took = Duration::from_millis(millis);
            let before = PreviousBatch {
                updates,
                took,
                ..PreviousBatch::default()
            };
            before.len_max()
        };
        assert_eq!(PreviousBatch::default().len_max(), BATCH_USUAL);
        assert_eq!(after(1, 10), BATCH_MIN);
        assert_eq!(after(1000, 30), BATCH_USUAL);
        assert_eq!(after(4000, 50), 8000);
        assert_eq!(after(4000, 20), BATCH_MAX);
        assert_eq!(after(4000, 400), BATCH_USUAL);
        assert_eq!(after(4000, 4000), 1000);
        assert_eq!(after(4000, 40_000), BATCH_MIN);
    }

    #[test]
    fn few_updates_of_a_client_come_before_the_thousands_of_another() {
        let of = |connection, ids: std::ops::Range<MessageId>| {
            ids.map(move |id| {
                let mut queued = queued(id);
                queued.origin.connection = connection;
                queued
            })
        };
        let (_handle, queue) = queue::<()>();
        let mut before = PreviousBatch::default();
        let many = BATCH_USUAL as MessageId;
        let mut waiting: VecDeque<_> = of(7, 0..many).chain(of(8, 0..2)).collect();
        waiting.extend(of(7, many..many + 10).chain(of(9, 0..1)));
        let from = |batch: &[QueuedUpdate<()>]| -> Vec<_> {
            let keys = batch
                .iter()
                .map(|one| (one.origin.connection, one.origin.id));
            keys.collect()
        };
        let (batch, is_small) = before.gather(&queue.receiver, &mut waiting);
        assert_eq!(
            (from(&batch), is_small),
            (vec![(8, 0), (8, 1), (9, 0)], true)
        );
        // They have had their turn. The next batch is a large one, also if they come again.
        before.was_small = true;
        waiting.extend(of(8, 2..3));
        let (batch, is_small) = before.gather(&queue.receiver, &mut waiting);
        assert_eq!((batch.len(), is_small), (BATCH_USUAL, false));
        assert!(from(&batch).contains(&(8, 2)), "it has a share");
        let of_many = from(&batch).into_iter().filter(|key| key.0 == 7);
        assert!(of_many.is_sorted(), "they keep their order");
        // Nobody is served before others if all have few.
        let mut equal: VecDeque<_> = (0..1000).flat_map(|number| of(number, 0..1)).collect();
        before.was_small = false;
        assert!(!before.gather(&queue.receiver, &mut equal).1);
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
