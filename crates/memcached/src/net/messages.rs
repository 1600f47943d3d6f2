//! Messages between the threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    pub(super) alarm: Arc<Alarm>,
}

/// The waker of a worker. Many messages of one commit wake it once.
#[derive(Debug)]
pub(super) struct Alarm {
    waker: Waker,
    /// True from a wake until the worker begins to read its messages.
    is_ringing: AtomicBool,
}

impl Alarm {
    pub(super) fn new(waker: Waker) -> Alarm {
        Alarm {
            waker,
            is_ringing: AtomicBool::new(false),
        }
    }

    /// Wakes the worker, unless a wake is under way.
    fn ring(&self) {
        if !self.is_ringing.swap(true, Ordering::SeqCst) && self.waker.wake().is_err() {
            // The next message tries again.
            self.silence();
        }
    }

    /// Lets the next message wake again. The worker calls it before it reads its messages. So it
    /// misses none: a message that did not wake was sent before this.
    pub(super) fn silence(&self) {
        self.is_ringing.store(false, Ordering::SeqCst);
    }
}

impl Inbox {
    /// Sends a message. A worker that has ended needs none.
    pub(super) fn send(&self, message: Message) {
        if self.messages.send(message).is_ok() {
            self.alarm.ring();
        }
    }
}
