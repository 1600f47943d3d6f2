//! The handle of an open store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::databases::Databases;
use super::tables::StateTables;
use crate::error::StoreError;
use fulgurite::{Durability, Environment};
use fulgurite_schema::{Dn, Schema};

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
    pub(crate) path: PathBuf,
}

impl Store {
    /// Whether a commit waits for the disk.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        self.env.durability() != Durability::NoSync
    }

    /// Names of the topmost entries.
    #[must_use]
    pub fn suffixes(&self) -> &[Dn] {
        &self.suffixes
    }

    /// Whether the suffix is the empty name: every name belongs here, and what has one RDN is at the top. The empty name
    /// itself is no entry.
    #[must_use]
    pub fn holds_everything(&self) -> bool {
        self.suffixes.iter().any(Dn::is_root)
    }

    /// Whether an entry of this name hangs below no other one of the store.
    #[must_use]
    pub fn is_top(&self, dn: &Dn) -> bool {
        if self.holds_everything() {
            dn.depth() == 1
        } else {
            self.suffixes.contains(dn)
        }
    }

    /// The schema given on opening.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The directory of the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The engine's environment, for statistics and explicit syncs.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// The complete indexes, as text (`mail:eq,sub`), as they were last seen by this process.
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

    /// From now on entries are refused whose record takes more than so many bytes: its name, its values, their descriptions
    /// and a few bytes for each of them. Those that are there stay until they are changed.
    pub fn limit_entries(&self, bytes_max: Option<u64>) {
        let bytes_max = bytes_max.unwrap_or(u64::MAX);
        self.entry_bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Whether there is a bound of the size of entries.
    #[must_use]
    pub fn limits_entries(&self) -> bool {
        self.entry_bytes_max.load(Ordering::Relaxed) != u64::MAX
    }

    /// Refuses a record that is larger than entries may be.
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
