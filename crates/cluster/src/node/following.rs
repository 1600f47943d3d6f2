//! The follower: batches of the log, or a copy of another node.

use crate::follower::{Divergence, Follower, Received};
use crate::log::ReadOutcome;
use crate::values::{Epoch, Head, Position};

use super::content::{Content, Time};
use super::message::{Output, Question};
use super::state::Node;

impl<C: Content> Node<C> {
    /// Applies the batches that the log has behind the content.
    pub(super) fn follow(&mut self, outcome: ReadOutcome, time: Time) {
        if self.is_leading() || !self.content.is_writable() || self.stopped.is_some() {
            return;
        }
        match outcome {
            ReadOutcome::Trimmed { .. } => self.copy(),
            ReadOutcome::Unavailable => {}
            ReadOutcome::Batches(batches) => {
                let mut more = !batches.is_empty();
                for (at, bytes) in batches {
                    match self.apply(at, &bytes, time) {
                        Ok(true) => {}
                        // The store has failed: the next tick asks again.
                        Ok(false) => more = false,
                        Err(divergence) => self.stopped = Some(divergence),
                    }
                    if !more || self.stopped.is_some() {
                        break;
                    }
                }
                self.serve();
                self.begin();
                if more && self.stopped.is_none() {
                    self.ask(Question::Follow(self.position().next()), time);
                }
            }
        }
    }

    /// Applies a batch. Returns false if the store has failed.
    fn apply(&mut self, position: Position, bytes: &[u8], time: Time) -> Result<bool, Divergence> {
        if let Received::Apply(batch, head) = self.follower.receive(position, bytes)? {
            self.content.apply(&batch, head)?;
            if self.content.head() != head {
                return Ok(false);
            }
            self.applied(head, batch.epoch, bytes.len(), time);
            self.note_requests(&batch, time);
        }
        Ok(true)
    }

    /// Notes that the content ends at `head`.
    pub(super) fn applied(&mut self, head: Head, epoch: Epoch, bytes: usize, time: Time) {
        assert_eq!(self.content.head(), head, "the content keeps its end");
        self.follower.applied(head, epoch);
        self.history.push(head.position, bytes, time.now_ms);
        self.outputs.push(Output::Applied);
    }

    /// Wishes for a copy of another node.
    pub(super) fn copy(&mut self) {
        if !std::mem::replace(&mut self.is_copying, true) {
            self.outputs.push(Output::Copy);
        }
    }

    /// Takes a copy of another node's content; `None` if there is none. One that is not newer is
    /// dropped, except by a node that has stopped, which goes on with it.
    pub fn copied(&mut self, copy: Option<C>) {
        self.is_copying = false;
        let here = self.position();
        let is_useful = |copy: &C| match self.stopped {
            Some(_) => copy.head().position >= here,
            None => copy.head().position > here && !self.is_leading(),
        };
        if let Some(copy) = copy.filter(is_useful) {
            self.content = copy;
            self.clients.skipped();
            self.follower = Follower::new(self.content.head());
            self.stopped = None;
            self.outputs.push(Output::Applied);
            self.serve();
        }
    }
}
