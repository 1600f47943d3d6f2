//! The batches of a leader: one at a time.

use crate::batch::{RequestMark, TooLong, has_requests};
use crate::log::{AppendOutcome, ReadOutcome};
use crate::sequencer::{Draft, Sequencer, Todo};
use crate::values::Position;

use super::content::{Content, Time};
use super::message::{EndUse, LogAnswer, Outcome, Question};
use super::state::{Begun, Node, Queued, Role, Transaction};

impl<C: Content> Node<C> {
    /// Begins the next batch, if there is something to do.
    pub(super) fn work(&mut self, time: Time) {
        let Role::Leading(sequencer, transaction) = &self.role else {
            return;
        };
        let is_busy = !sequencer.is_idle() || transaction.is_some();
        if is_busy || time.now_ms < self.full_until_ms {
            return;
        }
        let mut count = self.settings.batch_updates_max;
        while !self.queue.is_empty() {
            count = count.min(self.queue.len());
            match self.begin_batch(count, time) {
                Ok(question) => return self.ask(question, time),
                Err(_) if count > 1 => count /= 2,
                Err(_) => {
                    let update = self.queue.remove(0).update;
                    self.reply(update.from, update.number, Outcome::TooLong);
                    count = self.settings.batch_updates_max;
                }
            }
        }
    }

    /// Does the first updates of the queue in a transaction, and returns the question that decides
    /// about it.
    fn begin_batch(&mut self, count: usize, time: Time) -> Result<Question, TooLong> {
        let id = self.next_batch();
        let Role::Leading(sequencer, transaction) = &mut self.role else {
            unreachable!("only a leader makes batches");
        };
        let first = self.queue.iter().take(count);
        let updates: Vec<&C::Update> = first.map(|queued| &queued.update.update).collect();
        let effects = self.content.begin(&updates, sequencer.head().csn, time);
        assert_eq!(effects.answers.len(), count, "each update has an answer");
        let marks = self.queue.iter().zip(&effects.answers);
        let marks = marks.filter(|(queued, _)| queued.update.from != self.id);
        let marks = marks.map(|(queued, answer)| RequestMark {
            node: queued.update.from,
            number: queued.update.number,
            code: C::code(answer),
        });
        let draft = Draft {
            version: self.version,
            requests: match has_requests(self.version) {
                true => marks.collect(),
                false => Vec::new(),
            },
            is_single: count == 1,
            records: effects.records,
        };
        let question = if draft.records.is_empty() {
            Question::End(EndUse::Refusals)
        } else {
            if let Err(error) = sequencer.begin(draft, id, time.now_ms) {
                self.content.abort();
                return Err(error);
            }
            append(sequencer)
        };
        let queued = self.queue.drain(..count).zip(effects.answers);
        let updates = queued.map(|(Queued { update, .. }, answer)| Begun {
            from: update.from,
            number: update.number,
            answer,
        });
        *transaction = Some(Transaction {
            begun_ms: time.now_ms,
            is_overdue: false,
            bytes: sequencer.batch().map_or(0, |(bytes, ..)| bytes.len()),
            updates: updates.collect(),
        });
        Ok(question)
    }

    /// Takes the answer to an append; silence leaves the outcome unknown.
    pub(super) fn appended(&mut self, answer: LogAnswer, time: Time) {
        let outcome = match answer {
            LogAnswer::Appended(outcome) => outcome,
            _ => AppendOutcome::Unknown,
        };
        if outcome == AppendOutcome::Full {
            self.full_until_ms = time.now_ms + self.settings.full_wait_ms;
            self.due.trim_ms = time.now_ms;
        }
        if let Role::Leading(sequencer, _) = &mut self.role {
            let todo = sequencer.appended(&outcome);
            self.weigh(todo, outcome == AppendOutcome::Unknown, time);
            self.step(todo, time);
        }
    }

    /// Takes the answer to a look at the position of the batch.
    pub(super) fn looked(&mut self, position: Position, answer: LogAnswer, time: Time) {
        let outcome = match answer {
            LogAnswer::Batches(outcome) => outcome,
            _ => ReadOutcome::Unavailable,
        };
        if let Role::Leading(sequencer, _) = &mut self.role {
            assert_eq!(position, sequencer.head().position.next());
            let todo = sequencer.looked(&outcome);
            self.weigh(todo, outcome == ReadOutcome::Unavailable, time);
            self.step(todo, time);
        }
    }

    /// Notes whether an answer was an outcome. A log that refuses each question answers at once.
    fn weigh(&mut self, todo: Todo, is_open: bool, time: Time) {
        match todo {
            Todo::Append | Todo::Look if is_open => self.doubt.fail(time.now_ms),
            Todo::Append | Todo::Look => {}
            _ => self.doubt.reset(),
        }
    }

    /// Does the next step of the sequencer.
    fn step(&mut self, todo: Todo, time: Time) {
        let Role::Leading(sequencer, transaction) = &self.role else {
            return;
        };
        match todo {
            Todo::Append => {
                let question = append(sequencer);
                self.ask(question, time);
            }
            // The clock looks later.
            Todo::Look if time.now_ms < self.full_until_ms || !self.doubt.is_over(time.now_ms) => {}
            Todo::Look => {
                let position = sequencer.head().position.next();
                self.ask(Question::Look(position), time);
            }
            Todo::Commit(head) => {
                let epoch = sequencer.epoch();
                let bytes = transaction.as_ref().map_or(0, |open| open.bytes);
                self.content.commit(head);
                if self.content.head() == head {
                    self.applied(head, epoch, bytes, time);
                    self.settle(head.position);
                    self.serve();
                    self.work(time);
                } else {
                    // The log has the batch: its clients wait until it is applied from there.
                    self.settle(head.position);
                    self.step_down(|| Outcome::Busy, time);
                }
            }
            Todo::Abort => self.step_down(|| Outcome::Busy, time),
            Todo::Full => self.abandon(|| Outcome::Busy),
            Todo::Lost => {
                self.step_down(|| Outcome::Unknown, time);
                self.copy();
            }
        }
    }

    /// Looks at the clock for the batch that is on its way.
    pub(super) fn tick_batch(&mut self, time: Time) {
        let is_asked = |question: &Question| {
            let is_append = matches!(question, Question::Append(..));
            is_append || matches!(question, Question::Look(_))
        };
        let is_asked = self.calls.any(is_asked);
        let Role::Leading(sequencer, transaction) = &mut self.role else {
            return;
        };
        let is_idle = sequencer.is_idle();
        let wait_ms = self.settings.append_wait_ms;
        let is_late = |open: &&mut Transaction<C::Answer>| time.now_ms >= open.begun_ms + wait_ms;
        if let Some(open) = transaction.as_mut().filter(is_late) {
            if is_idle {
                // Refusals only: the log does not say whether their state is the newest.
                self.calls.forget(EndUse::Refusals);
                self.abandon(|| Outcome::Busy);
            } else {
                open.is_overdue = true;
                let updates = std::mem::take(&mut open.updates);
                self.reply_all(updates, |_| Outcome::Unknown);
            }
        }
        let waits = matches!(&self.role, Role::Leading(_, Some(_)));
        if !is_idle && !is_asked {
            self.step(Todo::Look, time);
        } else if is_idle && waits {
            self.ask(Question::End(EndUse::Refusals), time);
        }
    }

    /// Answers the updates of a transaction that is closed.
    pub(super) fn settle(&mut self, position: Position) {
        let updates = self.close();
        self.reply_all(updates, |answer| Outcome::Settled(position, answer));
    }

    /// Drops the open transaction, if there is one, and tells its clients.
    pub(super) fn abandon(&mut self, outcome: fn() -> Outcome<C::Answer>) {
        if let Role::Leading(_, Some(_)) = &self.role {
            self.content.abort();
        }
        let updates = self.close();
        self.reply_all(updates, |_| outcome());
    }

    fn reply_all(
        &mut self,
        updates: Vec<Begun<C::Answer>>,
        outcome: impl Fn(C::Answer) -> Outcome<C::Answer>,
    ) {
        for begun in updates {
            self.reply(begun.from, begun.number, outcome(begun.answer));
        }
    }

    fn close(&mut self) -> Vec<Begun<C::Answer>> {
        match &mut self.role {
            Role::Leading(_, transaction) => transaction.take().map(|open| open.updates),
            _ => None,
        }
        .unwrap_or_default()
    }
}

/// Returns the question that appends the sequencer's batch.
fn append(sequencer: &Sequencer) -> Question {
    let (bytes, after, _) = sequencer.batch().expect("a batch has begun");
    let ends = [sequencer.head(), *after];
    Question::Append(sequencer.epoch(), ends, bytes.to_vec())
}
