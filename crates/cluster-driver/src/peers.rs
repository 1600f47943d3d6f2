//! The seam: the way to other nodes.

use fulgurite_cluster::{Content, Epoch, Forwarded, NodeId, Outcome, Position};

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
/// [`Handle::forwarded`](crate::Handle::forwarded), [`Handle::replied`](crate::Handle::replied),
/// [`Handle::inquired`](crate::Handle::inquired) and [`Handle::absent`](crate::Handle::absent).
pub trait Peers<C: Content> {
    /// Sends an update to the sequencer. Returns false if it was not sent, for certain. Then it is
    /// refused at once.
    #[must_use]
    fn forward(&mut self, to: NodeId, update: Forwarded<C::Update>) -> bool;

    /// Sends the outcome of a forwarded update to its node.
    fn reply(&mut self, to: NodeId, number: u64, outcome: Outcome<C::Answer>);

    /// Asks the sequencer of a leadership whether it has a forwarded update.
    fn inquire(&mut self, to: NodeId, number: u64, epoch: Epoch);

    /// Tells a node that its update is in the log up to a position, or will never be done.
    fn absent(&mut self, to: NodeId, number: u64, upto: Position);

    /// Hears that the content has moved on to a position.
    fn applied(&mut self, _: Position) {}

    /// Begins to fetch the content of another node.
    fn begin_copy(&mut self);

    /// Returns the progress of the copy. The driver asks with each look at the clock.
    fn copy(&mut self) -> CopyProgress<C>;
}
