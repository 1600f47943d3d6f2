//! Updates and reads of clients, and their answers.

use crate::values::{NodeId, Position};

use super::content::{Content, Time};
use super::message::{EndUse, Forwarded, Outcome, Output, Question};
use super::state::{Node, Queued};

impl<C: Content> Node<C> {
    /// Takes an update of an own client. Its answer comes as [`Output::Answer`].
    pub fn update(&mut self, number: u64, update: C::Update, time: Time) {
        let from = self.id;
        let forwarded = Forwarded {
            number,
            update,
            from,
        };
        if self.is_leading() {
            self.forwarded(forwarded, time);
        } else if let Some(leader) = self.leader.filter(|leader| *leader != self.id) {
            let end_ms = time.now_ms + self.settings.forward_wait_ms;
            self.clients.forward(number, end_ms);
            self.outputs.push(Output::Forward(leader, forwarded));
        } else {
            self.outputs.push(Output::Answer(number, Outcome::Busy));
        }
    }

    /// Takes an update of another node's client.
    pub fn forwarded(&mut self, update: Forwarded<C::Update>, time: Time) {
        let is_safe = self
            .lease
            .is_some_and(|(_, lease)| lease.is_safe(time.now_ms));
        let has_room = self.queue.len() < self.settings.queue_max
            && time.now_ms >= self.full_until_ms
            && self.content.is_writable()
            && !self.is_retired;
        if self.is_leading() && is_safe && has_room {
            let end_ms = time.now_ms + self.settings.append_wait_ms;
            self.queue.push(Queued { update, end_ms });
            self.work(time);
        } else {
            self.reply(update.from, update.number, Outcome::Busy);
        }
    }

    /// Takes the sequencer's outcome of a forwarded update.
    pub fn replied(&mut self, number: u64, outcome: Outcome<C::Answer>) {
        if self.clients.returned(number) {
            self.answer(number, outcome);
        }
    }

    /// Takes a read: linearizable, or not before a position that the client has seen.
    ///
    /// It comes back as [`Output::Serve`] or [`Output::Refuse`]. A read that may be old needs no
    /// call.
    pub fn read(&mut self, number: u64, not_before: Option<Position>, time: Time) {
        let last = self.calls.last();
        self.readers.push(number, not_before, last, time.now_ms);
        match not_before {
            Some(_) => self.serve(),
            None => self.ask_end(time),
        }
    }

    pub(super) fn reply(&mut self, to: NodeId, number: u64, outcome: Outcome<C::Answer>) {
        if to == self.id {
            self.answer(number, outcome);
        } else {
            self.outputs.push(Output::Reply(to, number, outcome));
        }
    }

    /// Answers an own client once the position is applied here: it reads what it has written.
    fn answer(&mut self, number: u64, outcome: Outcome<C::Answer>) {
        match outcome {
            Outcome::Settled(position, answer) if position > self.position() => {
                self.clients.settled(number, position, answer);
            }
            outcome => self.outputs.push(Output::Answer(number, outcome)),
        }
    }

    /// Asks for the end, for the reads that wait for it. One answer serves all that wait when it
    /// is asked for.
    pub(super) fn ask_end(&mut self, time: Time) {
        if self.readers.need_end() {
            self.ask(Question::End(EndUse::Readers), time);
        }
    }

    /// Answers those who wait for what is applied now.
    pub(super) fn serve(&mut self) {
        let here = self.position();
        let reads = self.readers.ready(here).into_iter().map(Output::Serve);
        self.outputs.extend(reads);
        let answers = self.clients.ready(here).into_iter();
        let answers = answers.map(|(number, outcome)| Output::Answer(number, outcome));
        self.outputs.extend(answers);
    }

    /// Refuses those who have waited for too long.
    pub(super) fn refuse_late(&mut self, time: Time) {
        for number in self.clients.late(time.now_ms) {
            self.replied(number, Outcome::Unknown);
        }
        // The batch before them may stay unknown for ever. They have not begun.
        let is_late = |queued: &mut Queued<C::Update>| queued.end_ms <= time.now_ms;
        let late: Vec<_> = self.queue.extract_if(.., is_late).collect();
        for queued in late {
            self.reply(queued.update.from, queued.update.number, Outcome::Busy);
        }
        let late = self.readers.late(time.now_ms, self.settings.read_wait_ms);
        self.outputs.extend(late.into_iter().map(Output::Refuse));
    }
}
