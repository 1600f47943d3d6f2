//! The updates of a round of turns, and the choice of the thread that applies them.
//!
//! ```text
//!   turns of a round ---> updates ---+---> the worker itself    few, short, nothing to wait for
//!                                    \---> the writer           all others, or while it is busy
//! ```
//!
//! An update that a worker applies costs no switch of threads. While other connections wait, they
//! get [`TURNS_FOR_UPDATE`] turns for each update before the worker applies more. Updates that wait
//! for a disk go to the writer, so that searches continue.

use super::inbox::Response;
use super::writer::{QueuedUpdate, WriterHandle};
use crate::session::handler::Handler;

/// The maximum of updates that a worker applies in one round. More of them go to the writer.
const AT_ONCE_MAX: usize = 64;

/// Turns of other connections for each update. An update takes about as long as four searches, and
/// should get at most a fifth of a busy worker.
const TURNS_FOR_UPDATE: usize = 16;

pub(super) struct Updates<U> {
    queued: Vec<QueuedUpdate<U>>,
    /// Turns that other connections still get before this worker applies updates again.
    turns_owed: usize,
    to_writer: WriterHandle<U>,
}

impl<U> Updates<U> {
    pub(super) fn new(to_writer: WriterHandle<U>) -> Updates<U> {
        Updates {
            queued: Vec::new(),
            turns_owed: 0,
            to_writer,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queued.len()
    }

    /// Returns true if updates are due at the end of a round with `turns_of_others` turns of other
    /// connections. They wait until the others have had their share or want none.
    pub(super) fn are_due(&mut self, turns_of_others: usize) -> bool {
        self.turns_owed = match turns_of_others {
            0 => 0,
            turns => self.turns_owed.saturating_sub(turns),
        };
        let many = self.queued.len() > AT_ONCE_MAX;
        !self.queued.is_empty() && (many || self.turns_owed == 0)
    }

    pub(super) fn push(&mut self, queued: QueuedUpdate<U>) {
        self.queued.push(queued);
    }

    pub(super) fn is_writer_idle(&self) -> bool {
        self.to_writer.is_idle()
    }

    /// Applies all updates and returns their responses, or hands them to the writer, which answers
    /// through the inbox. Updates keep their order: unless the writer [was
    /// idle](Self::is_writer_idle), it gets the later ones too.
    pub(super) fn apply<H: Handler<Update = U>>(
        &mut self,
        handler: &H,
        is_writer_idle: bool,
    ) -> Vec<Response> {
        self.queued.retain(|queued| !queued.token.is_withdrawn());
        if self.queued.is_empty() {
            return Vec::new();
        }
        if self.queued.len() > AT_ONCE_MAX || !is_writer_idle {
            self.hand_over();
            return Vec::new();
        }
        let mut origins = Vec::with_capacity(self.queued.len());
        let mut updates = Vec::with_capacity(self.queued.len());
        for queued in self.queued.drain(..) {
            origins.push((queued.worker, queued.connection, queued.id, queued.token));
            updates.push(queued.update);
        }
        let Some(responses) = handler.apply_at_once(&updates) else {
            for ((worker, connection, id, token), update) in origins.into_iter().zip(updates) {
                self.to_writer.send(QueuedUpdate {
                    worker,
                    connection,
                    id,
                    token,
                    update,
                });
            }
            return Vec::new();
        };
        self.turns_owed = TURNS_FOR_UPDATE * origins.len();
        debug_assert_eq!(responses.len(), origins.len(), "one response per update");
        let answered = origins.into_iter().zip(responses);
        let response = |((_, connection, id, _), bytes)| Response {
            connection,
            id,
            bytes,
        };
        answered.map(response).collect()
    }

    /// Hands all updates to the writer.
    pub(super) fn hand_over(&mut self) {
        self.queued
            .drain(..)
            .for_each(|queued| self.to_writer.send(queued));
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer::{self, tests::queued};
    use super::*;

    #[test]
    fn other_connections_get_turns_between_updates() {
        let (to_writer, _queue) = writer::queue();
        let mut updates = Updates::new(to_writer);
        assert!(!updates.are_due(1), "there are none");
        updates.push(queued(1));
        assert!(updates.are_due(1));
        updates.turns_owed = TURNS_FOR_UPDATE;
        assert!(!updates.are_due(TURNS_FOR_UPDATE - 1));
        assert!(updates.are_due(1));
        updates.turns_owed = TURNS_FOR_UPDATE;
        assert!(updates.are_due(0), "nobody else is served");
        updates.turns_owed = TURNS_FOR_UPDATE;
        (0..AT_ONCE_MAX as u32).for_each(|id| updates.push(queued(id)));
        assert!(updates.are_due(1), "the writer takes so many");
    }
}
