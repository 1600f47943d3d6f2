//! Writing an empty store entry by entry, as fast as a bulk load, for callers that decide about
//! each entry.
//!
//! ```text
//!   Store::bulk_writer --> BulkWriter --add, add_as--> records, in order of ids   names, postings -> sorted runs
//!                              |
//!                              `--into_writer--> Writer: names and indexes are written; the writer takes the rest
//! ```
//!
//! Nothing is visible before the writer commits. Until then names and indexes are not written
//! either. So the bulk writer takes entries only behind their parents and in order of ids. For
//! other entries it returns [`BulkAddOutcome::OutOfOrder`], and the caller continues with the
//! writer.

use thiserror::Error;

use super::bulk_add_outcome::BulkAddOutcome;
use super::error::Failure;
use super::loader::Loader;
use super::options::LoadOptions;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::store::Store;
use crate::write::Writer;
use fulgurite_schema::{CheckedEntry, Dn};

/// A bulk writer of an empty store.
pub struct BulkWriter<'s>(Loader<'s>);

/// The reasons why an entry cannot be added.
#[derive(Debug, Error)]
pub enum BulkWriteError {
    /// An error of the store. [`StoreError::Engine`] and [`StoreError::Damaged`] end the bulk
    /// write.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A temporary file failed, which ends the bulk write.
    #[error("temporary file: {0}")]
    Temporary(#[from] std::io::Error),
}

impl Store {
    /// Returns a bulk writer; `None` if the store has entries. Waits while another writer is
    /// active.
    /// # Errors
    /// [`BulkWriteError`], for instance if the store was opened read-only.
    pub fn bulk_writer(
        &self,
        options: &LoadOptions,
    ) -> Result<Option<BulkWriter<'_>>, BulkWriteError> {
        let dir = options.temporary_dir.as_deref().unwrap_or(self.path());
        let loader = Loader::new(self.write()?, dir, options.memory_bytes).map_err(of)?;
        Ok(loader.is_empty_store().then_some(BulkWriter(loader)))
    }
}

impl<'s> BulkWriter<'s> {
    /// Adds an entry whose parent has been added, under the next id.
    /// # Errors
    /// [`BulkWriteError`]; [`StoreError::OutsideSuffix`], [`StoreError::EntryTooLarge`],
    /// [`StoreError::EntryTooBig`] and [`StoreError::TooManyAttributes`] leave everything as it
    /// was.
    pub fn add(&mut self, entry: &CheckedEntry) -> Result<BulkAddOutcome, BulkWriteError> {
        self.0.fill(entry, None).map_err(of)
    }

    /// Adds an entry under an id that another server gave it, as [`Writer::add_as`] does.
    ///
    /// # Errors
    /// As [`BulkWriter::add`]; [`StoreError::NoSuchEntry`] for a parent beyond all ids leaves
    /// everything as it was, too.
    pub fn add_as(
        &mut self,
        id: EntryId,
        parent: EntryId,
        entry: &CheckedEntry,
    ) -> Result<BulkAddOutcome, BulkWriteError> {
        self.0.fill(entry, Some((id, parent))).map_err(of)
    }

    /// Returns the entry above a name; `None` if it has not been added, or if the name is a suffix.
    #[must_use]
    pub fn above(&self, dn: &Dn) -> Option<EntryId> {
        self.0.above(dn)
    }

    /// Returns the number of entries that have been added.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.0.loaded()
    }

    /// Writes names and indexes. The writer can then read and change everything in the same
    /// transaction. The vector of the log stays open.
    /// # Errors
    /// [`BulkWriteError`].
    pub fn into_writer(self) -> Result<Writer<'s>, BulkWriteError> {
        self.0.into_writer().map_err(of)
    }

    /// Does the same for entries that are the whole content: the vector of the log follows from
    /// them.
    /// # Errors
    /// [`BulkWriteError`].
    pub fn into_settled_writer(self) -> Result<Writer<'s>, BulkWriteError> {
        self.0.into_settled_writer().map_err(of)
    }
}

impl std::fmt::Debug for BulkWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkWriter").finish_non_exhaustive()
    }
}

fn of(failure: Failure) -> BulkWriteError {
    match failure {
        Failure::Entry { source, .. } | Failure::Store(source) => BulkWriteError::Store(source),
        Failure::Temporary(error) => BulkWriteError::Temporary(error),
        // A bulk writer spools no entry.
        Failure::MissingParent { .. } => BulkWriteError::Store(Damage::Parents.into()),
    }
}
