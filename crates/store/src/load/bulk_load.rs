//! The one entrance of a load: parts of an input, and a reader that makes entries of a part.
//!
//! ```text
//! calling thread:     parts.next()  -->  preparing threads: reader.read(part, batch)
//! ```

use std::path::Path;
use std::sync::Arc;

use super::batch::LoadBatch;
use super::error::LoadError;
use super::options::{LoadOptions, LoadProgress, LoadReport};
use super::part_reader::PartReader;
use super::pipeline::run;
use crate::error::OpenError;
use crate::store::{Store, StoreOptions};
use fulgurite_schema::{CheckedEntry, Schema};

/// Reads parts that are entries already, with their lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryReader;

impl<E> PartReader<Vec<(CheckedEntry, u64)>, E> for EntryReader {
    fn read(&mut self, part: Vec<(CheckedEntry, u64)>, batch: &mut LoadBatch<'_>) -> Result<(), E> {
        for (entry, line) in part {
            batch.add(entry, line);
        }
        Ok(())
    }
}

/// A load of all entries of an input, or of none, in one transaction.
///
/// The load takes the parts and reports its progress on the calling thread. Preparing threads read
/// the parts; chance decides which thread reads which part. The result depends on the order of the
/// parts only. The order of entries is free: parents may come after their children.
pub struct BulkLoad<'a, I, R> {
    /// The parts of the input, in order.
    pub parts: I,
    /// Makes entries of a part.
    pub reader: R,
    /// Memory, temporary files and threads.
    pub options: &'a LoadOptions,
    /// Receives the progress.
    pub progress: &'a mut dyn FnMut(LoadProgress),
}

impl<P, E, I, R> BulkLoad<'_, I, R>
where
    P: Send,
    E: Send,
    I: Iterator<Item = Result<P, E>>,
    R: PartReader<P, E> + Clone + Send,
{
    /// Loads into an existing store, which may have entries.
    ///
    /// # Errors
    /// [`LoadError`]; the store is unchanged then. Of several errors the first is returned, in the
    /// order of parts and entries.
    pub fn into_store(self, store: &Store) -> Result<LoadReport, LoadError<E>> {
        let BulkLoad {
            parts,
            reader,
            options,
            progress,
        } = self;
        run(store, options, progress, parts, reader)
    }

    /// Creates a store and loads into it. If the load fails, it removes the files of the store
    /// again. It removes the directory too if it created it.
    ///
    /// # Errors
    /// [`LoadError`]; [`LoadError::Create`] if there is a store already.
    pub fn into_new_store(
        self,
        path: &Path,
        store_options: &StoreOptions,
        schema: Arc<Schema>,
    ) -> Result<(Store, LoadReport), LoadError<E>> {
        let had_dir = path.exists();
        if Store::exists(path) {
            return Err(OpenError::Exists { path: path.into() }.into());
        }
        let remove = || {
            for name in ["data.mdb", "lock.mdb"] {
                let _ = std::fs::remove_file(path.join(name));
            }
            if !had_dir {
                let _ = std::fs::remove_dir(path);
            }
        };
        let store = Store::create(path, store_options, schema).inspect_err(|_| remove())?;
        match self.into_store(&store) {
            Ok(report) => Ok((store, report)),
            Err(error) => {
                drop(store);
                remove();
                Err(error)
            }
        }
    }
}

impl<I, R> std::fmt::Debug for BulkLoad<'_, I, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BulkLoad")
            .field("options", self.options)
            .finish_non_exhaustive()
    }
}
