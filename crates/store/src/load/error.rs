//! Why a load fails.

use crate::error::{OpenError, StoreError};
use thiserror::Error;

/// Why a load failed. The store is unchanged.
#[derive(Debug, Error)]
pub enum LoadError<E> {
    /// An error of the caller's parts or reader.
    #[error(transparent)]
    Source(E),
    /// An error of the store about one entry.
    #[error("line {line}: {source}")]
    Entry {
        /// Line of the entry, as the caller counts.
        line: u64,
        /// The error.
        source: StoreError,
    },
    /// An entry's parent is missing in the load.
    #[error("line {line}: {dn}: the parent entry does not exist{}", more_waiting(*others))]
    MissingParent {
        /// The first such entry.
        dn: String,
        /// Its line, as the caller counts.
        line: u64,
        /// Number of further entries without parents.
        others: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The new store cannot be created.
    #[error(transparent)]
    Create(#[from] OpenError),
    /// A temporary file failed.
    #[error("temporary file: {0}")]
    Temporary(#[from] std::io::Error),
    /// A thread of the load panicked: a defect of this program.
    #[error("a thread of the load ended unexpectedly")]
    Internal,
}

fn more_waiting(count: u64) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(" (and {count} more entries wait for missing parents)")
    }
}

/// Errors of the loading thread.
#[derive(Debug)]
pub(crate) enum Failure {
    Entry { line: u64, source: StoreError },
    MissingParent { dn: String, line: u64, others: u64 },
    Store(StoreError),
    Temporary(std::io::Error),
}

impl<E: Into<StoreError>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Store(error.into())
    }
}

impl<E> From<Failure> for LoadError<E> {
    fn from(failure: Failure) -> LoadError<E> {
        match failure {
            Failure::Entry { line, source } => LoadError::Entry { line, source },
            Failure::MissingParent { dn, line, others } => {
                LoadError::MissingParent { dn, line, others }
            }
            Failure::Store(error) => LoadError::Store(error),
            Failure::Temporary(error) => LoadError::Temporary(error),
        }
    }
}
