//! The thread that commits where a commit waits for the disk.

use crossbeam_channel::Receiver;

use super::commit::Committer;
use super::messages::{Message, QueuedSession};

/// Sessions of one transaction at most.
const SESSIONS_MAX: usize = 1024;

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
