//! The seam: the log of a cluster, whoever keeps it.

use thiserror::Error;

use crate::values::{Epoch, Head, NodeId, Position};

/// The number of a lease of the log. The log forgets what hangs on it when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

/// The log gave no answer, so the caller knows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the log of the cluster does not answer: check that a majority of etcd runs")]
pub struct Unavailable;

/// The outcome of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// A majority has the batch on its disks.
    Appended,
    /// The log did not take it this time. An earlier try may have been taken.
    Refused(Refusal),
    /// The log is full, and nothing was done. No other try of this call may still arrive. A client
    /// that has given up a try at another member answers `Unknown`.
    Full,
    /// Perhaps it was appended, perhaps not, perhaps it will be.
    Unknown,
}

/// The state of the log at a refused append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The leadership in force.
    pub leader: Option<Epoch>,
    /// The last position.
    pub end: Position,
    /// The batch at the position, if there is one.
    pub present: Option<Vec<u8>>,
}

/// The outcome of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// The batches from the position on, as many as were asked for. None at the end of the log.
    Batches(Vec<(Position, Vec<u8>)>),
    /// The log begins later.
    Trimmed {
        /// Its first position.
        first: Position,
    },
    /// No answer.
    Unavailable,
}

/// The leader of a cluster, as an attempt to lead finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leadership {
    /// The node that asked.
    Leading(Epoch),
    /// Another node, or an earlier life of this one, with the number of its leadership.
    Following(NodeId, Epoch),
}

/// The facts that a node publishes about itself each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// The node.
    pub node: NodeId,
    /// The newest format of batches that it reads.
    pub version: u16,
    /// The position up to which its content is applied.
    pub applied: Position,
    /// The position that would survive a power cut.
    pub durable: Position,
    /// Its wall clock in microseconds since 1970.
    pub clock_us: u64,
}

/// The log of a cluster. All answers are linearizable, and no call blocks for ever.
pub trait ChangeLog {
    /// Appends a batch if `epoch` leads and the log ends at `before`. Then it ends at `after`.
    ///
    /// It is not enough that the log has no batch at the position: it may have been trimmed. Then
    /// a late repetition of an append would be taken again.
    fn append(&self, epoch: Epoch, before: &Head, after: &Head, batch: &[u8]) -> AppendOutcome;

    /// Returns at most `limit` batches from a position on.
    fn read(&self, from: Position, limit: usize) -> ReadOutcome;

    /// Returns the end of the log.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn end(&self) -> Result<Head, Unavailable>;

    /// Begins a lease that ends after `ttl_ms` without a renewal.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn grant(&self, ttl_ms: u64) -> Result<LeaseId, Unavailable>;

    /// Renews a lease; returns false if it has ended.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn renew(&self, lease: LeaseId) -> Result<bool, Unavailable>;

    /// Makes a node the leader if there is none. The leadership ends with the lease.
    ///
    /// # Errors
    /// [`Unavailable`]; the node may lead, and a second call tells.
    fn lead(&self, lease: LeaseId, node: NodeId) -> Result<Leadership, Unavailable>;

    /// Ends a leadership, if it is in force.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn resign(&self, epoch: Epoch) -> Result<(), Unavailable>;

    /// Tells the others about a node, until its lease ends.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn publish(&self, lease: LeaseId, state: &NodeState) -> Result<(), Unavailable>;

    /// Returns the nodes that are alive.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn nodes(&self) -> Result<Vec<NodeState>, Unavailable>;

    /// Returns the reason why the last call had no answer, for a person.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Drops the batches up to a position if `epoch` leads.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn trim(&self, epoch: Epoch, upto: Position) -> Result<(), Unavailable>;
}
