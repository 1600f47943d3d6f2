//! The words between a node's loop and its driver.

use crate::log::{AppendOutcome, ChangeLog, Leadership, LeaseId, NodeState, ReadOutcome};
use crate::values::{Epoch, Head, NodeId, Position};

/// Batches that a follower reads at once.
const FOLLOW_BATCHES: usize = 8;

/// A question to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Begin a lease of a length in milliseconds.
    Grant(u64),
    /// Renew a lease.
    Renew(LeaseId),
    /// Lead, if nobody does.
    Lead(LeaseId, NodeId),
    /// Append a batch behind the first end. The second end is that behind the batch.
    Append(Epoch, [Head; 2], Vec<u8>),
    /// Read the batch at the position of an append.
    Look(Position),
    /// Read the batches from a position on.
    Follow(Position),
    /// Read the end.
    End(EndUse),
    /// End a leadership.
    Resign(Epoch),
    /// Tell the others about this node.
    Publish(LeaseId, NodeState),
    /// Read the states of all nodes.
    Nodes,
    /// Drop the batches up to a position.
    Trim(Epoch, Position),
}

/// The use of an end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndUse {
    /// A leadership begins behind it.
    Begin,
    /// A batch of refusals is answered if nothing was appended since.
    Refusals,
    /// Linearizable reads wait for it.
    Readers,
    /// Updates of an ended leadership are in the log up to it, or were not done.
    Lost,
}

/// The answer of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogAnswer {
    /// The lease that has begun.
    Granted(LeaseId),
    /// True if the lease goes on.
    Renewed(bool),
    /// The leader.
    Led(Leadership),
    /// The outcome of an append.
    Appended(AppendOutcome),
    /// Batches.
    Batches(ReadOutcome),
    /// The end.
    End(Head),
    /// The states of the nodes.
    Nodes(Vec<NodeState>),
    /// It is done.
    Done,
    /// No answer came.
    Silence,
}

impl Question {
    /// Asks a log.
    #[must_use]
    pub fn ask(&self, log: &impl ChangeLog) -> LogAnswer {
        let answer = match self {
            Question::Grant(ttl_ms) => log.grant(*ttl_ms).map(LogAnswer::Granted),
            Question::Renew(lease) => log.renew(*lease).map(LogAnswer::Renewed),
            Question::Lead(lease, node) => log.lead(*lease, *node).map(LogAnswer::Led),
            Question::Append(epoch, [before, after], batch) => Ok(LogAnswer::Appended(
                log.append(*epoch, before, after, batch),
            )),
            Question::Look(at) => Ok(LogAnswer::Batches(log.read(*at, 1))),
            Question::Follow(from) => Ok(LogAnswer::Batches(log.read(*from, FOLLOW_BATCHES))),
            Question::End(_) => log.end().map(LogAnswer::End),
            Question::Resign(epoch) => log.resign(*epoch).map(|()| LogAnswer::Done),
            Question::Publish(lease, state) => log.publish(*lease, state).map(|()| LogAnswer::Done),
            Question::Nodes => log.nodes().map(LogAnswer::Nodes),
            Question::Trim(epoch, upto) => log.trim(*epoch, *upto).map(|()| LogAnswer::Done),
        };
        answer.unwrap_or(LogAnswer::Silence)
    }

    /// Returns true if one answer serves both: a node asks only one of them at a time.
    pub(super) fn is_like(&self, other: &Question) -> bool {
        match (self, other) {
            (Question::End(one), Question::End(other)) => one == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// The outcome of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<A> {
    /// The answer, at the position whose state it tells about. The log has confirmed it.
    Settled(Position, A),
    /// The log has the update at this position, with this code of its result. The sequencer's
    /// answer is lost.
    Recorded(Position, u32),
    /// Nothing was done, for certain: the client may try again (51).
    Busy,
    /// Nothing was done, for certain: the effects of this one update fit no batch (53).
    TooLong,
    /// The update is done, or will be, or will not (52).
    Unknown,
}

/// An update on its way to the sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarded<U> {
    /// The number that the client's node gave it. It uses no number twice, not in a later life.
    pub number: u64,
    /// The update.
    pub update: U,
    /// The node of the client.
    pub from: NodeId,
    /// The leadership under which it may be done. Without one, nobody finds it in the log.
    pub epoch: Option<Epoch>,
}

/// The wishes of a node's loop. The driver fulfils them in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<U, A> {
    /// Ask the log, and bring the answer with this number of the call.
    Ask(u64, Question),
    /// Send an update to the sequencer.
    Forward(NodeId, Forwarded<U>),
    /// Send the outcome of a forwarded update to its node.
    Reply(NodeId, u64, Outcome<A>),
    /// Ask the sequencer of a leadership whether it has a forwarded update.
    Inquire(NodeId, u64, Epoch),
    /// Tell a node that its update is in the log up to a position, or will never be done.
    Absent(NodeId, u64, Position),
    /// Answer a client.
    Answer(u64, Outcome<A>),
    /// Serve a read from the content as it is now.
    Serve(u64),
    /// Refuse a read: the state that it needs is not here in time (52).
    Refuse(u64),
    /// Fetch the content of another node, and hand it to `Node::copied`.
    Copy,
    /// The content has moved on.
    Applied,
}
