//! The seam: the way to other nodes.

use fulgurite_cluster::{Content, Forwarded, NodeId, Outcome, Position};

/// The progress of a copy.
#[derive(Debug)]
pub enum CopyProgress<C> {
    /// It is on its way.
    Waiting,
    /// It is here.
    Done(C),
    /// No node gives one. The driver begins again later.
    Failed,
}

/// The way to other nodes. The thread of the driver calls it, so no call waits.
///
/// Messages come once, or not at all. Messages of other nodes go to
/// [`Handle::forwarded`](crate::Handle::forwarded) and [`Handle::replied`](crate::Handle::replied).
pub trait Peers<C: Content> {
    /// Sends an update to the sequencer. Returns false if it was not sent, for certain. Then it is
    /// refused at once.
    #[must_use]
    fn forward(&mut self, to: NodeId, update: Forwarded<C::Update>) -> bool;

    /// Sends the outcome of a forwarded update to its node.
    fn reply(&mut self, to: NodeId, number: u64, outcome: Outcome<C::Answer>);

    /// Hears that the content has moved on to a position.
    fn applied(&mut self, _: Position) {}

    /// Begins to fetch the content of another node.
    fn begin_copy(&mut self);

    /// Returns the progress of the copy. The driver asks with each look at the clock.
    fn copy(&mut self) -> CopyProgress<C>;
}
