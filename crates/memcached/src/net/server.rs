//! A whole server: its listeners, its threads and their end.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, unbounded};
use fulgurite_net::{ListeningSocket, Socket};
use mio::{Events, Interest, Poll, Token, Waker};
use rustls::ServerConfig;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;

use super::commit::Committer;
use super::messages::{Alarm, Inbox, Message, QueuedSession};
use super::worker::{WAKE, Worker};
use super::{listener, sweeper, tls, writer};
use crate::cache::Cache;
use crate::command::{ServerFacts, Users};
use crate::error::ServeError;
use crate::options::{Address, Durability, Options};
use crate::statistics::{Counters, Statistics};

const SIGNALS: Token = Token(1);
/// The token of the first listener.
const LISTENERS: usize = 2;

/// The pause of the acceptor when the system is out of file descriptors.
const PAUSE_WITHOUT_DESCRIPTORS: Duration = Duration::from_millis(100);

/// Stops a running server.
#[derive(Debug, Clone)]
pub struct StopHandle {
    is_requested: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl StopHandle {
    /// Asks the server to stop.
    pub fn stop(&self) {
        self.is_requested.store(true, Ordering::SeqCst);
        // Without the server there is nothing to stop.
        let _ = self.waker.wake();
    }
}

/// A server that listens.
pub struct Server {
    cache: Cache,
    facts: ServerFacts,
    poll: Poll,
    stop: StopHandle,
    listeners: Vec<ListeningSocket>,
    tls: Option<Arc<ServerConfig>>,
    handshake_timeout: Duration,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("listeners", &self.listeners)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Opens the cache and the listeners.
    ///
    /// # Errors
    /// Each variant of [`ServeError`] states the reason.
    pub fn open(options: &Options) -> Result<Server, ServeError> {
        let users = options.auth_file.as_deref().map(Users::read).transpose()?;
        let tls = options.tls.as_ref().map(tls::server_config).transpose()?;
        let poll = Poll::new().map_err(ServeError::system("poll"))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(ServeError::system("poll"))?;
        let cache = Cache::open(options)?;
        let threads = options.threads.max(1);
        let mut listeners = Vec::new();
        for address in &options.listen {
            listeners.extend(listener::open(address, options.socket_mode)?);
        }
        for (index, listener) in listeners.iter_mut().enumerate() {
            let token = Token(LISTENERS + index);
            poll.registry()
                .register(listener, token, Interest::READABLE)
                .map_err(ServeError::system("poll a listener"))?;
        }
        Ok(Server {
            cache,
            facts: ServerFacts {
                version: options.version.clone(),
                value_max: options.value_max,
                threads,
                connections_max: options.connections_max,
                has_tls: tls.is_some(),
                idle_timeout_s: options.idle_timeout_s,
                data: options.data.clone(),
                users,
                // The workers, the writer and the sweeper.
                statistics: Statistics::new(threads + 2),
            },
            poll,
            stop: StopHandle {
                is_requested: Arc::default(),
                waker: Arc::new(waker),
            },
            listeners,
            tls,
            handshake_timeout: Duration::from_secs(options.handshake_timeout_s),
        })
    }

    /// Returns the places at which the server listens.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        self.listeners.iter().map(listener::address_of).collect()
    }

    /// Returns a handle that stops the server.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves until the handle or one of the signals SIGTERM and SIGINT stops it. Without
    /// `catches_signals` the signals keep their meaning.
    ///
    /// # Errors
    /// [`ServeError::System`] and [`ServeError::Panicked`].
    pub fn run(mut self, catches_signals: bool) -> Result<(), ServeError> {
        let mut signals = None;
        if catches_signals {
            let mut caught =
                Signals::new([SIGTERM, SIGINT]).map_err(ServeError::system("handle signals"))?;
            self.poll
                .registry()
                .register(&mut caught, SIGNALS, Interest::READABLE)
                .map_err(ServeError::system("handle signals"))?;
            signals = Some(caught);
        }
        let listeners = std::mem::take(&mut self.listeners);
        let mut poll = std::mem::replace(
            &mut self.poll,
            Poll::new().map_err(ServeError::system("poll"))?,
        );
        let server = &self;
        let result = thread::scope(|scope| {
            let threads = server.spawn(scope)?;
            let accepted = server.accept_until_stopped(
                &mut poll,
                signals.as_mut(),
                &listeners,
                &threads.inboxes,
            );
            threads
                .inboxes
                .iter()
                .for_each(|inbox| inbox.send(Message::Stop));
            drop(threads.sweeping);
            let mut result = accepted;
            for handle in threads.handles {
                result = result.and(handle.join().unwrap_or(Err(ServeError::Panicked)));
            }
            result
        });
        server.cache.sync()?;
        result
    }

    /// Returns the counters of a thread.
    fn committer(&self, thread: usize) -> Result<Committer<'_>, ServeError> {
        let counters: Option<&Counters> = self.facts.statistics.of(thread);
        Ok(Committer {
            cache: &self.cache,
            server: &self.facts,
            counters: counters.ok_or(ServeError::Panicked)?,
        })
    }

    fn spawn<'s, 'e>(
        &'s self,
        scope: &'s thread::Scope<'s, 'e>,
    ) -> Result<Threads<'s>, ServeError> {
        let mut handles = Vec::new();
        let mut inboxes = Vec::new();
        let threads = self.facts.threads;
        let mut to_writer = None;
        if self.cache.durability != Durability::None {
            let (sender, queue): (_, Receiver<QueuedSession>) = unbounded();
            to_writer = Some(sender);
            let committer = self.committer(threads)?;
            handles.push(scope.spawn(move || {
                writer::run(committer, &queue);
                Ok(())
            }));
        }
        for index in 0..threads {
            let (worker, inbox) = self.worker(index, to_writer.clone())?;
            inboxes.push(inbox);
            let stop = self.stop.clone();
            handles.push(scope.spawn(move || {
                // The others end too if this one ends early, also by a panic.
                let _ends = StopsAtEnd(stop);
                worker.run()
            }));
        }
        let (sweeping, stop) = bounded(0);
        let committer = self.committer(threads + 1)?;
        handles.push(scope.spawn(move || {
            sweeper::run(committer, &stop);
            Ok(())
        }));
        Ok(Threads {
            handles,
            inboxes,
            sweeping,
        })
    }

    fn worker(
        &self,
        index: usize,
        writer: Option<crossbeam_channel::Sender<QueuedSession>>,
    ) -> Result<(Worker<'_>, Inbox), ServeError> {
        let poll = Poll::new().map_err(ServeError::system("poll"))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(ServeError::system("poll"))?;
        let (sender, messages) = unbounded();
        let inbox = Inbox {
            messages: sender,
            alarm: Arc::new(Alarm::new(waker)),
        };
        let timeout_s = self.facts.idle_timeout_s;
        let worker = Worker {
            committer: self.committer(index)?,
            poll,
            messages,
            own: inbox.clone(),
            writer,
            tls: self.tls.clone(),
            idle_timeout: (timeout_s > 0).then(|| Duration::from_secs(timeout_s)),
            handshake_timeout: self.handshake_timeout,
        };
        Ok((worker, inbox))
    }

    fn accept_until_stopped(
        &self,
        poll: &mut Poll,
        mut signals: Option<&mut Signals>,
        listeners: &[ListeningSocket],
        inboxes: &[Inbox],
    ) -> Result<(), ServeError> {
        let mut events = Events::with_capacity(64);
        let mut next = inboxes.iter().cycle();
        let mut is_short = false;
        while !self.stop.is_requested.load(Ordering::SeqCst) {
            let timeout = is_short.then_some(PAUSE_WITHOUT_DESCRIPTORS);
            match poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(ServeError::system("poll for connections")(error));
                }
                _ => {}
            }
            let has_signal = signals
                .as_mut()
                .is_some_and(|signals| signals.pending().count() > 0);
            if has_signal {
                break;
            }
            let was_short = is_short;
            is_short = false;
            for (index, listener) in listeners.iter().enumerate() {
                let token = Token(LISTENERS + index);
                if was_short || events.iter().any(|event| event.token() == token) {
                    is_short |= !self.accept_all(listener, &mut next);
                }
            }
        }
        Ok(())
    }

    /// Accepts all waiting connections. Returns false if the system is out of descriptors.
    fn accept_all<'i>(
        &self,
        listener: &ListeningSocket,
        next: &mut impl Iterator<Item = &'i Inbox>,
    ) -> bool {
        let statistics = &self.facts.statistics;
        loop {
            match listener.accept() {
                Ok((socket, _)) => {
                    let open = statistics.connections.load(Ordering::Relaxed);
                    if open >= self.facts.connections_max as u64 {
                        let refused = &statistics.connections_refused;
                        refused.fetch_add(1, Ordering::Relaxed);
                        reject(socket);
                        continue;
                    }
                    statistics.connections.fetch_add(1, Ordering::Relaxed);
                    statistics.connections_total.fetch_add(1, Ordering::Relaxed);
                    let is_tls = self.tls.is_some() && matches!(socket, Socket::Tcp(_));
                    if let Some(inbox) = next.next() {
                        inbox.send(Message::Connection(socket, is_tls));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                // The client closed before the accept; the next one may still wait.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    return false;
                }
            }
        }
    }
}

/// The threads of a running server.
struct Threads<'s> {
    handles: Vec<ScopedJoinHandle<'s, Result<(), ServeError>>>,
    inboxes: Vec<Inbox>,
    /// The sweeper ends when this is dropped.
    sweeping: crossbeam_channel::Sender<()>,
}

/// Stops the server when it is dropped.
struct StopsAtEnd(StopHandle);

impl Drop for StopsAtEnd {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Sends the reason, as far as it fits into the socket, and closes.
fn reject(mut socket: Socket) {
    let _ = socket.write(b"ERROR Too many open connections\r\n");
    tracing::warn!("refused a connection: too many connections");
}
