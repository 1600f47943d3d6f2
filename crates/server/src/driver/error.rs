//! Failures to start or run a server.

use std::io;
use std::path::PathBuf;

use crate::tls::error::TlsError;

/// A failure to start a server, or of a running one.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The host of a listener has no address.
    #[error("cannot listen on {url}: its host name cannot be resolved: {source}")]
    Resolve {
        /// The URL of the listener.
        url: String,
        /// The error of the resolver.
        source: io::Error,
    },
    /// The host of a listener has no address of the requested family.
    #[error("cannot listen on {url}: its host has no address of the family that -4 or -6 asks for")]
    NoSuchFamily {
        /// The URL of the listener.
        url: String,
    },
    /// Another program listens there.
    #[error("cannot listen on {url}: the address is in use by another program")]
    AddressInUse {
        /// The URL of the listener.
        url: String,
    },
    /// This user may not listen there.
    #[error(
        "cannot listen on {url}: ports below 1024 are reserved; choose another, or run with CAP_NET_BIND_SERVICE"
    )]
    NotPermitted {
        /// The URL of the listener.
        url: String,
    },
    /// The system refuses to listen there.
    #[error("cannot listen on {url}: {source}")]
    Listen {
        /// The URL of the listener.
        url: String,
        /// The error of the system.
        source: io::Error,
    },
    /// TLS failed to start.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The token of the figures is unreadable.
    #[error("cannot read the token of metrics.token_file from {}: {source}", path.display())]
    MetricsToken {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The console would send passwords in clear.
    #[error(
        "the console at {url} would be in clear for other machines: set console.tls, or listen on 127.0.0.1"
    )]
    ConsoleInClear {
        /// The URL of the console.
        url: String,
    },
    /// The console cannot reach the server.
    #[error("the console at {url} has no way to the server: add a listener without x-proxied")]
    ConsoleWithoutServer {
        /// The URL of the console.
        url: String,
    },
    /// There is no address to listen on.
    #[error("no address to listen on")]
    NoListener,
    /// Polling, signals or threads failed.
    #[error("cannot {what}: {source}")]
    System {
        /// The failed action.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A thread of the server panicked: a bug.
    #[error("the {0} thread stopped unexpectedly; this is a bug, the server has been stopped")]
    ThreadPanicked(&'static str),
}

impl ServerError {
    /// Returns the error with another URL of the listener.
    pub(crate) fn at_url(self, url: String) -> ServerError {
        match self {
            ServerError::Resolve { source, .. } => ServerError::Resolve { url, source },
            ServerError::AddressInUse { .. } => ServerError::AddressInUse { url },
            ServerError::NotPermitted { .. } => ServerError::NotPermitted { url },
            ServerError::Listen { source, .. } => ServerError::Listen { url, source },
            other => other,
        }
    }

    pub(crate) const fn system(what: &'static str) -> impl FnOnce(io::Error) -> ServerError {
        move |source| ServerError::System { what, source }
    }
}
