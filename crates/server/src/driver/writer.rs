//! The one thread that applies updates: what queued up while it was busy is one batch.

use crossbeam_channel::Receiver;
use fulgurite_ldap::MessageId;

use super::mail::{ConnectionId, Mail, Response, WorkerHandle};
use crate::handler::Handler;
use crate::ticket::Ticket;

/// Updates applied at most in one batch, so that the first of them is not kept waiting for long.
const BATCH_MAX: usize = 1024;

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
    while let Ok(first) = queue.recv() {
        let mut updates = Vec::new();
        let batch = std::iter::once(first).chain(queue.try_iter());
        for queued in batch.take(BATCH_MAX) {
            if !queued.ticket.begin() {
                continue;
            }
            origins.push((queued.worker, queued.connection, queued.id));
            updates.push(queued.update);
        }
        if updates.is_empty() {
            continue;
        }
        let responses = handler.apply(updates);
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
