//! Threads that verify slow password hashes, so that no event loop waits for them.

use std::time::Instant;

use crossbeam_channel::Receiver;

use super::inbox::{ConnectionId, WorkerHandle, WorkerMessage};
use super::writer::{QueuedUpdate, UpdateOrigin};
use super::writers::Writers;
use crate::session::cancel_token::CancelToken;
use crate::session::handler::Handler;
use crate::session::job::{CheckId, NO_MESSAGE};
use crate::statistics::HashingStatistics;

/// The maximum of waiting passwords; further binds are answered `busy`. At some tens of
/// milliseconds each, this is about the time that a client waits.
pub(super) const QUEUE_MAX: usize = 1024;

/// A password to verify, and the connection that gets the result.
pub(super) struct QueuedCheck<H: Handler> {
    pub(super) worker: usize,
    pub(super) connection: ConnectionId,
    pub(super) id: CheckId,
    pub(super) check: H::PasswordCheck,
}

/// Verifies passwords until all workers have ended. Updates that come before the answer go to the
/// writers.
pub(super) fn run<H: Handler>(
    handler: &H,
    queue: &Receiver<QueuedCheck<H>>,
    workers: &[WorkerHandle<H>],
    writers: &Writers<'_, H::Update>,
    statistics: &HashingStatistics,
) {
    for queued in queue {
        statistics.took();
        let begun = Instant::now();
        let mut verdict = handler.check_password(queued.check);
        statistics.finished(begun.elapsed());
        if let Some(update) = handler.before_answer(&mut verdict) {
            let origin = UpdateOrigin {
                worker: queued.worker,
                connection: queued.connection,
                id: NO_MESSAGE,
                token: CancelToken::default(),
            };
            let writer = writers.handle(handler.writer_of(&update));
            writer.send(QueuedUpdate { origin, update });
            handler.wait_before_answer(&mut verdict);
        }
        if let Some(worker) = workers.get(queued.worker) {
            worker.send(WorkerMessage::PasswordChecked(
                queued.connection,
                queued.id,
                verdict,
            ));
        }
    }
}
