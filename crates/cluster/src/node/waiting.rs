//! The clients that wait: for the sequencer, for a state, or for a batch to be applied here.

use std::collections::BTreeMap;

use super::message::Outcome;
use crate::values::Position;

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

/// The own clients whose updates are with the sequencer, or are settled and not yet applied here.
#[derive(Debug)]
pub(super) struct Clients<A> {
    /// The ends of the waits for the sequencer.
    forwarded: BTreeMap<u64, u64>,
    settled: Vec<(u64, Position, A)>,
}

impl<A> Clients<A> {
    pub(super) fn new() -> Clients<A> {
        Clients {
            forwarded: BTreeMap::new(),
            settled: Vec::new(),
        }
    }

    pub(super) fn forward(&mut self, number: u64, end_ms: u64) {
        self.forwarded.insert(number, end_ms);
    }

    /// Ends the wait for the sequencer; returns false if nobody waits any more.
    pub(super) fn returned(&mut self, number: u64) -> bool {
        self.forwarded.remove(&number).is_some()
    }

    /// Returns the forwarded updates that have waited for too long.
    pub(super) fn late(&self, now_ms: u64) -> Vec<u64> {
        let late = self.forwarded.iter().filter(|(_, end)| **end <= now_ms);
        late.map(|(number, _)| *number).collect()
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
