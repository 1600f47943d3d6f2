//! Updates and reads of clients, and their answers.

use crate::batch::{Batch, RequestMark, VERSION_NEWEST, has_requests};
use crate::values::{Epoch, NodeId, Position};

use super::content::{Content, Time};
use super::message::{EndUse, Forwarded, Outcome, Output, Question};
use super::state::{Node, Queued, Role};

/// Updates that a leadership refuses if they come late, at most.
const GONE_MAX: usize = 65_536;

impl<C: Content> Node<C> {
    /// Takes an update of an own client. Its answer comes as [`Output::Answer`].
    pub fn update(&mut self, number: u64, update: C::Update, time: Time) {
        let from = self.id;
        let epoch = match has_requests(self.version) {
            true => self.leader_epoch,
            false => None,
        };
        let forwarded = Forwarded {
            number,
            update,
            from,
            epoch: epoch.filter(|_| !self.is_leading()),
        };
        if self.is_leading() {
            self.forwarded(forwarded, time);
        } else if let Some(leader) = self.leader.filter(|leader| *leader != self.id) {
            let end_ms = time.now_ms + self.settings.forward_wait_ms;
            let times = [time.now_ms, end_ms];
            self.clients.forward(number, leader, forwarded.epoch, times);
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
        let is_late = update.epoch.is_some_and(|of| Some(of) != self.epoch())
            || update
                .epoch
                .is_some_and(|of| self.gone.contains(&(of, update.from, update.number)));
        if update.epoch.is_some() {
            // The node has seen that all nodes read what it needs.
            self.version = VERSION_NEWEST;
        }
        if !is_late && self.is_leading() && is_safe && has_room {
            let end_ms = time.now_ms + self.settings.append_wait_ms;
            self.queue.push(Queued { update, end_ms });
            self.work(time);
        } else {
            self.reply(update.from, update.number, Outcome::Busy);
        }
    }

    /// Takes the sequencer's outcome of a forwarded update.
    pub fn replied(&mut self, number: u64, outcome: Outcome<C::Answer>) {
        let is_known = !matches!(outcome, Outcome::Unknown);
        if self.clients.returned(number, is_known) {
            self.answer(number, outcome);
        }
    }

    /// Takes another node's question about an update that it has forwarded to a leadership.
    ///
    /// While the update is here, its outcome comes. Otherwise it is in the log already, or it is
    /// refused from now on, if it should come late.
    pub fn inquired(&mut self, from: NodeId, number: u64, epoch: Epoch) {
        let Role::Leading(sequencer, transaction) = &self.role else {
            return;
        };
        let is_it = |of: NodeId, other: u64| of == from && other == number;
        let waiting = self.queue.iter().map(|queued| &queued.update);
        let is_here = waiting
            .into_iter()
            .any(|held| is_it(held.from, held.number))
            || transaction.as_ref().is_some_and(|open| {
                let mut begun = open.updates.iter();
                // An update whose wait has ended is there no more, and its batch is in doubt.
                open.is_overdue || begun.any(|begun| is_it(begun.from, begun.number))
            });
        match sequencer.epoch().cmp(&epoch) {
            // A later leadership would be needed for that question.
            std::cmp::Ordering::Less => return,
            std::cmp::Ordering::Equal if is_here || self.gone.len() >= GONE_MAX => return,
            std::cmp::Ordering::Equal => {
                self.gone.insert((epoch, from, number));
            }
            std::cmp::Ordering::Greater => {}
        }
        let absent = Output::Absent(from, number, self.position());
        self.outputs.push(absent);
    }

    /// Takes the sequencer's word that an update is in the log up to a position, or will never be
    /// done.
    pub fn absent(&mut self, number: u64, upto: Position) {
        self.clients.absent(number, upto);
        self.serve();
    }

    /// Notes the updates of own clients that an applied batch settles.
    pub(super) fn note_requests(&mut self, batch: &Batch, time: Time) {
        self.version = self.version.max(batch.version);
        for mark in batch.requests.iter().filter(|mark| mark.node == self.id) {
            let RequestMark { number, code, .. } = *mark;
            self.clients
                .found(number, batch.position, code, time.now_ms);
        }
    }

    /// Asks about the updates whose answers do not come: the sequencer if it leads still, the log
    /// otherwise.
    pub(super) fn inquire(&mut self, time: Time) {
        let Some(epoch) = self.leader_epoch else {
            return;
        };
        if self.clients.need_end(epoch) {
            self.ask(Question::End(EndUse::Lost), time);
        }
        for (number, to) in self.clients.inquiries(epoch, time.now_ms) {
            self.outputs.push(Output::Inquire(to, number, epoch));
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
        let read = self.clients.read(here);
        let answers = answers.chain(read);
        let answers = answers.map(|(number, outcome)| Output::Answer(number, outcome));
        self.outputs.extend(answers);
    }

    /// Refuses those who have waited for too long.
    pub(super) fn refuse_late(&mut self, time: Time) {
        let late = self.clients.late(time.now_ms).into_iter();
        let late = late.map(|(number, outcome)| Output::Answer(number, outcome));
        self.outputs.extend(late);
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
