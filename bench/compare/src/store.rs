//! The interface of an engine: a few operations, each done in the engine's best way.
//!
//! Workloads are generic over these traits, so each engine has specialised code. At ten nanoseconds
//! per operation a virtual call would show.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// When a commit is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Whenever the system likes.
    Asynchronous,
    /// Before the commit returns.
    Synchronous,
}

/// How a store is to be opened.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Its files are in here, and nothing else is.
    pub(crate) folder: PathBuf,
    /// The shared library, where the engine is one.
    pub(crate) library: PathBuf,
    pub(crate) durability: Durability,
    /// Keys have several values.
    pub(crate) duplicates: bool,
}

/// An ability that some engines lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ability {
    /// Several values to a key, sorted.
    Duplicates,
    /// A copy while others write.
    Copies,
    /// A snapshot that is given up and taken anew.
    Renew,
    /// Snapshots that cost little enough to be taken for each read.
    Begin,
    /// Records from the last to the first.
    Backwards,
    /// Several threads that write at once, or wait for each other.
    Writers,
}

/// Memory for the cache of engines that have one: more than any workload's data.
pub(crate) const CACHE_BYTES: usize = 1 << 30;

/// An open store.
pub(crate) trait Store: Sized + Sync {
    type Reader<'s>: Reader
    where
        Self: 's;
    type Writer<'s>: Writer;

    fn open(setup: &Setup) -> anyhow::Result<Self>;

    /// Begins to read; one snapshot, where the engine has such.
    fn reader(&self) -> anyhow::Result<Self::Reader<'_>>;

    /// Does some work in one transaction, or in whatever the engine has in place of one, and
    /// commits it.
    fn write<T>(
        &self,
        work: impl FnOnce(&mut Self::Writer<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T>;

    /// Stores one record durably, together with what other threads store at the same time if the
    /// engine can do that.
    fn submit(&self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.write(|writer| writer.put(key, value))
    }

    /// Puts what was stored in the order that reads like best, where that is not done at once.
    fn settle(&self) -> anyhow::Result<()> {
        Ok(())
    }

    /// Copies the store into an empty folder, as backups do.
    fn copy_to(&self, _folder: &Path) -> anyhow::Result<()> {
        bail!("this engine cannot copy a store")
    }

    /// The name and version that it reports.
    fn version(&self) -> String;
}

/// Work with a kind of store.
pub(crate) trait Job {
    type Output;

    fn run<S: Store>(&self) -> anyhow::Result<Self::Output>;
}

/// A snapshot, or the latest state.
pub(crate) trait Reader {
    /// Shows the value of a key, and tells whether there is one.
    fn get(&mut self, key: &[u8], see: impl FnMut(&[u8])) -> anyhow::Result<bool>;

    /// Shows the values of keys, in their order; tells how many there are.
    fn get_many(&mut self, keys: &[[u8; 16]], mut see: impl FnMut(&[u8])) -> anyhow::Result<u64> {
        let mut found = 0;
        for key in keys {
            found += u64::from(self.get(key, &mut see)?);
        }
        Ok(found)
    }

    /// Visits up to `limit` records in ascending order, from the first or from the first not below
    /// a key. Returns their number.
    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64>;

    /// Shows all records in descending order; tells how many.
    fn scan_back(&mut self, _see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        bail!("this engine does not read backwards here")
    }

    /// Takes the newest snapshot in place of this one.
    fn renew(&mut self) -> anyhow::Result<()> {
        bail!("this engine's snapshots cannot be renewed")
    }
}

/// A transaction, or a batch.
pub(crate) trait Writer {
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()>;

    /// Stores a record whose key comes after all others.
    fn append(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()>;
}
