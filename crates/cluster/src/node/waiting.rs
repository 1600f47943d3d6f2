//! The clients that wait: for the sequencer, for a state, or for a batch to be applied here.

use std::collections::BTreeMap;

use super::message::Outcome;
use crate::values::{Epoch, NodeId, Position};

/// A read that waits for a state.
#[derive(Clone, Copy, Debug)]
struct Reader {
    number: u64,
    /// `None` until the end of the log is known.
    position: Option<Position>,
    /// The last question to the log before the read. An answer to it, or to an earlier one, may be
    /// older than the read. Within a millisecond, a clock does not tell.
    last_call: u64,
    begun_ms: u64,
}

/// The reads that wait.
#[derive(Debug, Default)]
pub(super) struct Readers(Vec<Reader>);

impl Readers {
    /// Adds a read that begins behind a question to the log.
    pub(super) fn push(
        &mut self,
        number: u64,
        position: Option<Position>,
        last_call: u64,
        now_ms: u64,
    ) {
        self.0.push(Reader {
            number,
            position,
            last_call,
            begun_ms: now_ms,
        });
    }

    /// Returns true if a read waits for the end of the log.
    pub(super) fn need_end(&self) -> bool {
        self.0.iter().any(|reader| reader.position.is_none())
    }

    /// Notes the end for those that waited before the call. Later ones must ask again.
    pub(super) fn end(&mut self, end: Position, call: u64) {
        for reader in &mut self.0 {
            if reader.last_call < call {
                reader.position.get_or_insert(end);
            }
        }
    }

    /// Takes those whose state is here.
    pub(super) fn ready(&mut self, here: Position) -> Vec<u64> {
        let is_ready = |reader: &mut Reader| reader.position.is_some_and(|at| at <= here);
        let ready = self.0.extract_if(.., is_ready);
        ready.map(|reader| reader.number).collect()
    }

    /// Takes those that have waited for too long.
    pub(super) fn late(&mut self, now_ms: u64, wait_ms: u64) -> Vec<u64> {
        let is_late = |reader: &mut Reader| reader.begun_ms + wait_ms <= now_ms;
        let late = self.0.extract_if(.., is_late);
        late.map(|reader| reader.number).collect()
    }
}

/// An own client's update at the sequencer.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end_ms: u64,
    to: NodeId,
    /// The leadership under which it may be done. Without one, the log does not tell.
    epoch: Option<Epoch>,
    /// The time at which to ask the sequencer about it.
    ask_ms: u64,
    /// The update in the log, as this node has applied it: its position and the code of its result.
    found: Option<(Position, u32)>,
    /// The position up to which it is in the log, or was not done.
    upto: Option<Position>,
}

/// The own clients whose updates are with the sequencer, or are settled and not yet applied here.
#[derive(Debug)]
pub(super) struct Clients<A> {
    forwarded: BTreeMap<u64, Sent>,
    settled: Vec<(u64, Position, A)>,
}

/// Milliseconds for the sequencer's answer, before the log or the sequencer is asked.
const ANSWER_WAIT_MS: u64 = 1000;

impl<A> Clients<A> {
    pub(super) fn new() -> Clients<A> {
        Clients {
            forwarded: BTreeMap::new(),
            settled: Vec::new(),
        }
    }

    /// Notes an update that goes to the sequencer.
    pub(super) fn forward(
        &mut self,
        number: u64,
        to: NodeId,
        epoch: Option<Epoch>,
        [now_ms, end_ms]: [u64; 2],
    ) {
        let sent = Sent {
            end_ms,
            to,
            epoch,
            ask_ms: now_ms + ANSWER_WAIT_MS,
            found: None,
            upto: None,
        };
        self.forwarded.insert(number, sent);
    }

    /// Ends the wait for the sequencer; returns false if nobody waits any more. An unknown outcome
    /// ends no wait for an update that the log tells about.
    pub(super) fn returned(&mut self, number: u64, is_known: bool) -> bool {
        let sent = self.forwarded.get(&number);
        let ends = sent.is_some_and(|sent| is_known || sent.epoch.is_none());
        if ends {
            self.forwarded.remove(&number);
        }
        ends
    }

    /// Notes that a batch that is applied here settles an update. The sequencer's answer may still
    /// come.
    pub(super) fn found(&mut self, number: u64, at: Position, code: u32, now_ms: u64) {
        if let Some(sent) = self.forwarded.get_mut(&number) {
            sent.found = Some((at, code));
            sent.end_ms = sent.end_ms.min(now_ms + ANSWER_WAIT_MS);
        }
    }

    /// Notes that an update is in the log up to a position, or was not done.
    pub(super) fn absent(&mut self, number: u64, upto: Position) {
        if let Some(sent) = self.forwarded.get_mut(&number) {
            sent.upto.get_or_insert(upto);
        }
    }

    /// Returns true if an update of an earlier leadership waits for the end of the log.
    pub(super) fn need_end(&self, epoch: Epoch) -> bool {
        self.forwarded.values().any(|sent| sent.is_before(epoch))
    }

    /// Notes the end of the log for the updates of earlier leaderships.
    pub(super) fn end(&mut self, epoch: Epoch, end: Position) {
        let before = self.forwarded.values_mut();
        for sent in before.filter(|sent| sent.is_before(epoch)) {
            sent.upto = Some(end);
        }
    }

    /// Forgets that the log tells, because this node has not read all of it.
    pub(super) fn skipped(&mut self) {
        for sent in self.forwarded.values_mut() {
            if sent.found.is_none() {
                sent.epoch = None;
                sent.upto = None;
            }
        }
    }

    /// Returns the updates to ask the sequencer of a leadership about.
    pub(super) fn inquiries(&mut self, epoch: Epoch, now_ms: u64) -> Vec<(u64, NodeId)> {
        let waiting = self.forwarded.iter_mut().filter(|(_, sent)| {
            let is_open = sent.found.is_none() && sent.upto.is_none();
            is_open && sent.epoch == Some(epoch) && now_ms >= sent.ask_ms
        });
        let ask = waiting.map(|(number, sent)| {
            sent.ask_ms = now_ms + ANSWER_WAIT_MS;
            (*number, sent.to)
        });
        ask.collect()
    }

    /// Takes the updates that the log has settled, as this node has applied it.
    pub(super) fn read(&mut self, here: Position) -> Vec<(u64, Outcome<A>)> {
        let is_read =
            |sent: &Sent| sent.epoch.is_some() && sent.upto.is_some_and(|upto| upto <= here);
        self.take(is_read, || Outcome::Busy)
    }

    /// Takes the forwarded updates that have waited for too long.
    pub(super) fn late(&mut self, now_ms: u64) -> Vec<(u64, Outcome<A>)> {
        self.take(|sent| sent.end_ms <= now_ms, || Outcome::Unknown)
    }

    /// Takes the forwarded updates that are over. Those that this node has not found in the log end
    /// in the other way.
    fn take(
        &mut self,
        is_over: impl Fn(&Sent) -> bool,
        other: fn() -> Outcome<A>,
    ) -> Vec<(u64, Outcome<A>)> {
        let mut taken = Vec::new();
        self.forwarded.retain(|number, sent| {
            let is_over = is_over(sent);
            if is_over {
                let found = sent.found.map(|(at, code)| Outcome::Recorded(at, code));
                taken.push((*number, found.unwrap_or_else(other)));
            }
            !is_over
        });
        taken
    }

    pub(super) fn settled(&mut self, number: u64, position: Position, answer: A) {
        self.settled.push((number, position, answer));
    }

    /// Takes the answers whose positions are applied.
    pub(super) fn ready(&mut self, here: Position) -> Vec<(u64, Outcome<A>)> {
        let ready = self.settled.extract_if(.., |(_, at, _)| *at <= here);
        let ready = ready.map(|(number, at, answer)| (number, Outcome::Settled(at, answer)));
        ready.collect()
    }

    /// Returns the numbers of all that wait.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        let settled = self.settled.iter().map(|(number, ..)| *number);
        settled.chain(self.forwarded.keys().copied())
    }
}

impl Sent {
    /// Returns true if its leadership has ended, and nobody has said where.
    fn is_before(&self, epoch: Epoch) -> bool {
        self.upto.is_none() && self.epoch.is_some_and(|of| of < epoch)
    }
}
