//! The content of a node, as its loop sees it.

use crate::batch::{Batch, Record};
use crate::follower::Divergence;
use crate::values::{Csn, Head, Position};

/// The time, as the driver reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Milliseconds of a clock that never goes back.
    pub now_ms: u64,
    /// Microseconds since 1970, of a clock that people set.
    pub wall_us: u64,
}

/// The effects of some updates, and their answers in the order of the updates.
#[derive(Clone, Debug)]
pub struct Effects<A> {
    /// The changes. None if all updates were refused.
    pub records: Vec<Record>,
    /// For each update, the answer if the transaction is committed.
    pub answers: Vec<A>,
}

/// The content of a node: a store with at most one open transaction.
///
/// The loop calls it from one thread. A call may write to the disk, and never waits for others.
pub trait Content {
    /// An update of a client.
    type Update;
    /// The answer to a client. It may be a refusal.
    type Answer;

    /// Returns the end of what is applied.
    fn head(&self) -> Head;

    /// Returns the position that would survive a power cut.
    fn durable(&self) -> Position;

    /// Returns false while the disk takes no more.
    fn is_writable(&self) -> bool;

    /// Opens a transaction and does the updates in it. The numbers of its changes are greater than
    /// `last`.
    fn begin(&mut self, updates: &[&Self::Update], last: Csn, time: Time) -> Effects<Self::Answer>;

    /// Returns the code of an answer's result. 0 is success, and the log keeps it.
    fn code(answer: &Self::Answer) -> u32;

    /// Commits the open transaction, which ends at `head`. If the store fails, the content and its
    /// end are as before, and the batch comes again from the log.
    fn commit(&mut self, head: Head);

    /// Drops the open transaction.
    fn abort(&mut self);

    /// Applies a batch of the log, which ends at `head`, as a whole or not at all. If the store
    /// fails, the content and its end are as before, and the batch comes again.
    ///
    /// # Errors
    /// [`Divergence`]: the content is not what the batch was made for.
    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence>;

    /// Does what is due, such as a checkpoint. A store without commits needs one too: the log
    /// keeps all that is not durable.
    fn maintain(&mut self, now_ms: u64);
}
