//! The listener of the figures, and its thread.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fulgurite_config::{Global, ListenUrl, SocketAddress, TcpBufferSizes};
use fulgurite_directory::EndPoint;
use fulgurite_net::Socket;
use mio::{Events, Interest, Poll, Token, Waker};

use super::connection::{Answers, serve};
use super::health::Health;
use super::token::TokenFile;
use crate::driver::error::ServerError;
use crate::driver::listener::{Listener, listen};
use crate::driver::settings::AddressFamilies;
use crate::statistics::{Statistics, lock};
use crate::tls::error::TlsError;
use crate::tls::reload::TlsSlot;

/// Connections at the same time. Monitoring needs one or two.
const CONNECTIONS_MAX: usize = 16;

/// Threads at the same time: some belong to connections that were ended a moment ago.
const THREADS_MAX: usize = 2 * CONNECTIONS_MAX;

/// The stack of a connection's thread in bytes.
const STACK_BYTES: usize = 512 << 10;

/// The pause when the system is out of descriptors or threads.
const PAUSE: Duration = Duration::from_millis(100);

const WAKE: Token = Token(0);

/// The settings of the listener.
#[derive(Clone, Debug)]
pub(crate) struct MetricsSettings {
    address: SocketAddress,
    token_file: Option<PathBuf>,
    tls: bool,
}

/// The running listener. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct MetricsListener {
    addresses: Vec<SocketAddr>,
    stop: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl MetricsSettings {
    /// Returns the settings, if there is to be a listener.
    pub(crate) fn of(global: &Global) -> Option<MetricsSettings> {
        Some(MetricsSettings {
            address: global.metrics_listen.value.clone()?,
            token_file: global.metrics_token_file.value.clone(),
            tls: *global.metrics_tls,
        })
    }

    /// Returns the URL for messages.
    fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }
}

impl MetricsListener {
    /// Opens the listener and starts its thread.
    ///
    /// # Errors
    /// [`ServerError`] if it cannot listen, the token cannot be read, or TLS has no certificate.
    pub(crate) fn start(
        settings: &MetricsSettings,
        health: Arc<Health>,
        statistics: Arc<Statistics>,
        tls: Arc<TlsSlot>,
    ) -> Result<MetricsListener, ServerError> {
        if settings.tls && tls.get().is_none() {
            return Err(TlsError::NoCertificate(settings.url()).into());
        }
        let token = settings.token_file.clone().map(TokenFile);
        if let Some(token) = &token {
            token.read().map_err(|source| ServerError::MetricsToken {
                path: token.0.clone(),
                source,
            })?;
        }
        let url = ListenUrl::ldap(&settings.address.host, settings.address.port);
        let listeners = listen(&url, AddressFamilies::Any, TcpBufferSizes::default());
        let listeners = listeners.map_err(|error| error.at_url(settings.url()))?;
        let poll = Poll::new().map_err(ServerError::system("set up polling"))?;
        let waker = Waker::new(poll.registry(), WAKE);
        let waker = waker.map_err(ServerError::system("set up polling"))?;
        let stop = Arc::<AtomicBool>::default();
        let addresses = addresses(&listeners);
        let acceptor = Acceptor {
            answers: Answers {
                health,
                statistics,
                token,
                collecting: Mutex::new(()),
            },
            tls: settings.tls.then_some(tls),
            stop: Arc::clone(&stop),
            open: AtomicUsize::new(0),
            headless: Headless::default(),
        };
        let thread = thread::Builder::new().name("metrics".to_owned());
        let thread = thread.spawn(move || acceptor.run(poll, listeners));
        let thread = thread.map_err(ServerError::system("start a thread"))?;
        Ok(MetricsListener {
            addresses,
            stop,
            waker,
            thread: Some(thread),
        })
    }

    /// Returns the addresses, with the actual port if 0 was requested.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for MetricsListener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let woken = self.waker.wake();
        if let (Ok(()), Some(thread)) = (woken, self.thread.take()) {
            // A panic there has been reported.
            let _ = thread.join();
        }
    }
}

fn addresses(listeners: &[Listener]) -> Vec<SocketAddr> {
    let addresses = listeners
        .iter()
        .filter_map(|listener| match listener.address {
            EndPoint::Ip(address) => Some(address),
            EndPoint::Path(_) | EndPoint::Unknown => None,
        });
    addresses.collect()
}

/// The thread that accepts connections.
struct Acceptor {
    answers: Answers,
    tls: Option<Arc<TlsSlot>>,
    stop: Arc<AtomicBool>,
    /// Connections with a thread.
    open: AtomicUsize,
    headless: Headless,
}

/// Connections whose requests have no complete head yet, the oldest first.
#[derive(Debug, Default)]
struct Headless(Mutex<Vec<Arc<TcpStream>>>);

impl Headless {
    fn add(&self, stream: &Arc<TcpStream>) {
        lock(&self.0).push(Arc::clone(stream));
    }

    fn remove(&self, stream: &Arc<TcpStream>) {
        lock(&self.0).retain(|one| !Arc::ptr_eq(one, stream));
    }

    /// Ends the oldest connection, so that idle ones keep no probe out. Returns false if there is
    /// none.
    fn end_oldest(&self) -> bool {
        let mut streams = lock(&self.0);
        if streams.is_empty() {
            return false;
        }
        // Its thread sees the end. It fails if the client has been faster.
        let _ = streams.remove(0).shutdown(Shutdown::Both);
        true
    }
}

impl Acceptor {
    fn run(self, mut poll: Poll, mut listeners: Vec<Listener>) {
        for (number, listener) in (1..).zip(&mut listeners) {
            let registry = poll.registry();
            if let Err(error) = registry.register(listener, Token(number), Interest::READABLE) {
                return tracing::error!("metrics: cannot poll the listener: {error}");
            }
        }
        let mut events = Events::with_capacity(16);
        thread::scope(|scope| {
            let mut paused = false;
            while !self.stop.load(Ordering::Relaxed) {
                let waited = poll.poll(&mut events, paused.then_some(PAUSE));
                if let Err(error) = waited
                    && error.kind() != io::ErrorKind::Interrupted
                {
                    return tracing::error!("metrics: cannot wait for connections: {error}");
                }
                paused = !self.accept_all(&listeners, scope);
            }
        });
    }

    /// Accepts all waiting connections. Returns false if the system has no room for them now.
    fn accept_all<'s, 'e>(
        &'e self,
        listeners: &[Listener],
        scope: &'s thread::Scope<'s, 'e>,
    ) -> bool {
        for listener in listeners {
            loop {
                match listener.accept() {
                    Ok((Socket::Tcp(stream), ..)) => {
                        if let Err(error) = self.hand_over(scope, stream.into()) {
                            tracing::warn!("metrics: a connection gets no thread: {error}");
                        }
                    }
                    Ok((Socket::Unix(_), ..)) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        tracing::warn!("metrics: cannot accept a connection: {error}");
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Starts the thread of a connection. If there are too many, it ends one without a complete
    /// head, or closes this one.
    fn hand_over<'s, 'e>(
        &'e self,
        scope: &'s thread::Scope<'s, 'e>,
        stream: TcpStream,
    ) -> io::Result<()> {
        let open = self.open.load(Ordering::Relaxed);
        if open >= THREADS_MAX || (open >= CONNECTIONS_MAX && !self.headless.end_oldest()) {
            return Ok(());
        }
        stream.set_nonblocking(false)?;
        let loaded = self.tls.as_ref().map(|slot| slot.get());
        let tls = match loaded {
            None => None,
            Some(Some(tls)) => Some(tls.loaded().server_config()),
            // The certificate is gone, so nobody may see the figures.
            Some(None) => return Ok(()),
        };
        let handle = Arc::new(stream.try_clone()?);
        self.headless.add(&handle);
        self.open.fetch_add(1, Ordering::Relaxed);
        let thread = thread::Builder::new().name("metrics-client".to_owned());
        let served = Arc::clone(&handle);
        let spawned = thread.stack_size(STACK_BYTES).spawn_scoped(scope, move || {
            let arrived = || self.headless.remove(&served);
            serve(stream, tls, &self.answers, &self.stop, &arrived);
            arrived();
            self.open.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            self.headless.remove(&handle);
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
        spawned.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_oldest_connection_without_a_head_is_ended() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let headless = Headless::default();
        let mut pairs: Vec<(TcpStream, Arc<TcpStream>)> = (0..3)
            .map(|_| {
                let client = TcpStream::connect(address).unwrap();
                let served = Arc::new(listener.accept().unwrap().0);
                headless.add(&served);
                (client, served)
            })
            .collect();
        // The head of the first one arrives.
        headless.remove(&pairs[0].1);
        assert!(headless.end_oldest());
        assert_eq!(pairs[1].0.read(&mut [0]).unwrap(), 0);
        for open in [0, 2] {
            pairs[open].0.set_nonblocking(true).unwrap();
            let waits = pairs[open].0.read(&mut [0]).unwrap_err();
            assert_eq!(waits.kind(), io::ErrorKind::WouldBlock);
        }
        assert!(headless.end_oldest());
        assert!(!headless.end_oldest());
    }
}
