//! A server: its sockets are open from the start, its threads exist while it runs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use fulgurite_config::{ListenScheme, ListenUrl, TcpBufferSizes};
use fulgurite_directory::EndPoint;
use mio::{Poll, Waker};
use signal_hook_mio::v1_0::Signals;

use super::context::ServerContext;
use super::error::ServerError;
use super::listener::{Listener, listen};
use super::live_settings::LiveSettings;
use super::settings::ServerSettings;
use super::stop::{STOP, StopHandle};
use super::{acceptor, threads};
use crate::session::bind_delays::BindDelays;
use crate::session::handler::Handler;
use crate::session::log::OperationLog;
use crate::session::quota::IdentityQuotas;
use crate::statistics::{ServerInfo, Statistics, seconds_now};
use crate::tls::error::TlsError;
use crate::tls::reload::{Tls, TlsSlot};

/// An LDAP server whose listeners are open.
pub struct Server {
    settings: ServerSettings,
    listeners: Vec<Listener>,
    tls: Arc<TlsSlot>,
    live: Arc<LiveSettings>,
    poll: Poll,
    signals: Option<Signals>,
    stop: StopHandle,
    statistics: Arc<Statistics>,
}

impl Server {
    /// Opens the listeners. Clients can connect from now on; the server answers them once it runs.
    ///
    /// # Errors
    /// [`ServerError`] if a listener fails to open.
    pub fn bind(urls: &[ListenUrl], settings: ServerSettings) -> Result<Server, ServerError> {
        let tls = settings
            .tls
            .is_configured()
            .then(|| Tls::new(&settings.tls));
        let tls = tls.transpose()?;
        let needs_tls = |url: &&ListenUrl| url.scheme == ListenScheme::Ldaps;
        if let (None, Some(url)) = (&tls, urls.iter().find(needs_tls)) {
            return Err(TlsError::NoCertificate(url.to_string()).into());
        }
        // A signal waits for the acceptor from here on instead of ending the process. A script may
        // send one as soon as it can connect.
        let signals = settings
            .handle_signals
            .then(acceptor::catch_signals)
            .transpose()?;
        let mut listeners = Vec::new();
        for url in urls {
            let buffers = TcpBufferSizes::of(&settings.tcp_buffers, &url.text);
            listeners.extend(listen(url, settings.families, buffers)?);
        }
        if listeners.is_empty() {
            return Err(ServerError::NoListener);
        }
        let poll = Poll::new().map_err(ServerError::system("set up polling"))?;
        let waker =
            Waker::new(poll.registry(), STOP).map_err(ServerError::system("set up polling"))?;
        Ok(Server {
            live: Arc::new(LiveSettings::new(&settings)),
            settings,
            signals,
            listeners,
            tls: Arc::new(TlsSlot::new(tls)),
            poll,
            stop: StopHandle::new(waker),
            statistics: Arc::default(),
        })
    }

    /// Sets the statistics in which the server counts.
    #[must_use]
    pub fn with_statistics(mut self, statistics: Arc<Statistics>) -> Server {
        self.statistics = statistics;
        self
    }

    /// Returns the place of its TLS.
    pub(crate) fn tls(&self) -> Arc<TlsSlot> {
        Arc::clone(&self.tls)
    }

    /// Returns the settings that can change while it runs.
    pub(crate) fn live(&self) -> Arc<LiveSettings> {
        Arc::clone(&self.live)
    }

    /// Returns the addresses of the listeners, with the actual port if 0 was requested.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners
            .iter()
            .filter_map(|listener| match listener.address {
                EndPoint::Ip(address) => Some(address),
                EndPoint::Path(_) | EndPoint::Unknown => None,
            })
            .collect()
    }

    /// Returns the URL of each listener, as configured, with its address.
    pub fn listeners(&self) -> impl Iterator<Item = (&str, &EndPoint)> {
        self.listeners
            .iter()
            .map(|listener| (listener.url.as_str(), &listener.address))
    }

    /// Returns the sockets that it listens on.
    pub(crate) fn sockets(&self) -> &[Listener] {
        &self.listeners
    }

    /// Returns a handle that stops this server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves until the handle stops it, or a signal if the settings say so. Returns after the last
    /// thread has ended. Running operations have finished as far as the shutdown time-out allows,
    /// and all updates that had begun are durable.
    ///
    /// # Errors
    /// [`ServerError`] if threads fail to start or one of them failed.
    pub fn run<H: Handler>(self, handler: &H) -> Result<(), ServerError> {
        fulgurite_os::return_large_blocks();
        let log = TracingLog;
        self.statistics.begin(self.facts());
        let identities = IdentityQuotas::new(self.settings.identity_pending_max);
        let bind_delays = BindDelays::default();
        let context = ServerContext {
            bind_delays: &bind_delays,
            handler,
            identities: &identities,
            statistics: &self.statistics,
            settings: &self.settings,
            tls: &self.tls,
            live: &self.live,
            log: &log,
        };
        threads::run(context, self.poll, self.signals, self.listeners, &self.stop)
    }
}

impl Server {
    fn facts(&self) -> ServerInfo {
        let url = |url: &str| format!("{}/", url.trim_end_matches('/'));
        let listeners = self
            .listeners()
            .map(|(text, address)| (url(text), address.to_string()));
        ServerInfo {
            started_s: seconds_now(),
            listeners: listeners.collect(),
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

/// Writes lines as tracing events with the target `operation`.
struct TracingLog;

impl OperationLog for TracingLog {
    fn line(&self, line: &str) {
        tracing::info!(target: "operation", "{line}");
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}
