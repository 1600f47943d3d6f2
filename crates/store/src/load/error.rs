//! Why a load fails.

use crate::error::{OpenError, StoreError};
use thiserror::Error;

/// Why a load failed. The store is as it was before.
#[derive(Debug, Error)]
pub enum LoadError<E> {
    /// The caller's part failed.
    #[error(transparent)]
    Source(E),
    /// What the store says of one entry.
    #[error("line {line}: {source}")]
    Entry {
        /// Where the entry begins, as the caller counts.
        line: u64,
        /// What is wrong.
        source: StoreError,
    },
    /// An entry's parent came nowhere in the load.
    #[error("line {line}: {dn}: the parent entry does not exist{}", more_waiting(*others))]
    MissingParent {
        /// The first such entry.
        dn: String,
        /// Where it begins, as the caller counts.
        line: u64,
        /// How many more entries wait for parents that did not come.
        others: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The new store cannot be made.
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
