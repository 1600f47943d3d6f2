//! The follower: batches in their order, or a stop.

use thiserror::Error;

use crate::batch::{Batch, Malformed, Record, RecordKind, digest};
use crate::values::{Csn, Epoch, Head, Position};

/// The reason why a node must stop: its content, or the log, is not what the other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Divergence {
    /// The bytes are no batch.
    #[error("batch {0} cannot be read: {1}")]
    Malformed(Position, Malformed),
    /// The batch says another position than the log.
    #[error("batch {0} says that it is batch {1}")]
    Position(Position, Position),
    /// The batch follows another batch.
    #[error("batch {0} follows another batch than the one applied here: take a snapshot")]
    Chain(Position),
    /// A change has a number that is not greater than all before.
    #[error("a change of batch {0} has a number that is not greater than all before")]
    Csn(Position),
    /// A batch of an earlier leadership follows one of a later.
    #[error("batch {0} is of an earlier leadership than the one before")]
    Epoch(Position),
    /// An entry is in another state than the record says.
    #[error("batch {0} changes an entry that is in another state here: take a snapshot")]
    Entry(Position),
}

/// The answer of a follower to a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Apply it, then call [`Follower::applied`] with the new end.
    Apply(Batch, Head),
    /// It was applied before.
    Before,
    /// It is later than the next one.
    Later,
}

/// The end of what a node has applied.
#[derive(Clone, Debug, Default)]
pub struct Follower {
    head: Head,
    epoch: Epoch,
}

impl Follower {
    /// Returns a follower behind what the store has.
    #[must_use]
    pub fn new(stored: Head) -> Follower {
        Follower {
            head: stored,
            epoch: Epoch::default(),
        }
    }

    /// Returns the end of what is applied.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Judges the batch at a position of the log.
    ///
    /// # Errors
    /// [`Divergence`]: the node must stop, and take a snapshot.
    pub fn receive(&self, position: Position, bytes: &[u8]) -> Result<Received, Divergence> {
        let next = self.head.position.next();
        match position.cmp(&next) {
            std::cmp::Ordering::Less => return Ok(Received::Before),
            std::cmp::Ordering::Greater => return Ok(Received::Later),
            std::cmp::Ordering::Equal => {}
        }
        let batch = Batch::decode(bytes);
        let batch = batch.map_err(|error| Divergence::Malformed(position, error))?;
        if batch.position != position {
            return Err(Divergence::Position(position, batch.position));
        }
        if batch.previous != self.head.digest {
            return Err(Divergence::Chain(position));
        }
        if batch.epoch < self.epoch {
            return Err(Divergence::Epoch(position));
        }
        let mut ordered = batch.records.iter().filter(|record| !record.is_unordered);
        if ordered.any(|record| record.csn <= self.head.csn) {
            return Err(Divergence::Csn(position));
        }
        let head = batch.head(&self.head, digest(bytes));
        Ok(Received::Apply(batch, head))
    }

    /// Notes that the batch of this epoch, which ends at `head`, is applied.
    ///
    /// # Panics
    /// If it is not the next one.
    pub fn applied(&mut self, head: Head, epoch: Epoch) {
        assert_eq!(head.position, self.head.position.next(), "in their order");
        self.head = head;
        self.epoch = self.epoch.max(epoch);
    }

    /// Checks a record against the number that the entry has here; `None` if it is not here.
    ///
    /// # Errors
    /// [`Divergence::Entry`].
    pub fn check(position: Position, record: &Record, here: Option<Csn>) -> Result<(), Divergence> {
        let is_new = matches!(record.kind, RecordKind::Add | RecordKind::Glue);
        let fits = record.previous == here && is_new == here.is_none();
        fits.then_some(()).ok_or(Divergence::Entry(position))
    }
}
