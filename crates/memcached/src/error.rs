//! Reasons why a server does not start or does not go on.

use std::io;
use std::path::PathBuf;

/// Why a server does not start or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The folder of the environment cannot be made.
    #[error("cannot make the folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The environment does not open.
    #[error("cannot open the cache: {0}")]
    Open(#[from] fulgurite::OpenError),
    /// The environment does not work.
    #[error("the cache: {0}")]
    Cache(#[from] fulgurite::Error),
    /// The environment holds something else.
    #[error("{} holds no cache of this version; give another folder", .0.display())]
    Foreign(PathBuf),
    /// A listener does not open.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The place.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The files of TLS are unusable.
    #[error("TLS: {0}")]
    Tls(String),
    /// The file of users is unusable.
    #[error("the file of users {}: {reason}", path.display())]
    Users {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The system refused.
    #[error("cannot {doing}: {source}")]
    System {
        /// The action that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A thread panicked.
    #[error("a thread of the server panicked; see its message")]
    Panicked,
}

impl ServeError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> ServeError {
        move |source| ServeError::System { doing, source }
    }
}
