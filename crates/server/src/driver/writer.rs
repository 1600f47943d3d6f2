//! A thread that applies updates that have to wait for a disk or for another writer. Updates that
//! queue up while it is busy form one batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use fulgurite_ldap::MessageId;

use super::inbox::{ConnectionId, Response, WorkerHandle, WorkerMessage};
use crate::session::cancel_token::CancelToken;
use crate::session::handler::Handler;

/// The maximum of updates in one batch: about 0.2 s of additions. So the first one does not wait
/// for long. A batch writes each page once, so a larger one costs less for each update.
const BATCH_MAX: usize = 4096;

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
    while let Ok(first) = queue.receiver.recv() {
        let batch = before.gather(&queue.receiver, first);
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
        before.waiting = queue.receiver.len();
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
    fn gather<U>(
        &self,
        queue: &Receiver<QueuedUpdate<U>>,
        first: QueuedUpdate<U>,
    ) -> Vec<QueuedUpdate<U>> {
        let mut batch = vec![first];
        batch.extend(queue.try_iter().take(BATCH_MAX - 1));
        if self.took < WORTH_GATHERING {
            return batch;
        }
        let deadline = Instant::now() + self.took / GATHERING_SHARE;
        let expected = self.updates + self.waiting;
        while batch.len() < expected.min(BATCH_MAX) {
            match queue.recv_deadline(deadline) {
                Ok(queued) => batch.push(queued),
                Err(_) => break,
            }
        }
        batch
    }
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
            before.gather(&queue.receiver, queued(1))
        });
        assert_eq!(
            batch.iter().map(|one| one.origin.id).collect::<Vec<_>>(),
            [1, 2]
        );
        let fast = PreviousBatch {
            took: Duration::ZERO,
            ..before
        };
        assert_eq!(fast.gather(&queue.receiver, queued(3)).len(), 1);
    }
}
