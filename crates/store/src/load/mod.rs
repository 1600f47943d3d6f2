//! Loading many entries into a store in one transaction.
//!
//! ```text
//! caller's thread:   parts of the input  --> preparing threads
//! preparing threads: read, check, encode records, make and sort keys       all at once, a part each
//! loading thread:    number, append records            entries: in order of the parts, written once
//!                    parent not there yet?  --> spool, until it comes
//!                    names, postings  --> buffers  --over budget-->  sorted runs in temporary files
//! at the end:        sort or merge, on all threads  -->  append to names and index, page after page
//!                    subordinate counts, commit
//! ```
//!
//! Memory is the budget plus, for each entry, some forty octets for finding parents and duplicates. A store that holds
//! entries already is extended through [`Writer`](crate::Writer) instead, in one transaction all the same.

mod batch;
mod chunks;
mod external;
mod fill;
mod gather;
mod grams;
mod index;
mod loader;
mod names;
mod parents;
mod pipeline;
mod postings;
mod runs;
mod spool;

pub use batch::LoadBatch;
pub use fill::{FillError, Filled, Filler};
pub use pipeline::{
    LoadOptions, LoadProgress, LoadReport, LoadSink, PartSink, Stopped, bulk_load, bulk_load_parts,
    create_and_load, load_new,
};

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

impl<E> LoadError<E> {
    fn map_source<F>(self, map: impl FnOnce(E) -> F) -> LoadError<F> {
        match self {
            LoadError::Source(error) => LoadError::Source(map(error)),
            LoadError::Entry { line, source } => LoadError::Entry { line, source },
            LoadError::MissingParent { dn, line, others } => {
                LoadError::MissingParent { dn, line, others }
            }
            LoadError::Store(error) => LoadError::Store(error),
            LoadError::Create(error) => LoadError::Create(error),
            LoadError::Temporary(error) => LoadError::Temporary(error),
            LoadError::Internal => LoadError::Internal,
        }
    }
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

#[cfg(test)]
mod tests;
