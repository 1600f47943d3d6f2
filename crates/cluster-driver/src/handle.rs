//! The clients' side of a driver.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use fulgurite_cluster::{Epoch, Forwarded, NodeId, Outcome, Position};

use crate::inbox::{Message, Reply};
use crate::settings::Clock;
use crate::status::{Board, DriverStatus};

/// The state that a read needs. One that may be old needs no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// All that was acknowledged to anybody before the read.
    Linearizable,
    /// All up to a position that the client has seen.
    NotBefore(Position),
}

impl Freshness {
    fn not_before(self) -> Option<Position> {
        match self {
            Freshness::Linearizable => None,
            Freshness::NotBefore(position) => Some(position),
        }
    }
}

/// The way to a driver. Clones share it.
pub struct Handle<U, A> {
    inbox: SyncSender<Message<U, A>>,
    board: Arc<Board>,
    clock: Clock,
}

impl<U, A> Clone for Handle<U, A> {
    fn clone(&self) -> Handle<U, A> {
        Handle {
            inbox: self.inbox.clone(),
            board: Arc::clone(&self.board),
            clock: Arc::clone(&self.clock),
        }
    }
}

impl<U, A> fmt::Debug for Handle<U, A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Handle");
        out.field("status", &self.board.read())
            .finish_non_exhaustive()
    }
}

impl<U: Send + 'static, A: Send + 'static> Handle<U, A> {
    pub(crate) fn new(
        inbox: SyncSender<Message<U, A>>,
        board: Arc<Board>,
        clock: Clock,
    ) -> Handle<U, A> {
        Handle {
            inbox,
            board,
            clock,
        }
    }

    /// Submits an update. The driver's thread calls `then` with its outcome, once. So `then` must
    /// not wait.
    pub fn submit(&self, update: U, then: impl FnOnce(Outcome<A>) + Send + 'static) {
        let reply = Reply::new(Box::new(then), || Outcome::Unknown);
        if let Err(Message::Update(_, reply)) = self.send(Message::Update(update, reply)) {
            reply.give(Outcome::Busy);
        }
    }

    /// Submits an update and waits for its outcome, which is unknown after the wait.
    #[must_use]
    pub fn update(&self, update: U, wait: Duration) -> Outcome<A> {
        let (sender, outcome) = sync_channel(1);
        self.submit(update, move |outcome| drop(sender.try_send(outcome)));
        outcome.recv_timeout(wait).unwrap_or(Outcome::Unknown)
    }

    /// Waits until a state is here, and returns a position that is applied then. `None` means that
    /// it has not come in time.
    #[must_use]
    pub fn read(&self, freshness: Freshness, wait: Duration) -> Option<Position> {
        if let Some(position) = freshness.not_before()
            && self.position() >= position
        {
            return Some(self.position());
        }
        let (sender, position) = sync_channel(1);
        let then = move |position| sender.try_send(position).unwrap_or_default();
        self.submit_read(freshness, then);
        position.recv_timeout(wait).ok().flatten()
    }

    /// Waits in the same way without a thread. The driver's thread calls `then`, once. So `then`
    /// must not wait.
    pub fn submit_read(
        &self,
        freshness: Freshness,
        then: impl FnOnce(Option<Position>) + Send + 'static,
    ) {
        let reply = Reply::new(Box::new(then), || None);
        // A full inbox drops the reply, which says that no state came.
        drop(self.send(Message::Read(freshness.not_before(), reply)));
    }

    /// Takes an update that another node has forwarded. Its outcome goes to the peers. Returns
    /// false if there is no room: the update is not done.
    #[must_use]
    pub fn forwarded(&self, update: Forwarded<U>) -> bool {
        self.send(Message::Forwarded(update)).is_ok()
    }

    /// Takes the sequencer's outcome of a forwarded update.
    pub fn replied(&self, number: u64, outcome: Outcome<A>) {
        // Without room, the update waits for its end, and its outcome is unknown.
        drop(self.send(Message::Replied(number, outcome)));
    }

    /// Takes another node's question about an update that it has forwarded.
    pub fn inquired(&self, from: NodeId, number: u64, epoch: Epoch) {
        // Without room, it asks again.
        drop(self.send(Message::Inquired(from, number, epoch)));
    }

    /// Takes the sequencer's word that an update is in the log up to a position, or will never be
    /// done.
    pub fn absent(&self, number: u64, upto: Position) {
        // Without room, the node asks again.
        drop(self.send(Message::Absent(number, upto)));
    }

    /// Returns the state of the node.
    #[must_use]
    pub fn status(&self) -> DriverStatus {
        self.board.read()
    }

    /// Returns true if the node has stopped, because its content differs from the others'.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.board.has_stopped()
    }

    /// Returns the position that is applied.
    #[must_use]
    pub fn position(&self) -> Position {
        self.board.read().position
    }

    /// Returns the time in milliseconds since the log has answered, or `None` if it never has. A
    /// local read may be as old.
    #[must_use]
    pub fn silence_ms(&self) -> Option<u64> {
        let heard_ms = self.board.read().heard_ms?;
        Some((self.clock)().now_ms.saturating_sub(heard_ms))
    }

    /// Lets the driver settle its batch, resign and end. Clients get their outcomes before.
    pub fn stop(&self) {
        // The thread takes messages, or has ended.
        drop(self.inbox.send(Message::Stop));
    }

    /// Ends the driver at once, as a crash of its process does.
    pub fn abandon(&self) {
        drop(self.inbox.send(Message::Abandon));
    }

    /// Sends a message, unless there is no room.
    fn send(&self, message: Message<U, A>) -> Result<(), Message<U, A>> {
        let sent = self.inbox.try_send(message);
        sent.map_err(|error| match error {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        })
    }
}
