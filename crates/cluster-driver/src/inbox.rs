//! The messages to the thread of a driver.

use fulgurite_cluster::{Epoch, Forwarded, LogAnswer, NodeId, Outcome, Position};

/// Something that takes one result. If it is dropped before, it takes the result that says nothing.
pub(crate) struct Reply<T> {
    then: Option<Box<dyn FnOnce(T) + Send>>,
    default: fn() -> T,
}

impl<T> Reply<T> {
    pub(crate) fn new(then: Box<dyn FnOnce(T) + Send>, default: fn() -> T) -> Reply<T> {
        Reply {
            then: Some(then),
            default,
        }
    }

    /// Hands a result over.
    pub(crate) fn give(mut self, result: T) {
        if let Some(then) = self.then.take() {
            then(result);
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Some(then) = self.then.take() {
            then((self.default)());
        }
    }
}

/// A message to the thread.
pub(crate) enum Message<U, A> {
    /// The log answers.
    Told(u64, LogAnswer),
    /// A client has an update.
    Update(U, Reply<Outcome<A>>),
    /// A client waits for a state: that of a position, or the newest one.
    Read(Option<Position>, Reply<Option<Position>>),
    /// Another node forwards an update.
    Forwarded(Forwarded<U>),
    /// The sequencer answers.
    Replied(u64, Outcome<A>),
    /// Another node asks about an update that it has forwarded.
    Inquired(NodeId, u64, Epoch),
    /// The sequencer has no such update.
    Absent(u64, Position),
    /// Resign, and end.
    Stop,
    /// End at once.
    Abandon,
}
