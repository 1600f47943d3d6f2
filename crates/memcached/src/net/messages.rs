//! Messages between the threads.

use std::sync::Arc;

use crossbeam_channel::Sender;
use fulgurite_net::Socket;
use mio::Waker;

use crate::command::Session;

/// A message to a worker.
#[derive(Debug)]
pub(super) enum Message {
    /// A new connection; true if it begins with TLS.
    Connection(Socket, bool),
    /// A session of a connection, after its commit.
    Written(usize, Session),
    /// The server ends.
    Stop,
}

/// A session that has to write, and the way back.
pub(super) struct QueuedSession {
    pub(super) connection: usize,
    pub(super) session: Session,
    pub(super) inbox: Inbox,
}

/// The way to a worker.
#[derive(Debug, Clone)]
pub(super) struct Inbox {
    pub(super) messages: Sender<Message>,
    pub(super) waker: Arc<Waker>,
}

impl Inbox {
    /// Sends a message. A worker that has ended needs none.
    pub(super) fn send(&self, message: Message) {
        if self.messages.send(message).is_ok() {
            let _ = self.waker.wake();
        }
    }
}
