//! The clock of a node, and the way of each answer of the log.

use crate::lease::Lease;

use super::content::{Content, Time};
use super::message::{LogAnswer, Question};
use super::state::Node;

impl<C: Content> Node<C> {
    /// Looks at the clock. The driver calls it each 100 ms or so.
    pub fn tick(&mut self, time: Time) {
        for call in self.calls.late(time.now_ms) {
            self.told(call, LogAnswer::Silence, time);
        }
        self.refuse_late(time);
        self.ask_end(time);
        self.inquire(time);
        self.content.maintain(time.now_ms);
        match self.lease {
            None => self.ask(Question::Grant(self.settings.lease_ms), time),
            Some((id, lease)) if lease.is_due(time.now_ms) => self.ask(Question::Renew(id), time),
            _ => {}
        }
        self.tick_role(time);
        if !self.is_leading() && !self.is_copying {
            self.ask(Question::Follow(self.position().next()), time);
        }
        self.tick_slow(time);
    }

    /// Does all that is due from time to time.
    fn tick_slow(&mut self, time: Time) {
        let settings = self.settings;
        let is_due = |due_ms: &mut u64, each_ms| {
            let is_due = time.now_ms >= *due_ms;
            if is_due {
                *due_ms = time.now_ms + each_ms;
            }
            is_due
        };
        let trims = is_due(&mut self.due.trim_ms, settings.trim_each_ms);
        let publishes = is_due(&mut self.due.publish_ms, settings.publish_each_ms);
        let is_full = publishes && time.now_ms < self.full_until_ms;
        let trims = (trims || is_full) && self.is_leading();
        self.due.trims |= trims;
        // Nodes with a newer program come one after another.
        let is_behind = publishes && self.version < settings.version;
        if trims || is_behind {
            self.ask(Question::Nodes, time);
        }
        let Some((lease, _)) = self.lease else {
            return;
        };
        if publishes {
            let state = self.state(time);
            self.ask(Question::Publish(lease, state), time);
        }
        let may_lead = self.content.is_writable() && self.stopped.is_none() && !self.is_retired;
        if may_lead && is_due(&mut self.due.lead_ms, settings.lead_each_ms) {
            self.ask(Question::Lead(lease, self.id), time);
        }
    }

    /// Takes an answer of the log. Late ones are nobody's.
    pub fn told(&mut self, number: u64, answer: LogAnswer, time: Time) {
        let Some(call) = self.calls.take(number) else {
            return;
        };
        match (call.question, answer) {
            (Question::Grant(ttl_ms), LogAnswer::Granted(lease)) => {
                self.lease = Some((lease, Lease::new(ttl_ms, call.sent_ms)));
            }
            (Question::Renew(_), LogAnswer::Renewed(true)) => {
                if let Some((_, lease)) = &mut self.lease {
                    lease.renewed(call.sent_ms);
                }
            }
            (Question::Renew(_), LogAnswer::Renewed(false)) => self.lease = None,
            (Question::Lead(..), LogAnswer::Led(leadership)) => self.led(leadership, time),
            (Question::Append(..), answer) => self.appended(answer, time),
            (Question::Look(position), answer) => self.looked(position, answer, time),
            (Question::Follow(_), LogAnswer::Batches(outcome)) => self.follow(outcome, time),
            (Question::End(of), answer) => self.end(of, number, &answer, time),
            (Question::Nodes, LogAnswer::Nodes(states)) => self.nodes(&states, time),
            _ => {}
        }
    }
}
