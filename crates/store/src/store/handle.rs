//! The handle of an open store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::databases::Databases;
use super::log_readers::{LogReader, LogReaderFigures, LogReaders};
use super::room::{CommitCounters, CommitCounts, Shortage};
use super::tables::StateTables;
use crate::changes::{Retention, SharedRetention};
use crate::error::StoreError;
use fulgurite::{Durability, Environment};
use fulgurite_schema::{Dn, Schema};

/// The log of changes has this part of the bytes that the data file may grow to, at most.
const LOG_SHARE: u64 = 4;

/// A directory's entries, names and indexes in one engine environment. Share it by reference or in
/// an `Arc`.
pub struct Store {
    pub(crate) env: Arc<Environment>,
    pub(crate) dbs: Databases,
    pub(crate) schema: Arc<Schema>,
    pub(crate) tables: StateTables,
    pub(crate) rdn_hash_mask: u64,
    /// Size of a record in bytes at most, see [`Store::limit_entries`].
    pub(crate) entry_bytes_max: AtomicU64,
    /// Attributes with more values are stored outside the record.
    pub(crate) inline_values_max: usize,
    pub(crate) suffixes: Vec<Dn>,
    pub(crate) retention: SharedRetention,
    /// Shared by all handles on the environment.
    pub(crate) commit_counters: Arc<CommitCounters>,
    /// The greatest position in the log at which this process has written a new name. A transaction
    /// that was given up counts too. Shared by all handles.
    pub(crate) newest_rename: Arc<AtomicU64>,
    /// Shared by all handles.
    pub(crate) log_readers: Arc<LogReaders>,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Returns true if a commit waits for the disk.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        self.env.durability() != Durability::NoSync
    }

    /// Returns the names of the topmost entries.
    #[must_use]
    pub fn suffixes(&self) -> &[Dn] {
        &self.suffixes
    }

    /// Returns true if the suffix is the empty name. Then every name belongs to this store, and
    /// names of one RDN are at the top. The empty name itself is no entry.
    #[must_use]
    pub fn holds_everything(&self) -> bool {
        self.suffixes.iter().any(Dn::is_root)
    }

    /// Returns true if an entry of this name has no parent in the store.
    #[must_use]
    pub fn is_top(&self, dn: &Dn) -> bool {
        if self.holds_everything() {
            dn.depth() == 1
        } else {
            self.suffixes.contains(dn)
        }
    }

    /// Returns the schema with which the store was opened.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the directory of the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the engine's environment, for statistics and explicit syncs.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// Returns the complete indexes as text (`mail:eq,sub`), as this process last saw them.
    #[must_use]
    pub fn indexes(&self) -> Vec<String> {
        let indexes = self.tables.newest_indexes();
        let usable = indexes.list().iter().filter(|index| index.usable);
        let texts = usable.map(|index| {
            let attribute = self.schema.attribute_at(index.attribute);
            format!("{}:{}", attribute.name(), index.kinds())
        });
        texts.collect()
    }

    /// Sets the largest size of a record: name, values, descriptions and a few bytes for each.
    /// Existing larger entries stay until they are changed.
    pub fn limit_entries(&self, bytes_max: Option<u64>) {
        let bytes_max = bytes_max.unwrap_or(u64::MAX);
        self.entry_bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Sets the bytes that the data file may grow to. A larger file stays as large as it is.
    pub fn limit_growth(&self, bytes_max: u64) {
        self.env.limit_growth(bytes_max);
    }

    /// Sets the state that further commits reach before they are acknowledged. Earlier commits
    /// reach it too. A store with checkpoints stays as it is.
    ///
    /// # Errors
    /// [`StoreError`] if the disk refuses.
    pub fn set_durability(&self, durability: Durability) -> Result<(), StoreError> {
        let held = self.env.durability();
        if held == durability || self.env.last_checkpoint().is_some() {
            return Ok(());
        }
        self.env.set_durability(durability);
        if durability != Durability::NoSync {
            self.env.sync(true)?;
        }
        Ok(())
    }

    /// Counts an update that was refused for good, because it lacked room.
    pub fn count_refused(&self, shortage: Shortage) {
        self.commit_counters.refused(shortage);
    }

    /// Returns the commits and refused updates since the store was opened.
    #[must_use]
    pub fn commit_counts(&self) -> CommitCounts {
        self.commit_counters.read()
    }

    /// Returns true if this process has given an entry a new name behind a position of the log.
    /// May be true without need.
    #[must_use]
    pub fn has_renamed_since(&self, position: u64) -> bool {
        self.newest_rename.load(Ordering::Acquire) > position
    }

    /// Shows a search that follows the log, until the value is dropped.
    #[must_use]
    pub fn read_log(&self, name: String) -> LogReader {
        self.log_readers.add(name)
    }

    /// Returns the searches that follow the log, the oldest first.
    #[must_use]
    pub fn log_readers(&self) -> Vec<LogReaderFigures> {
        self.log_readers.figures()
    }

    /// Sets how long the log keeps its records.
    pub fn keep_changes(&self, retention: Retention) {
        self.retention.set(retention);
    }

    /// Sets the bytes of records that the log keeps at most. A quarter of the bytes that the data
    /// file may grow to is a bound, too.
    pub fn limit_log(&self, bytes_max: u64) {
        self.retention.set(Retention {
            bytes_max,
            ..self.retention.get()
        });
    }

    /// Returns the bytes of records that the log keeps at most.
    pub(crate) fn log_bytes_max(&self) -> u64 {
        let share = self.env.map_bytes_max() / LOG_SHARE;
        self.retention.get().bytes_max.min(share)
    }

    /// Returns how long the log keeps its records.
    #[must_use]
    pub fn retention(&self) -> Retention {
        self.retention.get()
    }

    /// Returns true if the size of entries has a limit.
    #[must_use]
    pub fn limits_entries(&self) -> bool {
        self.entry_bytes_max.load(Ordering::Relaxed) != u64::MAX
    }

    /// Fails if a record is larger than the limit.
    pub(crate) fn check_size(&self, record: &[u8]) -> Result<(), StoreError> {
        let (bytes, bytes_max) = (
            record.len() as u64,
            self.entry_bytes_max.load(Ordering::Relaxed),
        );
        if bytes > bytes_max {
            return Err(StoreError::EntryTooBig { bytes, bytes_max });
        }
        Ok(())
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
