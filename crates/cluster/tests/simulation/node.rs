//! A node: the sequencer and the follower of the crate, with calls to the log and to other nodes.

use std::collections::BTreeMap;

use fulgurite_cluster::{
    AppendOutcome, BatchId, Epoch, Follower, Head, Leadership, Lease, LeaseId, NodeId, NodeState,
    Position, ReadOutcome, Received, Record, Sequencer, Todo, TrimFacts, VERSION_NEWEST,
    is_too_far_ahead, trim_upto,
};

use crate::mutant::Mutant;
use crate::store::{Store, Update, csn_behind, effect, record};

pub(crate) const TTL_MS: u64 = 6000;
const CALL_WAIT_MS: u64 = 500;
const APPEND_WAIT_MS: u64 = 10_000;
const FORWARD_WAIT_MS: u64 = 12_000;
/// No append after the log was full. A full log takes no states of nodes, which the trim needs.
const FULL_WAIT_MS: u64 = 8000;
const READ_WAIT_MS: u64 = 3000;
const BATCH_MAX: usize = 8;
const QUEUE_MAX: usize = 64;
/// Batches that a log keeps at least, and at most.
const LOG_MIN: u64 = 6;
pub(crate) const LOG_MAX: u64 = 400;

/// A question to the log.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    Grant,
    Renew(LeaseId),
    Lead(LeaseId),
    Append(Epoch, [Head; 2], Vec<u8>),
    Look(Position),
    Follow(Position),
    /// The end: to begin as a leader, for refusals, or for readers.
    End(EndUse),
    Resign(Epoch),
    Publish(LeaseId, NodeState),
    Nodes,
    Trim(Epoch, Position),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndUse {
    Begin,
    Refusals,
    Readers,
}

/// An answer of the log; `Silence` after the wait.
#[derive(Clone, Debug)]
pub(crate) enum Tell {
    Granted(LeaseId),
    Renewed(bool),
    Led(Leadership),
    Appended(AppendOutcome),
    Batches(ReadOutcome),
    End(Head),
    Nodes(Vec<NodeState>),
    Done,
    Silence,
}

/// The result of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done.
    Done(Position),
    /// Refused because of the content (such as 68 or 32).
    Refused(Position),
    /// 51: nothing was done.
    Busy,
    /// 52: unknown.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Forwarded {
    pub(crate) number: u64,
    pub(crate) update: Update,
    pub(crate) from: NodeId,
}

/// The effects of a node on the world.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    Ask(u64, Ask),
    Forward(NodeId, Forwarded),
    Reply(NodeId, u64, Outcome),
    Answer(u64, Outcome),
    /// A read is served at the position of the node.
    Serve(u64),
    /// A read is refused with 52.
    ServeNot(u64),
    Snapshot,
    /// The content is that of a position.
    Applied,
}

/// A transaction of the store whose batch is on its way.
struct Transaction {
    entries: crate::store::Entries,
    results: Vec<(Forwarded, bool)>,
}

enum Role {
    Following,
    /// It has won, and applies the log up to its end.
    Catching(Epoch, Option<Head>),
    Leading(Sequencer, Option<Transaction>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    number: u64,
    /// `None` until the end of the log is known.
    position: Option<Position>,
    end_ms: u64,
}

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) store: Store,
    pub(crate) boot: u64,
    pub(crate) disk_is_full: bool,
    pub(crate) skew_us: i64,
    pub(crate) effects: Vec<Effect>,
    pub(crate) stopped: Option<String>,
    mutant: Option<Mutant>,
    follower: Follower,
    role: Role,
    leader: Option<NodeId>,
    lease: Option<(LeaseId, Lease)>,
    calls: BTreeMap<u64, (Ask, u64, u64)>,
    next: u64,
    /// Updates with the time at which they are refused.
    queue: Vec<(Forwarded, u64)>,
    forwards: BTreeMap<u64, u64>,
    answers: Vec<(u64, Outcome, Position)>,
    readers: Vec<Waiting>,
    is_copying: bool,
    /// The end of the wait after a full log.
    full_until: u64,
    times: [u64; 4],
    commits: u64,
}

impl Node {
    pub(crate) fn new(id: NodeId, store: Store, boot: u64, mutant: Option<Mutant>) -> Node {
        let follower = Follower::new(store.head);
        Node {
            id,
            store,
            boot,
            mutant,
            follower,
            disk_is_full: false,
            skew_us: 0,
            effects: Vec::new(),
            stopped: None,
            role: Role::Following,
            leader: None,
            lease: None,
            calls: BTreeMap::new(),
            next: boot << 32,
            queue: Vec::new(),
            forwards: BTreeMap::new(),
            answers: Vec::new(),
            readers: Vec::new(),
            is_copying: false,
            full_until: 0,
            times: [0; 4],
            commits: 0,
        }
    }

    pub(crate) fn position(&self) -> Position {
        self.store.head.position
    }

    pub(crate) fn is_leading(&self) -> bool {
        matches!(self.role, Role::Leading(..))
    }

    /// Returns the numbers of the updates of own clients that it has not answered.
    pub(crate) fn unanswered(&self) -> Vec<u64> {
        let begun = match &self.role {
            Role::Leading(_, Some(transaction)) => transaction.results.as_slice(),
            _ => &[],
        };
        let queued = self.queue.iter().map(|(update, _)| update);
        let updates = queued.chain(begun.iter().map(|(update, _)| update));
        let own = updates.filter(|update| update.from == self.id);
        let own = own.map(|update| update.number);
        let answers = self.answers.iter().map(|(number, ..)| *number);
        own.chain(answers)
            .chain(self.forwards.keys().copied())
            .collect()
    }

    fn ask(&mut self, ask: Ask, now: u64) {
        let same = |(other, ..): &(Ask, u64, u64)| match (other, &ask) {
            (Ask::End(a), Ask::End(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        if !self.calls.values().any(same) {
            self.next += 1;
            self.calls
                .insert(self.next, (ask.clone(), now, now + CALL_WAIT_MS));
            self.effects.push(Effect::Ask(self.next, ask));
        }
    }

    /// Takes an update of a client.
    pub(crate) fn update(&mut self, number: u64, update: Update, now: u64) {
        let from = self.id;
        let forwarded = Forwarded {
            number,
            update,
            from,
        };
        if self.is_leading() {
            self.receive(forwarded, now);
        } else if let Some(leader) = self.leader.filter(|leader| *leader != self.id) {
            self.forwards.insert(number, now + FORWARD_WAIT_MS);
            self.effects.push(Effect::Forward(leader, forwarded));
        } else {
            self.effects.push(Effect::Answer(number, Outcome::Busy));
        }
    }

    /// Takes an update of another node's client, or of an own one.
    pub(crate) fn receive(&mut self, update: Forwarded, now: u64) {
        let is_safe = self.lease.is_some_and(|(_, lease)| lease.is_safe(now));
        let accepts = self.is_leading() && is_safe && self.queue.len() < QUEUE_MAX;
        if accepts && !self.disk_is_full && now >= self.full_until {
            self.queue.push((update, now + APPEND_WAIT_MS));
            self.work(now);
        } else {
            self.reply(update, Outcome::Busy);
        }
    }

    fn reply(&mut self, update: Forwarded, outcome: Outcome) {
        if update.from == self.id {
            self.answer(update.number, outcome);
        } else {
            self.effects
                .push(Effect::Reply(update.from, update.number, outcome));
        }
    }

    /// Takes the sequencer's answer to a forwarded update.
    pub(crate) fn replied(&mut self, number: u64, outcome: Outcome) {
        if self.forwards.remove(&number).is_some() {
            self.answer(number, outcome);
        }
    }

    /// Answers a client when the position is applied here.
    fn answer(&mut self, number: u64, outcome: Outcome) {
        let position = match outcome {
            Outcome::Done(position) | Outcome::Refused(position) => position,
            _ => Position(0),
        };
        match position <= self.position() {
            true => self.effects.push(Effect::Answer(number, outcome)),
            false => self.answers.push((number, outcome, position)),
        }
    }

    /// Takes a read: linearizable, or not before a position.
    pub(crate) fn read(&mut self, number: u64, not_before: Option<Position>, now: u64) {
        self.readers.push(Waiting {
            number,
            position: not_before,
            end_ms: now + READ_WAIT_MS,
        });
        match not_before {
            Some(_) => self.serve(),
            // One answer serves those that wait when it is asked for. Later ones ask again.
            None => self.ask_end(now),
        }
    }

    fn ask_end(&mut self, now: u64) {
        let waits = self.readers.iter().any(|reader| reader.position.is_none());
        if waits {
            self.ask(Ask::End(EndUse::Readers), now);
        }
    }

    fn serve(&mut self) {
        let here = self.position();
        let (ready, waiting) =
            self.readers.iter().copied().partition(|reader: &Waiting| {
                reader.position.is_some_and(|position| position <= here)
            });
        self.readers = waiting;
        let ready: Vec<Waiting> = ready;
        let served = ready.iter().map(|reader| Effect::Serve(reader.number));
        self.effects.extend(served);
        let answers = std::mem::take(&mut self.answers);
        for (number, outcome, _) in answers {
            self.answer(number, outcome);
        }
    }

    /// Begins the next batch, if there is something to do.
    fn work(&mut self, now: u64) {
        let Role::Leading(sequencer, transaction) = &mut self.role else {
            return;
        };
        let is_busy = !sequencer.is_idle() || transaction.is_some();
        if is_busy || self.queue.is_empty() || now < self.full_until {
            return;
        }
        let count = self.queue.len().min(BATCH_MAX);
        let updates = self.queue.drain(..count).map(|(update, _)| update);
        let updates: Vec<Forwarded> = updates.collect();
        let wall_us = (1_000_000_000 + now * 1000).saturating_add_signed(self.skew_us);
        let mut entries = self.store.entries.clone();
        let mut records: Vec<Record> = Vec::new();
        let mut results = Vec::new();
        for update in updates {
            let last = records.last().map_or(sequencer.head().csn, |last| last.csn);
            let csn = csn_behind(last, wall_us);
            let made = record(&entries, update.number, update.update, csn);
            results.push((update, made.is_some()));
            if let Some(record) = made {
                effect(&mut entries, &record);
                records.push(record);
            }
        }
        let next = sequencer.head().position.next();
        let here = sequencer.head().position;
        let epoch = sequencer.epoch();
        let mut early = Vec::new();
        match self.mutant {
            Some(Mutant::AnswerBeforeAppend) => early.append(&mut results),
            Some(Mutant::EarlyRefusals) => results.retain(|(update, is_done)| {
                if !is_done {
                    early.push((*update, false));
                }
                *is_done
            }),
            _ => {}
        }
        let is_refusal = records.is_empty();
        let mut ask = None;
        if !is_refusal {
            let id = (u128::from(self.boot) << 64 | u128::from(now) << 8 | u128::from(self.id.0))
                .to_le_bytes();
            let todo = sequencer
                .begin(records, BatchId(id), now)
                .expect("a short batch");
            assert_eq!(todo, Todo::Append);
            let (bytes, after, _) = sequencer.batch().expect("a batch");
            ask = Some(Ask::Append(
                epoch,
                [sequencer.head(), *after],
                bytes.to_vec(),
            ));
        }
        *transaction = Some(Transaction { entries, results });
        self.ask(ask.unwrap_or(Ask::End(EndUse::Refusals)), now);
        for (update, is_done) in early {
            let outcome = match is_done {
                true => Outcome::Done(next),
                false => Outcome::Refused(here),
            };
            match update.from == self.id {
                true => self.effects.push(Effect::Answer(update.number, outcome)),
                false => self.reply(update, outcome),
            }
        }
    }

    fn finish(&mut self, position: Position, outcome: Option<Outcome>) {
        let Role::Leading(_, transaction) = &mut self.role else {
            return;
        };
        let results = transaction.take().map_or_else(Vec::new, |all| all.results);
        for (update, is_done) in results {
            let settled = match is_done {
                true => Outcome::Done(position),
                false => Outcome::Refused(position),
            };
            self.reply(update, outcome.unwrap_or(settled));
        }
    }

    /// Does the next step of the sequencer.
    fn step(&mut self, todo: Todo, now: u64) {
        let Role::Leading(sequencer, transaction) = &mut self.role else {
            return;
        };
        match todo {
            Todo::Append => {
                let (bytes, after, _) = sequencer.batch().expect("a batch");
                let heads = [sequencer.head(), *after];
                let ask = Ask::Append(sequencer.epoch(), heads, bytes.to_vec());
                self.ask(ask, now);
            }
            Todo::Look if now < self.full_until => {}
            Todo::Look => {
                let position = sequencer.head().position.next();
                self.ask(Ask::Look(position), now);
            }
            Todo::Commit(head) => {
                let epoch = sequencer.epoch();
                let entries = transaction
                    .as_mut()
                    .map(|all| std::mem::take(&mut all.entries));
                self.store.entries = entries.expect("a transaction");
                self.store.head = head;
                self.follower.applied(head, epoch);
                self.committed();
                self.finish(head.position, None);
                self.serve();
                self.work(now);
            }
            Todo::Abort => self.step_down(Outcome::Busy, now),
            Todo::Full => {
                self.finish(Position(0), Some(Outcome::Busy));
                self.work(now);
            }
            Todo::Lost => {
                self.step_down(Outcome::Unknown, now);
                self.copy();
            }
        }
    }

    fn committed(&mut self) {
        self.effects.push(Effect::Applied);
        self.commits += 1;
        if self.commits.is_multiple_of(5) {
            self.store.checkpoint(self.boot);
        }
    }

    /// Ends the leadership. Updates that have not begun were not done.
    fn step_down(&mut self, outcome: Outcome, now: u64) {
        let Role::Leading(sequencer, _) = &self.role else {
            return;
        };
        let epoch = sequencer.epoch();
        self.finish(Position(0), Some(outcome));
        for (update, _) in std::mem::take(&mut self.queue) {
            self.reply(update, Outcome::Busy);
        }
        self.role = Role::Following;
        self.leader = None;
        // An answer to this leadership must not count for the next one.
        self.forget(EndUse::Refusals);
        self.ask(Ask::Resign(epoch), now);
    }

    fn forget(&mut self, of: EndUse) {
        self.calls
            .retain(|_, (ask, ..)| !matches!(ask, Ask::End(other) if *other == of));
    }

    fn copy(&mut self) {
        if !std::mem::replace(&mut self.is_copying, true) {
            self.effects.push(Effect::Snapshot);
        }
    }

    /// Takes the content of another node.
    pub(crate) fn copied(&mut self, from: Option<&Store>) {
        self.is_copying = false;
        if let Some(from) = from.filter(|from| from.head.position > self.position()) {
            self.store.entries.clone_from(&from.entries);
            self.store.head = from.head;
            self.store.checkpoint(self.boot);
            self.follower = Follower::new(from.head);
            self.effects.push(Effect::Applied);
            self.serve();
        }
    }

    /// Takes an answer of the log. Late ones are nobody's.
    pub(crate) fn told(&mut self, call: u64, tell: Tell, now: u64) {
        let Some((ask, sent, _)) = self.calls.remove(&call) else {
            return;
        };
        match (ask, tell) {
            (Ask::Grant, Tell::Granted(lease)) => {
                self.lease = Some((lease, Lease::new(TTL_MS, sent)));
            }
            (Ask::Renew(_), Tell::Renewed(true)) => {
                if let Some((_, lease)) = &mut self.lease {
                    lease.renewed(sent);
                }
            }
            (Ask::Renew(_), Tell::Renewed(false)) => self.lease = None,
            (Ask::Lead(_), Tell::Led(leadership)) => self.led(leadership, now),
            (Ask::Append(..), tell) => self.appended(tell, now),
            (Ask::Look(position), tell) => self.looked(position, tell, now),
            (Ask::Follow(_), Tell::Batches(outcome)) => self.follow(outcome, now),
            (Ask::End(of), tell) => self.end(of, sent, tell, now),
            (Ask::Nodes, Tell::Nodes(states)) => self.nodes(&states, now),
            _ => {}
        }
    }

    fn led(&mut self, leadership: Leadership, now: u64) {
        match leadership {
            Leadership::Leading(epoch) => {
                self.leader = Some(self.id);
                // The leadership of before has ended without a word, and others may have appended.
                if let Role::Leading(sequencer, _) = &self.role
                    && sequencer.epoch() != epoch
                    && sequencer.is_idle()
                {
                    self.step_down(Outcome::Busy, now);
                    self.leader = Some(self.id);
                }
                let is_new = match &self.role {
                    Role::Following => true,
                    Role::Catching(other, _) => *other != epoch,
                    Role::Leading(..) => false,
                };
                if is_new {
                    self.role = Role::Catching(epoch, None);
                    // The end must be read after the node has won.
                    self.forget(EndUse::Begin);
                    self.ask(Ask::End(EndUse::Begin), now);
                }
            }
            Leadership::Following(node) => {
                self.leader = Some(node);
                match &self.role {
                    Role::Leading(sequencer, _) if sequencer.is_idle() => {
                        self.step_down(Outcome::Busy, now);
                    }
                    Role::Catching(..) => self.role = Role::Following,
                    _ => {}
                }
            }
        }
    }

    fn appended(&mut self, tell: Tell, now: u64) {
        let outcome = match (tell, self.mutant) {
            (Tell::Appended(outcome), _) => outcome,
            (_, Some(Mutant::CommitOnUnknown)) => AppendOutcome::Appended,
            _ => AppendOutcome::Unknown,
        };
        if outcome == AppendOutcome::Full {
            self.full_until = now + FULL_WAIT_MS;
        }
        if let Role::Leading(sequencer, _) = &mut self.role {
            let todo = sequencer.appended(&outcome);
            self.step(todo, now);
        }
    }

    fn looked(&mut self, position: Position, tell: Tell, now: u64) {
        let Role::Leading(sequencer, _) = &mut self.role else {
            return;
        };
        assert_eq!(position, sequencer.head().position.next());
        let todo = match tell {
            Tell::Batches(outcome) => sequencer.looked(&outcome),
            _ => sequencer.looked(&ReadOutcome::Unavailable),
        };
        self.step(todo, now);
    }

    fn follow(&mut self, outcome: ReadOutcome, now: u64) {
        if self.is_leading() || self.disk_is_full || self.stopped.is_some() {
            return;
        }
        match outcome {
            ReadOutcome::Trimmed { .. } => self.copy(),
            ReadOutcome::Unavailable => {}
            ReadOutcome::Batches(batches) => {
                let more = !batches.is_empty();
                for (position, bytes) in batches {
                    match self.follower.receive(position, &bytes) {
                        Ok(Received::Apply(batch, head)) => match self.store.apply(&batch, head) {
                            Ok(()) => {
                                self.follower.applied(head, batch.epoch);
                                self.committed();
                            }
                            Err(error) => self.stopped = Some(error.to_string()),
                        },
                        Ok(Received::Before | Received::Later) => {}
                        Err(error) => self.stopped = Some(error.to_string()),
                    }
                }
                self.serve();
                self.begin();
                if more {
                    self.ask(Ask::Follow(self.position().next()), now);
                }
            }
        }
    }

    /// Begins to lead if everything is applied.
    fn begin(&mut self) {
        if let Role::Catching(epoch, Some(end)) = &self.role
            && self.position() >= end.position
            && !self.is_copying
            && self.stopped.is_none()
        {
            if self.position() > end.position {
                // Another node has appended, so this leadership is over.
                self.role = Role::Following;
                return;
            }
            if self.store.head != *end {
                self.stopped = Some("the head of the log differs".to_owned());
                return;
            }
            self.role = Role::Leading(Sequencer::new(self.id, *epoch, self.store.head), None);
        }
    }

    fn end(&mut self, of: EndUse, sent: u64, tell: Tell, now: u64) {
        match (of, tell) {
            (EndUse::Begin, Tell::End(head)) => {
                if let Role::Catching(epoch, _) = self.role {
                    self.role = Role::Catching(epoch, Some(head));
                    self.begin();
                }
            }
            (EndUse::Refusals, Tell::End(head)) if self.is_leading() => {
                if head.position == self.position() {
                    self.finish(head.position, None);
                    self.work(now);
                } else {
                    self.step_down(Outcome::Busy, now);
                }
            }
            (EndUse::Refusals, _) if self.is_leading() => self.ask(Ask::End(EndUse::Refusals), now),
            (EndUse::Readers, Tell::End(head)) => {
                // Only those that waited when it was asked for.
                let asked = |reader: &&mut Waiting| {
                    reader.position.is_none() && reader.end_ms <= sent + READ_WAIT_MS
                };
                let waiting = self.readers.iter_mut().filter(asked);
                waiting.for_each(|reader| reader.position = Some(head.position));
                self.serve();
                self.ask_end(now);
            }
            _ => {}
        }
    }

    fn nodes(&mut self, states: &[NodeState], now: u64) {
        let Role::Leading(sequencer, _) = &self.role else {
            return;
        };
        let epoch = sequencer.epoch();
        let end = self.position();
        let others: Vec<NodeState> = states
            .iter()
            .copied()
            .filter(|state| state.node != self.id)
            .collect();
        let wall_us = (1_000_000_000 + now * 1000).saturating_add_signed(self.skew_us);
        if is_too_far_ahead(wall_us, &others) && sequencer.is_idle() {
            self.step_down(Outcome::Busy, now);
            return;
        }
        let facts = TrimFacts {
            old: Position(end.0.saturating_sub(LOG_MIN)),
            excess: Position(end.0.saturating_sub(LOG_MAX)),
            end,
        };
        let upto = match self.mutant {
            Some(Mutant::TrimTooFar) => end,
            _ => trim_upto(states, &facts),
        };
        if upto > Position(0) {
            self.ask(Ask::Trim(epoch, upto), now);
        }
    }

    /// Looks at the clock.
    pub(crate) fn tick(&mut self, now: u64) {
        let late = self.calls.iter().filter(|(_, (_, _, end))| *end <= now);
        let late: Vec<u64> = late.map(|(call, _)| *call).collect();
        for call in late {
            self.told(call, Tell::Silence, now);
        }
        let late = self.forwards.iter().filter(|(_, end)| **end <= now);
        let late: Vec<u64> = late.map(|(number, _)| *number).collect();
        for number in late {
            self.replied(number, Outcome::Unknown);
        }
        // The batch before them may stay unknown for ever. They have not begun.
        let late = self.queue.iter().take_while(|(_, end)| *end <= now).count();
        let late: Vec<_> = self.queue.drain(..late).collect();
        for (update, _) in late {
            self.reply(update, Outcome::Busy);
        }
        let is_late = |reader: &mut Waiting| reader.end_ms <= now;
        let late = self.readers.extract_if(.., is_late);
        let late = late.map(|reader| Effect::ServeNot(reader.number));
        self.effects.extend(late);
        self.ask_end(now);
        match self.lease {
            None => self.ask(Ask::Grant, now),
            Some((id, lease)) if lease.is_due(now) => self.ask(Ask::Renew(id), now),
            _ => {}
        }
        self.tick_role(now);
        if !self.is_leading() && !self.is_copying {
            self.ask(Ask::Follow(self.position().next()), now);
        }
        self.tick_slow(now);
    }

    fn tick_role(&mut self, now: u64) {
        let is_asked = |(ask, ..): &(Ask, u64, u64)| matches!(ask, Ask::Append(..) | Ask::Look(_));
        if let Role::Leading(sequencer, _) = &self.role
            && sequencer.batch().is_some()
            && !self.calls.values().any(is_asked)
        {
            self.step(Todo::Look, now);
        }
        match &mut self.role {
            Role::Leading(sequencer, transaction) => {
                if sequencer.is_overdue(now, APPEND_WAIT_MS)
                    && let Some(transaction) = transaction
                {
                    let results = std::mem::take(&mut transaction.results);
                    for (update, _) in results {
                        self.reply(update, Outcome::Unknown);
                    }
                } else if sequencer.is_idle() && (self.disk_is_full || self.stopped.is_some()) {
                    self.step_down(Outcome::Busy, now);
                }
            }
            Role::Catching(_, None) => self.ask(Ask::End(EndUse::Begin), now),
            _ => {}
        }
        self.begin();
        self.work(now);
    }

    /// Does what comes each second, and each three.
    fn tick_slow(&mut self, now: u64) {
        let [leads, publishes, trims, checkpoints] = &mut self.times;
        let is_due = |time: &mut u64, each| {
            now >= *time && {
                *time = now + each;
                true
            }
        };
        let (leads, publishes, trims, checkpoints) = (
            is_due(leads, 700),
            is_due(publishes, 1000),
            is_due(trims, 3000),
            is_due(checkpoints, 5000),
        );
        // A full log has no commits. It has room again when the nodes do not need it.
        if checkpoints && !self.disk_is_full && self.store.durable() != self.store.head {
            self.store.checkpoint(self.boot);
        }
        if leads
            && let Some((lease, _)) = self.lease
            && !self.disk_is_full
            && self.stopped.is_none()
        {
            self.ask(Ask::Lead(lease), now);
        }
        if publishes && let Some((lease, _)) = self.lease {
            let state = NodeState {
                node: self.id,
                version: VERSION_NEWEST,
                applied: self.position(),
                durable: self.store.durable().position,
                clock_us: (1_000_000_000 + now * 1000).saturating_add_signed(self.skew_us),
            };
            self.ask(Ask::Publish(lease, state), now);
        }
        if trims && self.is_leading() {
            self.ask(Ask::Nodes, now);
        }
    }
}
