//! The thread that commits where a commit waits for the disk.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};
use mio::Waker;

use super::commit::Committer;
use super::worker::Message;
use crate::command::Session;

/// Sessions of one transaction at most.
const SESSIONS_MAX: usize = 1024;

/// A session that has to write, and the way back.
pub(super) struct QueuedSession {
    pub(super) connection: usize,
    pub(super) session: Session,
    pub(super) inbox: Inbox,
}

/// The way to a worker.
#[derive(Debug, Clone)]
pub(super) struct Inbox {
    pub(super) messages: Sender<Message>,
    pub(super) waker: Arc<Waker>,
}

impl Inbox {
    /// Sends a message. A worker that has ended needs none.
    pub(super) fn send(&self, message: Message) {
        if self.messages.send(message).is_ok() {
            let _ = self.waker.wake();
        }
    }
}

/// Commits the sessions that come, until no worker is left. All that come while one commit is under
/// way are in the next one.
pub(super) fn run(committer: Committer<'_>, queue: &Receiver<QueuedSession>) {
    while let Ok(first) = queue.recv() {
        let mut origins = Vec::new();
        let mut sessions = Vec::new();
        let mut next = Some(first);
        while let Some(queued) = next {
            origins.push((queued.connection, queued.inbox));
            sessions.push(queued.session);
            next = (sessions.len() < SESSIONS_MAX)
                .then(|| queue.try_recv().ok())
                .flatten();
        }
        committer.commit(&mut sessions);
        for ((connection, inbox), session) in origins.into_iter().zip(sessions) {
            inbox.send(Message::Written(connection, session));
        }
    }
}
