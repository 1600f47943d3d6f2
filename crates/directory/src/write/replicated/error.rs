//! The reasons why a change of a copied content fails.

use fulgurite_store::{BulkWriteError, StoreError};

/// A failure of a batch of changes.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The store failed: nothing of the batch is stored.
    #[error(transparent)]
    Store(StoreError),
    /// A temporary file of a first refresh failed: nothing of the refresh is stored.
    #[error("temporary file: {0}")]
    Temporary(std::io::Error),
    /// One entry cannot be stored. The batch goes on without it.
    #[error("{0}")]
    Refused(String),
    /// A logged operation does not fit the copy. The changes before it are stored.
    #[error("{0}")]
    LostSync(String),
    /// Too many entries wait in the quarantine: something else is wrong.
    #[error("the quarantine is full, with {rows} entries: does the schema here lack something?")]
    QuarantineFull {
        /// The entries in it.
        rows: usize,
    },
    /// The database is gone from the configuration.
    #[error("the database is no longer configured")]
    NoDatabase,
}

impl From<StoreError> for ContentError {
    fn from(error: StoreError) -> ContentError {
        match error {
            StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned => {
                ContentError::Store(error)
            }
            refusal => ContentError::Refused(refusal.to_string()),
        }
    }
}

impl From<BulkWriteError> for ContentError {
    fn from(error: BulkWriteError) -> ContentError {
        match error {
            BulkWriteError::Store(error) => error.into(),
            BulkWriteError::Temporary(error) => ContentError::Temporary(error),
        }
    }
}

/// The result of a change.
pub(super) type ContentResult<T = ()> = Result<T, ContentError>;

/// Returns a refusal.
pub(super) fn refused<T>(text: impl Into<String>) -> ContentResult<T> {
    Err(ContentError::Refused(text.into()))
}
