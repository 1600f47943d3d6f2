//! An event loop and the connections that it owns.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use fulgurite::ReadTxn;
use fulgurite_net::{Socket, TlsStream};
use mio::{Events, Interest, Poll, Token};
use rustc_hash::FxHashMap;
use rustls::ServerConfig;

use super::commit::{Committer, seconds_now};
use super::connection::Connection;
use super::messages::{Inbox, Message, QueuedSession};
use crate::command::{Context, ItemAccess, Pause, Session};
use crate::error::ServeError;

/// The token of the waker.
pub(super) const WAKE: Token = Token(usize::MAX);

/// Bytes read from one connection in one turn.
const READ_BYTES: usize = 64 * 1024;

/// The interval of checks for connections that are silent for too long.
const TIME_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct Worker<'c> {
    pub(super) committer: Committer<'c>,
    pub(super) poll: Poll,
    pub(super) messages: Receiver<Message>,
    pub(super) own: Inbox,
    /// The writer; without it the worker commits itself.
    pub(super) writer: Option<Sender<QueuedSession>>,
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) handshake_timeout: Duration,
}

/// The running part of a worker.
struct Turns<'c> {
    worker: Worker<'c>,
    txn: ReadTxn<'c>,
    connections: FxHashMap<usize, Connection>,
    next_id: usize,
    /// Connections that get a turn, in order.
    queue: Vec<usize>,
    /// Connections whose sessions have to write.
    writing: Vec<usize>,
    scratch: Vec<u8>,
    checked_at: Instant,
    has_ended: bool,
}

impl<'c> Worker<'c> {
    /// Serves connections until a message stops it.
    pub(super) fn run(self) -> Result<(), ServeError> {
        let txn = self.committer.cache.read()?;
        let turns = Turns {
            worker: self,
            txn,
            connections: FxHashMap::default(),
            next_id: 0,
            queue: Vec::new(),
            writing: Vec::new(),
            scratch: vec![0; READ_BYTES],
            checked_at: Instant::now(),
            has_ended: false,
        };
        turns.run()
    }

    /// Returns true if connections may end because they are silent.
    fn watches_time(&self) -> bool {
        self.idle_timeout.is_some() || self.tls.is_some()
    }
}

impl Turns<'_> {
    fn run(mut self) -> Result<(), ServeError> {
        let mut events = Events::with_capacity(1024);
        while !self.has_ended {
            let timeout = match self.queue.is_empty() {
                true => self.worker.watches_time().then_some(TIME_INTERVAL),
                false => Some(Duration::ZERO),
            };
            if self.queue.is_empty() {
                // No snapshot is kept while the worker waits.
                self.txn.reset();
            }
            match self.worker.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(ServeError::system("poll connections")(error));
                }
                _ => {}
            }
            for event in &events {
                if event.token() == WAKE {
                    self.read_messages();
                } else if let Some(connection) = self.connections.get_mut(&event.token().0) {
                    connection.record_event(event);
                    self.enqueue(event.token().0);
                }
            }
            let now_s = seconds_now();
            for id in std::mem::take(&mut self.queue) {
                self.serve(id, now_s);
            }
            self.commit(now_s);
            self.close_silent();
        }
        let ids: Vec<usize> = self.connections.keys().copied().collect();
        ids.into_iter().for_each(|id| self.close(id));
        Ok(())
    }

    fn enqueue(&mut self, id: usize) {
        if let Some(connection) = self.connections.get_mut(&id)
            && !connection.is_queued
        {
            connection.is_queued = true;
            self.queue.push(id);
        }
    }

    fn read_messages(&mut self) {
        self.worker.own.alarm.silence();
        while let Ok(message) = self.worker.messages.try_recv() {
            match message {
                Message::Connection(socket, is_tls) => self.adopt(socket, is_tls),
                Message::Written(id, session) => {
                    if let Some(connection) = self.connections.get_mut(&id) {
                        connection.session = Some(session);
                        self.enqueue(id);
                    }
                }
                Message::Stop => self.has_ended = true,
            }
        }
    }

    fn adopt(&mut self, mut socket: Socket, is_tls: bool) {
        let statistics = &self.worker.committer.server.statistics;
        let config = self.worker.tls.as_ref().filter(|_| is_tls);
        let layer = config.cloned().map(TlsStream::new).transpose();
        socket.send_at_once();
        let id = self.next_id;
        let registry = self.worker.poll.registry();
        let wants = Interest::READABLE | Interest::WRITABLE;
        let registered = registry.register(&mut socket, Token(id), wants);
        match (registered, layer) {
            (Ok(()), Ok(layer)) => {
                self.next_id += 1;
                let connection = Connection::new(socket, layer, Instant::now());
                self.connections.insert(id, connection);
                self.enqueue(id);
            }
            (registered, layer) => {
                statistics.connections.fetch_sub(1, Ordering::Relaxed);
                let reason = registered.err().map(|error| error.to_string());
                let reason = reason.or_else(|| layer.err().map(|error| error.to_string()));
                tracing::warn!("cannot serve a connection: {}", reason.unwrap_or_default());
            }
        }
    }

    /// Reads, runs commands and writes for one connection, a bounded amount of each.
    fn serve(&mut self, id: usize, now_s: u32) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        connection.is_queued = false;
        let committer = self.worker.committer;
        let read = connection.read(&mut self.scratch, committer.counters);
        let Some(session) = &mut connection.session else {
            return;
        };
        if let Err(error) = read {
            tracing::debug!("a connection is lost: {error}");
            return self.close(id);
        }
        // A client may have heard of any commit that was before its request.
        let pause = match self.txn.refresh() {
            Ok(()) => session.run(&mut Context {
                cache: committer.cache,
                server: committer.server,
                counters: committer.counters,
                access: ItemAccess::Read(&self.txn),
                now_s,
            }),
            Err(error) => Pause::Failed(error),
        };
        if let Pause::Failed(error) = &pause {
            tracing::error!("a client's connection ends: {error}");
            session.fail();
        }
        let written = connection.write(committer.counters);
        let has_unsent = connection.has_unsent();
        let has_more = connection.is_readable();
        let is_over = match pause {
            Pause::Close | Pause::Failed(_) => !has_unsent,
            Pause::Input => connection.has_ended && !has_unsent,
            Pause::Output | Pause::Writer => false,
        };
        if written.is_err() || is_over {
            return self.close(id);
        }
        match pause {
            Pause::Writer => self.writing.push(id),
            Pause::Input if has_more => self.enqueue(id),
            Pause::Output if !has_unsent => self.enqueue(id),
            _ => {}
        }
    }

    /// Commits the changes of all sessions of this turn, or lets the writer do so.
    fn commit(&mut self, now_s: u32) {
        if self.writing.is_empty() {
            return;
        }
        let mut ids = std::mem::take(&mut self.writing);
        ids.retain(|id| self.connections.contains_key(id));
        let taken = ids.iter().filter_map(|id| {
            let connection = self.connections.get_mut(id)?;
            connection.session.take()
        });
        let mut sessions: Vec<Session> = taken.collect();
        debug_assert_eq!(ids.len(), sessions.len());
        if let Some(writer) = &self.worker.writer {
            for (connection, session) in ids.into_iter().zip(sessions) {
                let inbox = self.worker.own.clone();
                // The writer ends after all workers.
                let _ = writer.send(QueuedSession {
                    connection,
                    session,
                    inbox,
                });
            }
            return;
        }
        // The old snapshot would keep pages from being used again.
        self.txn.reset();
        self.worker.committer.commit(&mut sessions);
        for (id, session) in ids.into_iter().zip(sessions) {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.session = Some(session);
                self.serve(id, now_s);
            }
        }
        // Their next commands may write again, in the next turn.
        for id in std::mem::take(&mut self.writing) {
            self.enqueue(id);
        }
    }

    /// Closes connections that are silent for too long.
    fn close_silent(&mut self) {
        let now = Instant::now();
        if !self.worker.watches_time() || now.duration_since(self.checked_at) < TIME_INTERVAL {
            return;
        }
        self.checked_at = now;
        let (idle_timeout, handshake_timeout) =
            (self.worker.idle_timeout, self.worker.handshake_timeout);
        let is_idle = |connection: &Connection| {
            idle_timeout.is_some_and(|limit| connection.is_idle(now, limit))
        };
        let connections = self.connections.iter();
        let silent: Vec<(usize, bool)> = connections
            .map(|(id, connection)| (*id, connection, is_idle(connection)))
            .filter(|(_, connection, is_idle)| {
                *is_idle || connection.is_stuck(now, handshake_timeout)
            })
            .map(|(id, _, is_idle)| (id, is_idle))
            .collect();
        for (id, is_idle) in silent {
            if is_idle {
                self.worker.committer.counters.idle_kicks.up();
            }
            self.close(id);
        }
    }

    fn close(&mut self, id: usize) {
        if let Some(mut connection) = self.connections.remove(&id) {
            connection.close_layer();
            let statistics = &self.worker.committer.server.statistics;
            statistics.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
