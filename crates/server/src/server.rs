//! A server: its sockets are open from the start, its threads run while it is run.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use fulgurite_config::ListenUrl;
use mio::net::TcpListener;
use mio::{Poll, Waker};
use signal_hook_mio::v1_0::Signals;

use crate::driver::{self, Shared};
use crate::handler::Handler;
use crate::listen::listen;
use crate::statistics::{ServerFacts, Statistics, seconds_now};
use crate::stop::{STOP, StopHandle};
use crate::{OperationLog, ServerError, ServerSettings};

/// An LDAP server whose listeners are open.
pub struct Server {
    settings: ServerSettings,
    listeners: Vec<TcpListener>,
    poll: Poll,
    signals: Option<Signals>,
    stop: StopHandle,
    statistics: Arc<Statistics>,
    urls: Vec<String>,
}

impl Server {
    /// Opens the listeners. Clients can connect from now on; they are answered once the server runs.
    ///
    /// # Errors
    /// [`ServerError`] if one of the addresses cannot be listened on.
    pub fn bind(urls: &[ListenUrl], settings: ServerSettings) -> Result<Server, ServerError> {
        let (mut listeners, mut names) = (Vec::new(), Vec::new());
        for url in urls {
            let opened = listen(url)?;
            names.extend(std::iter::repeat_n(url.to_string(), opened.len()));
            listeners.extend(opened);
        }
        if listeners.is_empty() {
            return Err(ServerError::NoListener);
        }
        let poll = Poll::new().map_err(ServerError::system("set up polling"))?;
        let waker =
            Waker::new(poll.registry(), STOP).map_err(ServerError::system("set up polling"))?;
        // From here on a signal waits to be heard, instead of ending the process.
        let signals = settings
            .handle_signals
            .then(driver::catch_signals)
            .transpose()?;
        Ok(Server {
            settings,
            signals,
            listeners,
            poll,
            stop: StopHandle::new(waker),
            statistics: Arc::default(),
            urls: names,
        })
    }

    /// The same server, counting there.
    #[must_use]
    pub fn counting(mut self, statistics: Arc<Statistics>) -> Server {
        self.statistics = statistics;
        self
    }

    /// The addresses that are listened on; tells the port if 0 was asked for.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners
            .iter()
            .filter_map(|listener| listener.local_addr().ok())
            .collect()
    }

    /// What stops this server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves until stopped: by the handle, or by a signal if the settings say so. Returns after the
    /// last thread has ended; running operations have been finished as far as the shutdown time-out
    /// allows, and all updates that were begun are durable.
    ///
    /// # Errors
    /// [`ServerError`] if threads cannot be started or one of them failed.
    pub fn run<H: Handler>(self, handler: &H) -> Result<(), ServerError> {
        let log = TracingLog;
        self.statistics.begin(self.facts());
        let shared = Shared {
            handler,
            statistics: &self.statistics,
            settings: &self.settings,
            log: self
                .settings
                .log_operations
                .then_some(&log as &dyn OperationLog),
        };
        driver::run(shared, self.poll, self.signals, self.listeners, &self.stop)
    }
}

impl Server {
    fn facts(&self) -> ServerFacts {
        let addresses = self.addresses().into_iter().map(|a| format!("IP={a}"));
        let url = |url: &String| format!("{}/", url.trim_end_matches('/'));
        ServerFacts {
            started_s: seconds_now(),
            listeners: self.urls.iter().map(url).zip(addresses).collect(),
            connections_max: self.settings.connections_max as u64,
            threads: self.settings.workers.max(1) as u64,
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("addresses", &self.addresses())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Lines as events with the target `operation`.
struct TracingLog;

impl OperationLog for TracingLog {
    fn line(&self, line: &str) {
        tracing::info!(target: "operation", "{line}");
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}
