//! An event loop and the connections that it owns.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use fulgurite_ldap::ResultCode;
use mio::{Events, Interest, Token};
use rustc_hash::{FxHashMap, FxHashSet};

use super::connection::{Connection, NO_HEADER, NextStep};
use super::context::ServerContext;
use super::error::ServerError;
use super::hashing;
use super::inbox::{ConnectionId, Inbox, NewConnection, WAKE, WorkerMessage};
use super::live_settings::LiveValues;
use super::run_queue::RunQueue;
use super::updates::Updates;
use super::writer::{QueuedUpdate, UpdateOrigin};
use super::writers::Writers;
use crate::session::handler::Handler;
use crate::session::job::{CheckId, Job};
use crate::session::protocol::Session;
use crate::statistics::WorkerStatistics;

/// Bytes read from one connection in one turn.
const READ_BYTES: usize = 64 * 1024;

/// The interval of checks for connections that exceed a time limit.
const SWEEP_INTERVAL: Duration = Duration::from_millis(500);

pub(super) struct Worker<'h, H: Handler> {
    index: usize,
    shared: ServerContext<'h, H>,
    inbox: Inbox<H>,
    updates: Updates<'h, H::Update>,
    /// Turns of this round that brought no update.
    turns_of_others: usize,
    to_hashing: Sender<hashing::QueuedCheck<H>>,
    connections: FxHashMap<ConnectionId, Connection<'h, H>>,
    /// Connections with searches that wait for changes.
    waiting: FxHashSet<ConnectionId>,
    /// Answers of binds that are held, the next to go out on top.
    held_binds: BinaryHeap<Reverse<(Instant, ConnectionId, CheckId)>>,
    run_queue: RunQueue,
    cache: H::Cache<'h>,
    statistics: Arc<WorkerStatistics>,
    /// The settings that its connections have.
    live: Arc<LiveValues>,
    scratch: Vec<u8>,
    swept_at: Instant,
    draining: bool,
    closing: bool,
}

impl<'h, H: Handler> Worker<'h, H> {
    pub(super) fn new(
        index: usize,
        shared: ServerContext<'h, H>,
        inbox: Inbox<H>,
        writers: Arc<Writers<'h, H::Update>>,
        to_hashing: Sender<hashing::QueuedCheck<H>>,
    ) -> Self {
        Worker {
            index,
            shared,
            inbox,
            updates: Updates::new(writers),
            turns_of_others: 0,
            to_hashing,
            connections: FxHashMap::default(),
            waiting: FxHashSet::default(),
            held_binds: BinaryHeap::new(),
            run_queue: RunQueue::default(),
            cache: H::Cache::default(),
            statistics: shared.statistics.worker(),
            live: Arc::clone(&shared.live.load()),
            scratch: vec![0; READ_BYTES],
            swept_at: Instant::now(),
            draining: false,
            closing: false,
        }
    }

    pub(super) fn run(mut self) -> Result<(), ServerError> {
        let listener = self.inbox.handle().change_listener();
        self.shared.handler.on_change(listener);
        let mut events = Events::with_capacity(1024);
        while !(self.closing || self.draining && self.connections.is_empty()) {
            let timeout = self.timeout();
            self.statistics.end_round();
            match self.inbox.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                    return Err(ServerError::system("poll connections")(error));
                }
                _ => {}
            }
            let now = Instant::now();
            self.statistics.begin_round(now);
            self.follow_settings();
            for event in &events {
                if event.token() == WAKE {
                    self.read_inbox(now);
                } else if let Some(connection) = self.connections.get_mut(&event.token().0) {
                    connection.record_event(event);
                    self.schedule(event.token().0);
                }
            }
            self.release_binds(now);
            self.turns_of_others = 0;
            self.run_queue.begin_round();
            while let Some(id) = self.run_queue.next() {
                let others = self.turns_of_others;
                self.serve(id, now);
                let ends_a_run = self.turns_of_others > others;
                if ends_a_run && self.updates.are_due_within_round(Instant::now) {
                    self.apply_updates(now);
                }
            }
            if self.updates.are_due(self.turns_of_others, Instant::now) {
                self.apply_updates(now);
            }
            self.sweep(now);
        }
        self.updates.hand_over();
        Ok(())
    }

    /// Passes changed settings on to all connections.
    fn follow_settings(&mut self) {
        let newest = self.shared.live.load();
        if Arc::ptr_eq(&newest, &self.live) {
            return;
        }
        self.live = Arc::clone(&newest);
        let log = self.shared.log_of(&newest);
        for connection in self.connections.values_mut() {
            let limits = Arc::clone(&newest.session);
            connection.session.set_limits(limits, log);
        }
    }

    fn timeout(&self) -> Option<Duration> {
        if !(self.run_queue.is_empty() && self.updates.is_empty()) {
            Some(Duration::ZERO)
        } else if self.connections.is_empty() {
            None
        } else {
            let next = self.held_binds.peek();
            let due = next.map(|Reverse((due, ..))| due.saturating_duration_since(Instant::now()));
            Some(due.map_or(SWEEP_INTERVAL, |due| due.min(SWEEP_INTERVAL)))
        }
    }

    fn schedule(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id)
            && !connection.queued
        {
            connection.queued = true;
            self.run_queue.push_fresh(id);
        }
    }

    /// Queues a connection behind all other unfinished ones.
    fn schedule_rest(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id)
            && !connection.queued
        {
            connection.queued = true;
            self.run_queue.push_unfinished(id);
        }
    }

    fn read_inbox(&mut self, now: Instant) {
        if self.inbox.has_changed() {
            self.wake_searches();
        }
        while let Ok(state) = self.inbox.states.try_recv() {
            if let Some(connection) = self.connections.get_mut(&state.connection) {
                connection
                    .session
                    .state_reached(state.number, state.reached);
                self.schedule(state.connection);
            }
        }
        while let Ok(message) = self.inbox.messages.try_recv() {
            match message {
                WorkerMessage::Connection(accepted) => self.adopt(accepted, now),
                WorkerMessage::Updated(responses) => {
                    for response in responses {
                        if let Some(connection) = self.connections.get_mut(&response.connection) {
                            connection.session.updated(response.id, &response.bytes);
                            self.schedule(response.connection);
                        }
                    }
                }
                WorkerMessage::PasswordChecked(id, check, verdict) => {
                    if let Some(connection) = self.connections.get_mut(&id) {
                        connection.session.password_checked(check, Some(verdict));
                        self.schedule(id);
                    }
                }
                WorkerMessage::Drain => self.drain(),
                WorkerMessage::Close => self.close_all(now),
            }
        }
    }

    /// Lets the answers of binds go out whose time has come.
    fn release_binds(&mut self, now: Instant) {
        while let Some(&Reverse((due, id, number))) = self.held_binds.peek()
            && due <= now
        {
            self.held_binds.pop();
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.session.release_bind(number);
                self.schedule(id);
            }
        }
    }

    /// Lets all searches go on that wait for changes.
    fn wake_searches(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for id in waiting {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.session.wake_searches();
                self.schedule(id);
            }
        }
    }

    fn adopt(&mut self, accepted: NewConnection, now: Instant) {
        let NewConnection {
            id,
            mut stream,
            tls,
            proxied,
            facts,
        } = accepted;
        stream.send_at_once();
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registry = self.inbox.poll.registry();
        if let Err(error) = registry.register(&mut stream, Token(id), interest) {
            tracing::warn!("cannot poll a connection: {error}");
            self.inbox.forget_connection();
            return;
        }
        let ServerContext {
            handler,
            identities,
            bind_delays,
            ..
        } = self.shared;
        let log = self.shared.log_of(&self.live);
        let limits = Arc::clone(&self.live.session);
        let meter = self.statistics.open(&facts);
        let session = Session::new(handler, limits, log, Arc::clone(&facts));
        let session = session.with_meter(meter.clone()).with_quotas(identities);
        let mut session = session.with_bind_delays(bind_delays);
        if self.draining {
            session.drain();
        }
        let mut connection = Connection::new(session, stream, facts, meter, now);
        if proxied {
            connection.await_header(now);
        }
        if tls && let Err(error) = connection.begin_tls(self.shared.tls.get().as_deref(), now) {
            tracing::warn!("cannot begin TLS: {error}");
        }
        self.connections.insert(id, connection);
        self.schedule(id);
    }

    fn drain(&mut self) {
        self.draining = true;
        let ids: Vec<ConnectionId> = self.connections.keys().copied().collect();
        for id in ids {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.session.drain();
            }
            self.schedule(id);
        }
    }

    /// Closes all connections at once, with a notice to each client whose socket takes it.
    fn close_all(&mut self, now: Instant) {
        for connection in self.connections.values_mut() {
            connection
                .session
                .disconnect(ResultCode::Unavailable, "the server is shutting down");
            let _ = connection.write(now);
        }
        self.closing = true;
    }

    /// Reads, works and writes for one connection, a bounded amount of each.
    fn serve(&mut self, id: ConnectionId, now: Instant) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        connection.queued = false;
        let read = connection.read(&mut self.scratch, now);
        // Before the operations that the same bytes carry.
        if let (Ok(news), Some(log)) = (&read, self.shared.log_of(&self.live)) {
            if let Some(proxy) = &news.proxy {
                for line in connection.describe_arrival(proxy) {
                    log.line(&line);
                }
            }
            if news.is_secured {
                log.line(&connection.describe_tls());
            }
        }
        let turn = connection.session.turn_with(&mut self.cache);
        self.run_queue.worked(connection.session.worked());
        if connection.session.has_waiting_searches() {
            self.waiting.insert(id);
        }
        self.send_jobs(id);
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        self.statistics.settle();
        let written = read.and_then(|_| {
            connection.write(now)?;
            if connection.session.starts_tls() {
                connection.begin_tls(self.shared.tls.get().as_deref(), now)?;
            }
            Ok(())
        });
        let next = match written {
            Ok(()) => connection.next(turn, &mut self.scratch, now),
            Err(_) if connection.awaits_header() => NextStep::Close(NO_HEADER),
            Err(_) if connection.is_handshaking() => NextStep::Close("TLS negotiation failure"),
            Err(_) => NextStep::Close("lost"),
        };
        match next {
            NextStep::Again => self.schedule_rest(id),
            NextStep::Event => {}
            NextStep::Close(reason) => self.close(id, reason),
        }
    }

    fn send_jobs(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let worker = self.index;
        let mut has_update = false;
        let mut unchecked = Vec::new();
        for job in connection.session.take_jobs() {
            match job {
                Job::Update(message, token, update) => {
                    has_update = true;
                    let writer = self.shared.handler.writer_of(&update);
                    let origin = UpdateOrigin {
                        worker,
                        connection: id,
                        id: message,
                        token,
                    };
                    self.updates.push(writer, QueuedUpdate { origin, update });
                }
                Job::HoldBind(number, delay) => {
                    self.statistics.bind_delayed();
                    let due = Instant::now() + delay;
                    self.held_binds.push(Reverse((due, id, number)));
                }
                Job::AwaitState(number, wish) => {
                    let listener = self.inbox.state_listener(id, number);
                    self.shared.handler.await_state(wish, listener);
                }
                Job::CheckPassword(number, check) => {
                    let queued = hashing::QueuedCheck {
                        worker,
                        connection: id,
                        id: number,
                        check,
                    };
                    if self.to_hashing.try_send(queued).is_ok() {
                        self.statistics.password_queued();
                    } else {
                        self.statistics.password_refused();
                        unchecked.push(number);
                    }
                }
            }
        }
        self.turns_of_others += usize::from(!has_update);
        if unchecked.is_empty() {
            return;
        }
        for number in unchecked {
            connection.session.password_checked(number, None);
        }
        self.schedule(id);
    }

    /// Applies the updates, or hands them to their writers, and passes responses on.
    fn apply_updates(&mut self, now: Instant) {
        // Order matters: ask the writers first, then read the inbox. If a writer is idle, all its
        // responses are in the inbox and precede those of later updates.
        self.updates.ask_writers();
        self.read_inbox(now);
        let responses = self.updates.apply(self.shared.handler);
        for response in &responses {
            if let Some(connection) = self.connections.get_mut(&response.connection) {
                connection.session.updated(response.id, &response.bytes);
            }
        }
        for response in responses {
            let id = response.connection;
            let connection = self.connections.get(&id);
            // Earlier turns of this loop may have sent them, and queued connections get their turn
            // anyway.
            if connection.is_some_and(|one| !one.queued && !one.session.unsent().is_empty()) {
                self.serve(id, now);
            }
        }
    }

    fn close(&mut self, id: ConnectionId, reason: &str) {
        if self.connections.remove(&id).is_some() {
            self.waiting.remove(&id);
            self.statistics.close(id as u64);
            self.inbox.forget_connection();
            if let Some(log) = self.shared.log_of(&self.live) {
                log.line(&format!("conn={id} closed ({reason})"));
            }
        }
    }

    /// Closes connections that have exceeded a time limit or that an administrator has closed.
    /// Lists operations for administrators, and sends the responses of those that one has ended.
    fn sweep(&mut self, now: Instant) {
        if now.duration_since(self.swept_at) < SWEEP_INTERVAL {
            return;
        }
        self.swept_at = now;
        let settings = self.shared.settings;
        let overdue: Vec<_> = self
            .connections
            .iter()
            .filter_map(|(&id, connection)| Some((id, connection.overdue(settings, now)?)))
            .collect();
        for (id, reason) in overdue {
            self.close(id, reason);
        }
        let cancelled: Vec<_> = self
            .connections
            .iter_mut()
            .filter_map(|(&id, connection)| connection.publish_operations().then_some(id))
            .collect();
        for id in cancelled {
            self.schedule(id);
        }
    }
}
