//! Errors of an import from OpenLDAP.

use fulgurite_openldap_mdb::{EntryFault, OpenError, ReadError};
use fulgurite_store::{BulkWriteError, StoreError};
use thiserror::Error;

/// Why an import failed, or why an entry was left out.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An entry cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The database cannot be read.
    #[error(transparent)]
    Source(#[from] EntryFault),
    /// The schema does not know a part of an entry, or does not allow it.
    #[error("entry {id} ({name}): {reason}")]
    Entry {
        /// Its id.
        id: u64,
        /// Its name.
        name: String,
        /// The reason, as a sentence.
        reason: String,
    },
    /// The entry above was left out.
    #[error("entry {id} ({name}): the entry above it was left out")]
    Orphan {
        /// Its id.
        id: u64,
        /// Its name.
        name: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A temporary file failed.
    #[error("temporary file: {0}")]
    Temporary(std::io::Error),
    /// The store is not empty: ids would meet.
    #[error("the store has entries already; an import goes into an empty one")]
    NotEmpty,
}

impl From<BulkWriteError> for ImportError {
    fn from(error: BulkWriteError) -> ImportError {
        match error {
            BulkWriteError::Store(error) => ImportError::Store(error),
            BulkWriteError::Temporary(error) => ImportError::Temporary(error),
        }
    }
}
