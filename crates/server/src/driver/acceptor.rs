//! The thread that accepts connections, handles signals and ends the other threads.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_directory::{Connection, EndPoint, PeerCredentials, Strength};
use fulgurite_ldap::{ResultCode, encode};
use fulgurite_net::Socket;
use mio::{Events, Interest, Poll, Token};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook_mio::v1_0::Signals;

use super::context::ServerContext;
use super::error::ServerError;
use super::inbox::{ConnectionId, NewConnection, WorkerHandle, WorkerMessage};
use super::listener::Listener;
use super::service_manager::ServiceManager;
use super::settings::Hangup;
use super::stop::{STOP, StopHandle};
use crate::session::handler::Handler;
use crate::tls::reload::WATCH_INTERVAL;

const SIGNALS: Token = Token(1);
/// The token of the first listener.
const LISTENERS: usize = 2;

/// The number of the first connection, as in slapd's log.
const FIRST_CONNECTION: ConnectionId = 1000;

/// The pause of the acceptor when the system is out of file descriptors.
const PAUSE_WITHOUT_DESCRIPTORS: Duration = Duration::from_millis(100);

/// Begins to catch the signals that [`Acceptor`] handles.
pub(crate) fn catch_signals() -> Result<Signals, ServerError> {
    Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR1]).map_err(ServerError::system("handle signals"))
}

pub(super) struct Acceptor<'h, H: Handler> {
    poll: Poll,
    signals: Option<Signals>,
    listeners: Vec<Listener>,
    workers: Vec<WorkerHandle<H>>,
    shared: ServerContext<'h, H>,
    manager: ServiceManager,
    next_connection: ConnectionId,
    stops: u32,
}

impl<'h, H: Handler> Acceptor<'h, H> {
    pub(super) fn new(
        poll: Poll,
        mut signals: Option<Signals>,
        mut listeners: Vec<Listener>,
        workers: Vec<WorkerHandle<H>>,
        shared: ServerContext<'h, H>,
    ) -> Result<Self, ServerError> {
        let registry = poll.registry();
        for (index, listener) in listeners.iter_mut().enumerate() {
            registry
                .register(listener, Token(LISTENERS + index), Interest::READABLE)
                .map_err(ServerError::system("poll a listener"))?;
        }
        if let Some(signals) = &mut signals {
            registry
                .register(signals, SIGNALS, Interest::READABLE)
                .map_err(ServerError::system("handle signals"))?;
        }
        // A server that takes no signals is part of another program.
        let manager = match &signals {
            Some(_) => ServiceManager::of_process(),
            None => ServiceManager::default(),
        };
        Ok(Acceptor {
            poll,
            manager,
            signals,
            listeners,
            workers,
            shared,
            next_connection: FIRST_CONNECTION,
            stops: 0,
        })
    }

    /// Accepts connections until a stop is requested.
    pub(super) fn run(&mut self, stop: &StopHandle) -> Result<(), ServerError> {
        let mut events = Events::with_capacity(64);
        let mut paused = false;
        self.manager.ready();
        loop {
            let watch = self.shared.tls.get().map(|_| WATCH_INTERVAL);
            let sign = self.manager.sign_of_life(Instant::now());
            let pause = paused.then_some(PAUSE_WITHOUT_DESCRIPTORS);
            let timeout = [watch, sign, pause].into_iter().flatten().min();
            self.wait(&mut events, timeout)?;
            if let Some(tls) = self.shared.tls.get() {
                tls.refresh(Instant::now());
            }
            if self.count_stops(&events, stop) > 0 {
                self.manager.stopping();
                return match stop.panicked() {
                    Some(thread) => Err(ServerError::ThreadPanicked(thread)),
                    None => Ok(()),
                };
            }
            let was_paused = paused;
            paused = false;
            for index in 0..self.listeners.len() {
                let token = Token(LISTENERS + index);
                if was_paused || events.iter().any(|event| event.token() == token) {
                    paused |= !self.accept_all(index);
                }
            }
        }
    }

    /// Lets workers finish until the deadline or a second stop request.
    pub(super) fn stop_workers(&mut self, stop: &StopHandle) {
        self.listeners.clear();
        let deadline = Instant::now() + self.shared.settings.shutdown_timeout;
        self.send_to_all(|| WorkerMessage::Drain);
        let mut events = Events::with_capacity(8);
        while self.workers.iter().any(|worker| !worker.has_ended()) {
            let left = deadline.saturating_duration_since(Instant::now());
            // Workers cannot wake the acceptor, so it polls at short intervals.
            let step = left.min(Duration::from_millis(10));
            if left.is_zero() || self.wait(&mut events, Some(step)).is_err() {
                break;
            }
            if self.count_stops(&events, stop) > 1 {
                break;
            }
        }
        self.send_to_all(|| WorkerMessage::Close);
    }

    fn send_to_all(&self, message: impl Fn() -> WorkerMessage<H>) {
        for worker in &self.workers {
            worker.send(message());
        }
    }

    fn wait(&mut self, events: &mut Events, timeout: Option<Duration>) -> Result<(), ServerError> {
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                Err(ServerError::system("poll for connections")(error))
            }
            _ => Ok(()),
        }
    }

    /// Handles events and returns the number of stop requests up to now.
    fn count_stops(&mut self, events: &Events, stop: &StopHandle) -> u32 {
        for event in events {
            match event.token() {
                STOP if stop.is_requested() => self.stops += 1,
                SIGNALS => self.receive_signals(),
                _ => {}
            }
        }
        self.stops
    }

    fn receive_signals(&mut self) {
        let Some(signals) = &mut self.signals else {
            return;
        };
        for signal in signals.pending() {
            let hangup = self.shared.settings.hangup;
            if signal == SIGUSR1 {
                self.shared.handler.dump();
            } else if signal == SIGHUP && hangup == Hangup::Reload {
                self.manager.reloading();
                self.shared.handler.reload();
                if let Some(tls) = self.shared.tls.get() {
                    tls.reload();
                }
                self.manager.ready();
            } else {
                tracing::info!("stopping: finishing running operations");
                self.stops += 1;
            }
        }
    }

    /// Accepts all waiting connections of one listener. Returns false if the system is out of
    /// descriptors.
    fn accept_all(&mut self, index: usize) -> bool {
        loop {
            let Some(listener) = self.listeners.get(index) else {
                return true;
            };
            match listener.accept() {
                Ok(accepted) => {
                    let url = listener.url.clone();
                    self.hand_out(accepted, url, (listener.tls, listener.proxied));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) if is_shortage(&error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    return false;
                }
                // The client closed before the accept; the next one may still wait.
                Err(_) => {}
            }
        }
    }

    fn hand_out(
        &mut self,
        (stream, peer, socket): (Socket, EndPoint, EndPoint),
        url: String,
        (tls, proxied): (bool, bool),
    ) {
        let live = self.shared.live.load();
        let open: usize = self.workers.iter().map(WorkerHandle::connections).sum();
        if open >= live.connections_max {
            self.shared.statistics.refused();
            reject(stream);
            return;
        }
        let id = self.next_connection;
        self.next_connection += 1;
        self.shared.statistics.accepted();
        // The worker logs a connection whose client is not known yet.
        let log = self.shared.log_of(&live).filter(|_| !proxied);
        if let Some(log) = log {
            log.line(&format!("conn={id} ACCEPT from {peer} ({socket})"));
        }
        let least = self
            .workers
            .iter()
            .min_by_key(|worker| worker.connections());
        if let Some(worker) = least {
            let transport = match stream {
                Socket::Unix(_) => live.local_ssf,
                Socket::Tcp(_) => 0,
            };
            let facts = Arc::new(Connection {
                id: id as u64,
                peer,
                socket,
                listener_url: url,
                strength: Strength {
                    transport,
                    ..Strength::default()
                },
                offers_tls: self.shared.tls.get().is_some(),
                peer_credentials: stream.peer_credentials().map(|peer| PeerCredentials {
                    uid: peer.uid,
                    gid: peer.gid,
                }),
                ..Connection::default()
            });
            worker.hand_over(NewConnection {
                id,
                stream,
                tls,
                proxied,
                facts,
            });
        }
    }
}

/// Sends the reason, as far as it fits into the socket, and closes.
fn reject(mut stream: Socket) {
    let mut notice = Vec::new();
    encode::notice_of_disconnection(&mut notice, ResultCode::Busy, "too many connections");
    let _ = stream.write(&notice);
    tracing::warn!("refused a connection: too many connections");
}

fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    const SHORTAGES: [i32; 4] = [
        Errno::MFILE.raw_os_error(),
        Errno::NFILE.raw_os_error(),
        Errno::NOBUFS.raw_os_error(),
        Errno::NOMEM.raw_os_error(),
    ];
    error
        .raw_os_error()
        .is_some_and(|code| SHORTAGES.contains(&code))
}
