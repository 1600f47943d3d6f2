//! Messages to a worker from other threads: a queue, and a waker of its event loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender};
use fulgurite_directory::{ChangeListener, Connection};
use fulgurite_ldap::{LdapResult, MessageId};
use fulgurite_net::Socket;
use mio::{Poll, Token, Waker};

use super::error::ServerError;
use crate::session::handler::{Handler, StateListener};
use crate::session::job::CheckId;

/// The token of a worker's waker. The tokens of connections are their numbers, which begin above.
pub(super) const WAKE: Token = Token(0);

/// The number of a connection, unique while the server runs.
pub(super) type ConnectionId = usize;

/// A message to a worker.
pub(super) enum WorkerMessage<H: Handler> {
    Connection(NewConnection),
    /// Responses of the writer, for several connections.
    Updated(Vec<Response>),
    PasswordChecked(ConnectionId, CheckId, H::PasswordResult),
    /// Finish received requests, take no more, then end.
    Drain,
    /// End now.
    Close,
}

pub(super) struct NewConnection {
    pub(super) id: ConnectionId,
    pub(super) stream: Socket,
    /// True if TLS begins with the first byte.
    pub(super) tls: bool,
    /// True if a header of the PROXY protocol comes before everything else.
    pub(super) proxied: bool,
    pub(super) facts: Arc<Connection>,
}

/// The end of a read's wait for a state of a cluster.
pub(super) struct ReachedState {
    pub(super) connection: ConnectionId,
    pub(super) number: CheckId,
    pub(super) reached: Result<(), LdapResult>,
}

pub(super) struct Response {
    pub(super) connection: ConnectionId,
    pub(super) id: MessageId,
    pub(super) bytes: Vec<u8>,
}

/// The receiving end, with the event loop that it wakes.
pub(super) struct Inbox<H: Handler> {
    pub(super) poll: Poll,
    pub(super) messages: Receiver<WorkerMessage<H>>,
    /// A queue that knows no handler, because other threads outlive it.
    pub(super) states: Receiver<ReachedState>,
    states_sender: Sender<ReachedState>,
    handle: WorkerHandle<H>,
}

/// The sending end.
pub(super) struct WorkerHandle<H: Handler> {
    sender: Sender<WorkerMessage<H>>,
    waker: Arc<Waker>,
    connections: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
    /// Set after a commit, until the worker has seen it.
    changed: Arc<AtomicBool>,
}

impl<H: Handler> Clone for WorkerHandle<H> {
    fn clone(&self) -> Self {
        WorkerHandle {
            sender: self.sender.clone(),
            waker: Arc::clone(&self.waker),
            connections: Arc::clone(&self.connections),
            ended: Arc::clone(&self.ended),
            changed: Arc::clone(&self.changed),
        }
    }
}

impl<H: Handler> Inbox<H> {
    pub(super) fn new() -> Result<Self, ServerError> {
        let poll = Poll::new().map_err(ServerError::system("set up polling"))?;
        let waker =
            Waker::new(poll.registry(), WAKE).map_err(ServerError::system("set up polling"))?;
        // Unbounded, because sessions bound what they have outstanding.
        let (sender, messages) = crossbeam_channel::unbounded();
        let (states_sender, states) = crossbeam_channel::unbounded();
        let handle = WorkerHandle {
            sender,
            waker: Arc::new(waker),
            connections: Arc::default(),
            ended: Arc::default(),
            changed: Arc::default(),
        };
        Ok(Inbox {
            poll,
            messages,
            states,
            states_sender,
            handle,
        })
    }

    pub(super) fn handle(&self) -> WorkerHandle<H> {
        self.handle.clone()
    }

    /// Returns a function that takes the end of a read's wait, and wakes the worker.
    pub(super) fn state_listener(
        &self,
        connection: ConnectionId,
        number: CheckId,
    ) -> StateListener {
        let (sender, waker) = (self.states_sender.clone(), Arc::clone(&self.handle.waker));
        Box::new(move |reached| {
            let state = ReachedState {
                connection,
                number,
                reached,
            };
            // A worker that has ended needs no states.
            if sender.send(state).is_ok()
                && let Err(error) = waker.wake()
            {
                tracing::error!("cannot wake a worker: {error}");
            }
        })
    }

    /// Returns true once after each signal of the [listener](WorkerHandle::change_listener).
    pub(super) fn has_changed(&self) -> bool {
        self.handle.changed.swap(false, Ordering::SeqCst)
    }

    /// Notes that a connection has ended.
    pub(super) fn forget_connection(&self) {
        self.handle.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<H: Handler> Drop for Inbox<H> {
    fn drop(&mut self) {
        self.handle.ended.store(true, Ordering::Release);
    }
}

impl<H: Handler> WorkerHandle<H> {
    /// Queues a message and wakes the worker. A message to a worker that has ended is dropped.
    pub(super) fn send(&self, message: WorkerMessage<H>) {
        if self.sender.send(message).is_ok()
            && let Err(error) = self.waker.wake()
        {
            tracing::error!("cannot wake a worker: {error}");
        }
    }

    /// Returns a function that wakes the worker for searches that wait.
    pub(super) fn change_listener(&self) -> ChangeListener {
        let (changed, waker) = (Arc::clone(&self.changed), Arc::clone(&self.waker));
        Box::new(move || {
            if !changed.swap(true, Ordering::SeqCst)
                && let Err(error) = waker.wake()
            {
                tracing::error!("cannot wake a worker: {error}");
            }
        })
    }

    pub(super) fn hand_over(&self, accepted: NewConnection) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.send(WorkerMessage::Connection(accepted));
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
}
