//! What can be set about a server as a whole.

use std::net::SocketAddr;
use std::time::Duration;

use fulgurite_policy::TlsOptions;

use crate::session::limits::SessionLimits;

/// Settings of a server; limits of one connection are in [`SessionLimits`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Event loops, each on its own thread with its own connections.
    pub workers: usize,
    /// Threads that verify slow password hashes.
    pub hashing_threads: usize,
    /// Connections at once; further ones are told so and closed.
    pub connections_max: usize,
    /// Which addresses are listened on, where a listener's host has several.
    pub families: AddressFamilies,
    /// TLS; nothing is offered without a certificate.
    pub tls: TlsOptions,
    /// How long a TLS handshake may take.
    pub handshake_timeout: Duration,
    /// Strength factor of connections over a UNIX socket (`localSSF`).
    pub local_ssf: u32,
    /// Requests received and not answered, of all connections that are bound as one identity; further ones are
    /// answered with busy.
    pub identity_pending_max: usize,
    /// Bounds of each connection.
    pub session: SessionLimits,
    /// Whether each operation is logged.
    pub log_operations: bool,
    /// How long running operations may take to finish once the server was told to stop.
    pub shutdown_timeout: Duration,
    /// Whether SIGTERM and SIGINT stop this server; off for servers within another program.
    pub handle_signals: bool,
    /// What SIGHUP does.
    pub hangup: Hangup,
}

/// Which kinds of IP addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AddressFamilies {
    /// All that the machine has.
    #[default]
    Any,
    /// IPv4's.
    V4,
    /// IPv6's.
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

/// What SIGHUP does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hangup {
    /// The configuration is read again ([`Handler::reload`](crate::Handler::reload)).
    #[default]
    Reload,
    /// The server stops, as on SIGTERM: what scripts around slapd expect.
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
            tls: TlsOptions::default(),
            handshake_timeout: Duration::from_secs(30),
            local_ssf: 71,
            identity_pending_max: 10_000,
            session: SessionLimits::default(),
            log_operations: false,
            shutdown_timeout: Duration::from_secs(10),
            handle_signals: false,
            hangup: Hangup::Reload,
        }
    }
}
