//! The promises of the cluster, checked against the log that there is in the end.

use std::collections::BTreeMap;

use fulgurite_cluster::{Batch, Csn, Digest, Outcome, Position, RequestMark, digest};

use crate::store::{Entries, Update, effect, key_of};

/// An update of a client.
#[derive(Clone, Copy, Debug)]
struct Sent {
    update: Update,
    /// The last position that was acknowledged to anybody before.
    from: Position,
    outcome: Option<Outcome<bool>>,
    /// The end of the log at the answer.
    upto: Position,
}

/// All that clients and nodes have seen.
#[derive(Debug, Default)]
pub struct Checker {
    updates: BTreeMap<u64, Sent>,
    /// The lowest position that a read may be served at.
    reads: BTreeMap<u64, Position>,
    sessions: BTreeMap<u64, Position>,
    /// The content of the first node at each position.
    contents: BTreeMap<Position, Entries>,
    seen: Position,
    /// Updates that are done.
    pub done: usize,
    /// Updates that were refused.
    pub refused: usize,
    /// Updates whose clients hear that the outcome is unknown.
    pub unknown: usize,
    /// Reads that were served.
    pub served: usize,
}

impl Checker {
    /// Notes an update of a client.
    pub fn sent(&mut self, number: u64, update: Update) {
        let sent = Sent {
            update,
            from: self.seen,
            outcome: None,
            upto: Position(0),
        };
        self.updates.insert(number, sent);
    }

    /// Notes the answer of a node that is at `here`.
    ///
    /// # Errors
    /// The broken promise.
    pub fn answered(
        &mut self,
        number: u64,
        outcome: Outcome<bool>,
        here: Position,
        end: Position,
    ) -> Result<(), String> {
        let sent = self.updates.get_mut(&number).ok_or("an answer to nobody")?;
        if sent.outcome.is_some() {
            return Err(format!("update {number} is answered twice"));
        }
        // The log has told the node, where the sequencer's answer was lost.
        let outcome = match outcome {
            Outcome::Recorded(position, code) => Outcome::Settled(position, code == 0),
            outcome => outcome,
        };
        self.unknown += usize::from(matches!(outcome, Outcome::Unknown));
        sent.outcome = Some(outcome);
        sent.upto = end;
        match outcome {
            Outcome::Settled(position, true) => {
                self.done += 1;
                self.seen = self.seen.max(position);
                if here < position {
                    return Err(format!("update {number} is answered before it is applied"));
                }
                let session = self.sessions.entry(number % 4).or_default();
                *session = position.max(*session);
            }
            Outcome::Settled(_, false) => self.refused += 1,
            _ => {}
        }
        Ok(())
    }

    /// Returns true if the client has its answer, or will have none.
    #[must_use]
    pub fn is_answered(&self, number: u64) -> bool {
        let sent = self.updates.get(&number);
        sent.is_none_or(|sent| sent.outcome.is_some())
    }

    /// Notes that nobody will answer.
    pub fn lost(&mut self, number: u64) {
        if let Some(sent) = self.updates.get_mut(&number) {
            sent.outcome.get_or_insert(Outcome::Unknown);
        }
    }

    /// Begins a linearizable read.
    pub fn reads(&mut self, number: u64) {
        self.reads.insert(number, self.seen);
    }

    /// Begins a read of a session, and returns the position that the client has seen.
    pub fn reads_in_session(&mut self, number: u64) -> Position {
        let seen = self
            .sessions
            .get(&(number % 4))
            .copied()
            .unwrap_or_default();
        self.reads.insert(number, seen);
        seen
    }

    /// Notes a read that was served, or not.
    ///
    /// # Errors
    /// The broken promise.
    pub fn served(
        &mut self,
        number: u64,
        here: Option<Position>,
        is_linear: bool,
    ) -> Result<(), String> {
        let Some(from) = self.reads.remove(&number) else {
            return Err("a read is served twice".to_owned());
        };
        let Some(here) = here else { return Ok(()) };
        self.served += 1;
        if here < from {
            return Err(format!(
                "a read is served at {here}, and {from} was seen before"
            ));
        }
        match is_linear {
            true => self.seen = self.seen.max(here),
            false => {
                let session = self.sessions.entry(number % 4).or_default();
                *session = here.max(*session);
            }
        }
        Ok(())
    }

    /// Notes the content of a node.
    ///
    /// # Errors
    /// The broken promise.
    pub fn applied(&mut self, position: Position, entries: &Entries) -> Result<(), String> {
        let first = self
            .contents
            .entry(position)
            .or_insert_with(|| entries.clone());
        match first == entries {
            true => Ok(()),
            false => Err(format!("nodes differ at position {position}")),
        }
    }

    /// Checks everything against the log.
    ///
    /// # Errors
    /// The broken promise.
    pub fn finish(&self, log: &[(Position, Vec<u8>)]) -> Result<(), String> {
        let mut entries = Entries::new();
        let (mut chain, mut csn) = (Digest::default(), Csn::default());
        let mut changes: BTreeMap<u64, Position> = BTreeMap::new();
        // For each entry: the position of a change, and whether it is there afterwards.
        let mut history: BTreeMap<u8, Vec<(Position, bool)>> = BTreeMap::new();
        for ((position, bytes), expected) in log.iter().zip(1..) {
            let batch = Batch::decode(bytes).map_err(|error| error.to_string())?;
            if *position != Position(expected) || batch.previous != chain {
                return Err(format!(
                    "batch {position} comes after batch {}",
                    expected - 1
                ));
            }
            chain = digest(bytes);
            for record in &batch.records {
                if record.csn <= csn {
                    return Err(format!("numbers of batch {position} do not ascend"));
                }
                csn = record.csn;
                effect(&mut entries, record);
                let key = key_of(record);
                let change = (*position, entries.contains_key(&key));
                history.entry(key).or_default().push(change);
                if changes.insert(record.session, *position).is_some() {
                    return Err(format!("update {} is in the log twice", record.session));
                }
            }
            if let Some(content) = self.contents.get(position)
                && *content != entries
            {
                return Err(format!("nodes differ from the log at {position}"));
            }
        }
        self.updates.iter().try_for_each(|(number, sent)| {
            let history = history
                .get(&sent.update.key())
                .map_or(&[][..], Vec::as_slice);
            check(*number, sent, changes.get(number).copied(), history)
        })
    }
}

/// Checks that a batch has the changes of the requests that it calls done. Their numbers are those
/// of the updates.
///
/// # Errors
/// The broken promise.
pub fn check_requests(bytes: &[u8]) -> Result<(), String> {
    let batch = Batch::decode(bytes).map_err(|error| error.to_string())?;
    let is_here = |number| batch.records.iter().any(|record| record.session == number);
    let wrong = |mark: &&RequestMark| is_here(mark.number) != (mark.code == 0);
    match batch.requests.iter().find(wrong) {
        Some(mark) => Err(format!("batch {} has {mark:?}", batch.position)),
        None => Ok(()),
    }
}

/// Checks the answer to an update.
fn check(
    number: u64,
    sent: &Sent,
    here: Option<Position>,
    history: &[(Position, bool)],
) -> Result<(), String> {
    match (sent.outcome, here) {
        (None, _) => Err(format!("update {number} has no answer")),
        (Some(Outcome::Settled(position, true)), here) if here != Some(position) => Err(format!(
            "update {number} was done at {position}, and is at {here:?}"
        )),
        (Some(Outcome::Busy | Outcome::TooLong | Outcome::Settled(_, false)), Some(here)) => {
            Err(format!("update {number} was refused, and is at {here}"))
        }
        (Some(Outcome::Settled(_, false)), None) => {
            // The states of the entry while the update was under way.
            let (before, later): (Vec<_>, Vec<_>) =
                history.iter().partition(|(at, _)| *at <= sent.from);
            let first = before.last().is_some_and(|(_, is_here)| *is_here);
            let later = later
                .iter()
                .filter(|(at, _)| *at <= sent.upto)
                .map(|(_, is_here)| *is_here);
            let mut states = [first].into_iter().chain(later);
            match states.any(|is_here| !sent.update.succeeds(is_here)) {
                true => Ok(()),
                false => Err(format!("update {number} was refused without a reason")),
            }
        }
        _ => Ok(()),
    }
}
