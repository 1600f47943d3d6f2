//! The way to the lead, and its end.

use crate::follower::Divergence;
use crate::log::{Leadership, NodeState};
use crate::rules::{is_too_far_ahead, trim_upto, version_to_write};
use crate::sequencer::Sequencer;
use crate::values::{Epoch, Position};

use super::content::{Content, Time};
use super::message::{EndUse, LogAnswer, Outcome, Question};
use super::state::{Node, Queued, Role};

impl<C: Content> Node<C> {
    /// Takes the log's word about the leader.
    pub(super) fn led(&mut self, leadership: Leadership, time: Time) {
        match leadership {
            Leadership::Leading(epoch) => self.won(epoch, time),
            Leadership::Following(node, epoch) => {
                self.observe(epoch, time);
                match &self.role {
                    // A batch whose outcome is unknown is settled first.
                    Role::Leading(sequencer, _) if sequencer.is_idle() => {
                        self.step_down(|| Outcome::Busy, time);
                    }
                    Role::Catching(..) => self.role = Role::Following,
                    _ => {}
                }
                self.leader = Some(node);
            }
        }
    }

    /// Notes a leadership. The log takes nothing of the ones before.
    fn observe(&mut self, epoch: Epoch, time: Time) {
        if self.leader_epoch < Some(epoch) {
            self.leader_epoch = Some(epoch);
            // An answer to an earlier question does not have all that they appended.
            self.calls.forget(EndUse::Lost);
            self.inquire(time);
        }
    }

    fn won(&mut self, epoch: Epoch, time: Time) {
        self.observe(epoch, time);
        // The leadership of before has ended without a word, and others may have appended.
        if let Role::Leading(sequencer, _) = &self.role
            && sequencer.epoch() != epoch
            && sequencer.is_idle()
        {
            self.step_down(|| Outcome::Busy, time);
        }
        self.leader = Some(self.id);
        let is_new = match &self.role {
            Role::Following => true,
            Role::Catching(other, _) => *other != epoch,
            Role::Leading(..) => false,
        };
        if is_new {
            self.role = Role::Catching(epoch, None);
            // The end must be read after the node has won.
            self.calls.forget(EndUse::Begin);
            self.ask(Question::End(EndUse::Begin), time);
        }
    }

    /// Begins to lead if everything is applied.
    pub(super) fn begin(&mut self) {
        let Role::Catching(epoch, Some(end)) = self.role else {
            return;
        };
        let head = self.content.head();
        if head.position < end.position || self.is_copying || self.stopped.is_some() {
            return;
        }
        self.role = Role::Following;
        if head == end {
            self.role = Role::Leading(Sequencer::new(self.id, epoch, head), None);
            // The same leadership may begin again, and then keeps its word.
            self.gone.retain(|(of, ..)| *of == epoch);
        } else if head.position == end.position {
            self.stopped = Some(Divergence::Chain(head.position));
        }
        // If more is applied, another node has appended, and the leadership is over.
    }

    /// Takes the end of the log, as the answer to a call.
    pub(super) fn end(&mut self, of: EndUse, call: u64, answer: &LogAnswer, time: Time) {
        match (of, answer) {
            (EndUse::Begin, LogAnswer::End(head)) => {
                if let Role::Catching(_, end) = &mut self.role {
                    *end = Some(*head);
                    self.begin();
                }
            }
            (EndUse::Refusals, LogAnswer::End(head)) if self.is_leading() => {
                if head.position == self.position() {
                    self.content.abort();
                    self.settle(head.position);
                    self.work(time);
                } else {
                    self.step_down(|| Outcome::Busy, time);
                }
            }
            (EndUse::Lost, LogAnswer::End(head)) => {
                if let Some(epoch) = self.leader_epoch {
                    self.clients.end(epoch, head.position);
                    self.serve();
                }
            }
            // The clock asks again for refusals without an answer.
            (EndUse::Readers, LogAnswer::End(head)) => {
                self.readers.end(head.position, call);
                self.serve();
                self.ask_end(time);
            }
            _ => {}
        }
    }

    /// Ends the leadership. Updates that have not begun were not done.
    pub(super) fn step_down(&mut self, of_begun: fn() -> Outcome<C::Answer>, time: Time) {
        let Role::Leading(sequencer, _) = &self.role else {
            return;
        };
        let epoch = sequencer.epoch();
        self.abandon(of_begun);
        for Queued { update, .. } in std::mem::take(&mut self.queue) {
            self.reply(update.from, update.number, Outcome::Busy);
        }
        self.role = Role::Following;
        self.leader = None;
        // An answer to this leadership must not count for the next one.
        self.calls.forget(EndUse::Refusals);
        self.ask(Question::Resign(epoch), time);
    }

    /// Ends the leadership once its batch is settled, so that another node leads at once. The node
    /// takes no updates and does not lead again.
    pub fn retire(&mut self, time: Time) {
        self.is_retired = true;
        self.tick_role(time);
    }

    /// Returns true if the node is retired, and the log knows that it does not lead.
    #[must_use]
    pub fn has_resigned(&self) -> bool {
        let is_open = |question: &Question| {
            matches!(question, Question::Resign(_)) || matches!(question, Question::Lead(..))
        };
        self.is_retired && matches!(self.role, Role::Following) && !self.calls.any(is_open)
    }

    /// Takes the states of all nodes: writes what all of them read, and trims what none of them
    /// needs.
    pub(super) fn nodes(&mut self, states: &[NodeState], time: Time) {
        if states.iter().any(|state| state.node == self.id) {
            self.version = self.version.max(version_to_write(states));
        }
        let Role::Leading(sequencer, _) = &self.role else {
            return;
        };
        let epoch = sequencer.epoch();
        let others = states.iter().filter(|state| state.node != self.id);
        let others: Vec<NodeState> = others.copied().collect();
        if is_too_far_ahead(time.wall_us, &others) && sequencer.is_idle() {
            return self.step_down(|| Outcome::Busy, time);
        }
        if !std::mem::take(&mut self.due.trims) {
            return;
        }
        let mut facts = self.history.facts(self.position(), time.now_ms);
        if time.now_ms < self.full_until_ms {
            // A full log keeps only what a live node needs.
            facts.old = facts.end;
        }
        let upto = trim_upto(states, &facts);
        if upto > Position(0) {
            self.ask(Question::Trim(epoch, upto), time);
        }
    }

    /// Looks at the clock as a leader, or on the way there.
    pub(super) fn tick_role(&mut self, time: Time) {
        self.tick_batch(time);
        match &self.role {
            Role::Leading(sequencer, _)
                if sequencer.is_idle()
                    && (self.stopped.is_some()
                        || self.is_retired
                        || !self.content.is_writable()) =>
            {
                self.step_down(|| Outcome::Busy, time);
            }
            Role::Catching(epoch, _) if self.is_retired => {
                let epoch = *epoch;
                self.role = Role::Following;
                self.leader = None;
                self.ask(Question::Resign(epoch), time);
            }
            Role::Catching(_, None) => self.ask(Question::End(EndUse::Begin), time),
            _ => {}
        }
        self.begin();
        self.work(time);
    }
}
