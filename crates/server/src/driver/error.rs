//! Why a server does not start or stops.

use std::io;

use crate::tls::error::TlsError;

/// Why a server could not start, or ended other than by being told to.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The host of a listener has no address.
    #[error("cannot listen on {url}: its host name cannot be resolved: {source}")]
    Resolve {
        /// The URL as given.
        url: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The host of a listener has no address of the kind that is to be used.
    #[error("cannot listen on {url}: its host has no address of the family that -4 or -6 asks for")]
    NoSuchFamily {
        /// The URL as given.
        url: String,
    },
    /// Another program listens there.
    #[error("cannot listen on {url}: the address is in use by another program")]
    AddressInUse {
        /// The URL as given.
        url: String,
    },
    /// This user may not listen there.
    #[error(
        "cannot listen on {url}: ports below 1024 are reserved; choose another, or run with CAP_NET_BIND_SERVICE"
    )]
    NotPermitted {
        /// The URL as given.
        url: String,
    },
    /// The system refuses to listen there.
    #[error("cannot listen on {url}: {source}")]
    Listen {
        /// The URL as given.
        url: String,
        /// What the system said.
        source: io::Error,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Nothing to listen on.
    #[error("no address to listen on")]
    NoListener,
    /// Polling, signals or threads could not be set up, or polling failed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A thread of the server panicked: a bug of ours.
    #[error("the {0} thread stopped unexpectedly; this is a bug, the server has been stopped")]
    ThreadPanicked(&'static str),
}

impl ServerError {
    pub(crate) const fn system(what: &'static str) -> impl FnOnce(io::Error) -> ServerError {
        move |source| ServerError::System { what, source }
    }
}
