//! The updates that a round of turns has brought, and who applies them.
//!
//! ```text
//!   turns of a round ---> updates ---+---> the worker itself     few, short, nothing to wait for
//!                                    \---> the writer            all others, and those that come while it has some
//! ```
//!
//! An update that a worker applies costs no thread hand-over, and has its place among the turns: while others are served,
//! every second round ends with the updates that have come, and each round otherwise. What waits for a disk leaves, so that
//! searches go on.

use super::mail::Response;
use super::writer::{Queued, WriterHandle};
use crate::handler::Handler;

/// So many updates a worker applies in one round: more are better done beside it.
const AT_ONCE_MAX: usize = 64;

pub(super) struct Updates<H: Handler> {
    queued: Vec<Queued<H>>,
    /// Whether a round has ended since updates were applied here last.
    have_rested: bool,
    to_writer: WriterHandle<H>,
}

impl<H: Handler> Updates<H> {
    pub(super) fn new(to_writer: WriterHandle<H>) -> Updates<H> {
        Updates {
            queued: Vec::new(),
            have_rested: true,
            to_writer,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queued.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queued.len()
    }

    /// Whether updates are to be applied at the end of this round. If it has served others and so has none since updates
    /// were applied here last, they wait for another one.
    pub(super) fn are_due(&mut self, has_served_others: bool) -> bool {
        let rest = has_served_others && !self.have_rested && self.queued.len() <= AT_ONCE_MAX;
        self.have_rested = true;
        !rest && !self.queued.is_empty()
    }

    pub(super) fn push(&mut self, queued: Queued<H>) {
        self.queued.push(queued);
    }

    pub(super) fn is_writer_idle(&self) -> bool {
        self.to_writer.is_idle()
    }

    /// Applies them all and returns their responses, or gives them to the writer, who answers by mail. The order in which
    /// updates came is kept: unless the writer [was idle](Self::is_writer_idle) it gets those behind them too.
    pub(super) fn apply(&mut self, handler: &H, is_writer_idle: bool) -> Vec<Response> {
        self.queued.retain(|queued| !queued.ticket.is_withdrawn());
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
            origins.push((queued.worker, queued.connection, queued.id, queued.ticket));
            updates.push(queued.update);
        }
        let Some(responses) = handler.apply_at_once(&updates) else {
            for ((worker, connection, id, ticket), update) in origins.into_iter().zip(updates) {
                self.to_writer.send(Queued {
                    worker,
                    connection,
                    id,
                    ticket,
                    update,
                });
            }
            return Vec::new();
        };
        self.have_rested = false;
        debug_assert_eq!(responses.len(), origins.len(), "one response per update");
        let answered = origins.into_iter().zip(responses);
        let response = |((_, connection, id, _), bytes)| Response {
            connection,
            id,
            bytes,
        };
        answered.map(response).collect()
    }

    /// Gives all of them to the writer.
    pub(super) fn hand_over(&mut self) {
        self.queued
            .drain(..)
            .for_each(|queued| self.to_writer.send(queued));
    }
}

#[cfg(test)]
mod tests {
    use super::super::writer;
    use super::*;
    use crate::ticket::Ticket;
    use fulgurite_directory::{Directory, Session, WriteRequest};

    fn queued(id: u32) -> Queued<Directory> {
        Queued {
            worker: 0,
            connection: 1,
            id,
            ticket: Ticket::default(),
            update: WriteRequest::new(&Session::new(), b""),
        }
    }

    #[test]
    fn updates_come_every_second_round_while_others_are_served() {
        let (to_writer, _queue) = writer::queue();
        let mut updates = Updates::new(to_writer);
        assert!(!updates.are_due(true), "there are none");
        updates.push(queued(1));
        assert!(updates.are_due(true));
        updates.have_rested = false;
        assert!(!updates.are_due(true));
        assert!(updates.are_due(true));
        updates.have_rested = false;
        assert!(updates.are_due(false), "nobody else is served");
        updates.have_rested = false;
        (0..AT_ONCE_MAX as u32).for_each(|id| updates.push(queued(id)));
        assert!(updates.are_due(true), "the writer takes so many");
    }
}
