//! Settings of a server as a whole.

use std::net::SocketAddr;
use std::time::Duration;

use fulgurite_config::TcpBuffer;
use fulgurite_policy::TlsOptions;

use crate::session::limits::SessionLimits;

/// Settings of a server; limits of one connection are in [`SessionLimits`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Event loops, each on its own thread with its own connections.
    pub workers: usize,
    /// Threads that verify slow password hashes.
    pub hashing_threads: usize,
    /// The maximum of open connections; further ones get a notice and are closed.
    pub connections_max: usize,
    /// The address families to listen on.
    pub families: AddressFamilies,
    /// Sizes of the buffers of TCP connections (`tcp-buffer`).
    pub tcp_buffers: Vec<TcpBuffer>,
    /// TLS; without a certificate the server does not offer it.
    pub tls: TlsOptions,
    /// The time limit of a TLS handshake.
    pub handshake_timeout: Duration,
    /// Strength factor of connections over a UNIX socket (`localSSF`).
    pub local_ssf: u32,
    /// The maximum of unanswered requests of all connections of one identity. Further ones are
    /// answered with busy.
    pub identity_pending_max: usize,
    /// Bounds of each connection.
    pub session: SessionLimits,
    /// Log each operation.
    pub log_operations: bool,
    /// The time that running operations have to finish after a stop request.
    pub shutdown_timeout: Duration,
    /// Handle signals: SIGTERM and SIGINT stop this server. Off for servers inside another program.
    pub handle_signals: bool,
    /// The effect of SIGHUP.
    pub hangup: Hangup,
}

/// Families of IP addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AddressFamilies {
    /// All families of the machine.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

impl AddressFamilies {
    pub(crate) fn admit(self, address: &SocketAddr) -> bool {
        match self {
            AddressFamilies::Any => true,
            AddressFamilies::V4 => address.is_ipv4(),
            AddressFamilies::V6 => address.is_ipv6(),
        }
    }
}

/// The effect of SIGHUP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hangup {
    /// The server reads the configuration again ([`Handler::reload`](crate::Handler::reload)).
    #[default]
    Reload,
    /// The server stops, as on SIGTERM, which scripts for slapd expect.
    Stop,
}

impl Default for ServerSettings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        ServerSettings {
            workers: cores,
            hashing_threads: cores.div_ceil(2),
            connections_max: 65_536,
            families: AddressFamilies::Any,
            tcp_buffers: Vec::new(),
            tls: TlsOptions::default(),
            handshake_timeout: Duration::from_secs(30),
            local_ssf: 71,
            identity_pending_max: 20_000,
            session: SessionLimits::default(),
            log_operations: false,
            shutdown_timeout: Duration::from_secs(10),
            handle_signals: false,
            hangup: Hangup::Reload,
        }
    }
}
