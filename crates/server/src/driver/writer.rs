//! The one thread that applies updates: what queued up while it was busy is one batch.

use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use fulgurite_ldap::MessageId;

use super::mail::{ConnectionId, Mail, Response, WorkerHandle};
use crate::handler::Handler;
use crate::ticket::Ticket;

/// Updates applied at most in one batch, so that the first of them is not kept waiting for long.
const BATCH_MAX: usize = 1024;

/// A batch that took at least so long was waiting for the disk: then others are worth waiting for.
const WORTH_GATHERING: Duration = Duration::from_micros(500);

/// So much of the time that the batch before took is given to those of its clients who are about to ask again.
const GATHERING_SHARE: u32 = 10;

/// An update and where its response goes.
pub(super) struct Queued<H: Handler> {
    pub(super) worker: usize,
    pub(super) connection: ConnectionId,
    pub(super) id: MessageId,
    pub(super) ticket: Ticket,
    pub(super) update: H::Update,
}

/// Applies batches until all workers are gone.
pub(super) fn run<H: Handler>(
    handler: &H,
    queue: &Receiver<Queued<H>>,
    workers: &[WorkerHandle<H>],
) {
    let mut origins = Vec::new();
    let mut before = Before::default();
    while let Ok(first) = queue.recv() {
        let mut updates = Vec::new();
        let batch = before.gather(queue, first);
        let begun = Instant::now();
        for queued in batch {
            if !queued.ticket.begin() {
                continue;
            }
            origins.push((queued.worker, queued.connection, queued.id));
            updates.push(queued.update);
        }
        if updates.is_empty() {
            continue;
        }
        before.updates = updates.len();
        let responses = handler.apply(updates);
        before.took = begun.elapsed();
        debug_assert_eq!(responses.len(), origins.len(), "one response per update");
        let mut mail: Vec<Vec<Response>> = workers.iter().map(|_| Vec::new()).collect();
        for ((worker, connection, id), bytes) in origins.drain(..).zip(responses) {
            if let Some(responses) = mail.get_mut(worker) {
                responses.push(Response {
                    connection,
                    id,
                    bytes,
                });
            }
        }
        for (worker, responses) in workers.iter().zip(mail) {
            if !responses.is_empty() {
                worker.send(Mail::Updated(responses));
            }
        }
    }
}

/// What is remembered of the batch before.
#[derive(Default)]
struct Before {
    updates: usize,
    took: Duration,
}

impl Before {
    /// The updates to be applied next. Clients that wait for one answer before they ask again come back together after a
    /// commit, a moment after the first of them: whoever goes on with that one alone makes all others wait for two
    /// commits.
    fn gather<H: Handler>(&self, queue: &Receiver<Queued<H>>, first: Queued<H>) -> Vec<Queued<H>> {
        let mut batch = vec![first];
        batch.extend(queue.try_iter().take(BATCH_MAX - 1));
        if self.took < WORTH_GATHERING {
            return batch;
        }
        let deadline = Instant::now() + self.took / GATHERING_SHARE;
        while batch.len() < self.updates.min(BATCH_MAX) {
            match queue.recv_deadline(deadline) {
                Ok(queued) => batch.push(queued),
                Err(_) => break,
            }
        }
        batch
    }
}
