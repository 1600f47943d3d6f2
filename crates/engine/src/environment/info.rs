//! Questions to an open environment: sizes, statistics, readers.

use super::Environment;
use crate::reader::{LockFile, SlotTable};
use crate::{Error, FlushTimes, HeldPages, Reader, Stat};
use alloc::vec::Vec;

/// Facts about an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Size of a page in bytes.
    pub page_size: usize,
    /// Size of the map in bytes, as other processes see it. It grows as needed.
    pub map_size: u64,
    /// The bound in bytes up to which it can grow.
    pub map_bytes_max: u64,
    /// The last page in use.
    pub last_page: u64,
    /// The last committed transaction.
    pub last_txnid: u64,
    /// The address the file stores for fixed maps; 0 if it was not created with one.
    pub map_address: u64,
    /// Reader slots in the lock file; 0 without locking.
    pub readers_max: u32,
    /// Reader slots ever used; does not go down when readers end.
    pub readers_used: u32,
}

impl Environment {
    /// The reader slots in use, in the order of the lock file; `None` without locking.
    #[must_use]
    pub fn readers(&self) -> Option<Vec<Reader>> {
        self.handle.lock().map(LockFile::readers)
    }

    /// As [`Environment::readers`], with the pages that each reader holds back. Costs as much as
    /// [`ReadTxn::free_pages`], and takes a reader slot meanwhile, which is not part of the answer.
    /// `None` without locking.
    /// # Errors
    /// As [`Environment::read`], [`Error::ReadersFull`] above all, and as [`ReadTxn::free_pages`].
    ///
    /// [`ReadTxn::free_pages`]: crate::ReadTxn::free_pages
    pub fn readers_with_pages(&self) -> Result<Option<Vec<(Reader, HeldPages)>>, Error> {
        let Some(readers) = self.readers() else {
            return Ok(None);
        };
        let held = self.read()?.free_pages()?.held_by(&readers);
        Ok(Some(readers.into_iter().zip(held).collect()))
    }

    /// Returns the dead processes that still have reader slots: no process has cleared them yet.
    /// Costs a system call for each process in the table; changes nothing.
    /// # Errors
    /// The system's.
    pub fn dead_readers(&self) -> Result<Vec<u32>, Error> {
        let dead = self.handle.lock().map(LockFile::dead_processes);
        Ok(dead.transpose()?.unwrap_or_default())
    }

    /// Returns the thread that has the write transaction, in any process, by the system's number
    /// for it. Returns `None` if there is none, or without locking. It may have ended, or died, by
    /// the time one looks.
    #[must_use]
    pub fn current_writer(&self) -> Option<u32> {
        self.handle.lock().and_then(LockFile::writer_thread)
    }

    /// Statistics of the main database, as last committed.
    /// # Errors
    /// [`Error::Corrupted`] for a damaged meta page.
    pub fn stat(&self) -> Result<Stat, Error> {
        let meta = self.handle.published_meta()?;
        Ok(Stat::of(&meta.main, self.handle.mapping().page_size()))
    }

    /// Facts about the environment.
    /// # Errors
    /// [`Error::Corrupted`] for a damaged meta page.
    pub fn info(&self) -> Result<Info, Error> {
        let meta = self.handle.published_meta()?;
        let lock = self.handle.lock();
        let (map_size, map_bytes_max) = self.handle.map_sizes(&meta);
        Ok(Info {
            page_size: self.handle.mapping().page_size(),
            map_size,
            map_bytes_max,
            map_address: meta.map_address,
            last_page: meta.last.0,
            last_txnid: meta.txnid.0,
            readers_max: lock.map_or(0, LockFile::slots),
            readers_used: lock.map_or(0, LockFile::used_slots),
        })
    }

    /// Returns the flushes to disk of this process by their time. A durable commit has two: that of
    /// its pages, and that of its meta page.
    #[must_use]
    pub fn flush_times(&self) -> FlushTimes {
        self.handle.flush_times()
    }

    /// Frees the reader slots of processes that died; returns how many. A writer does so itself
    /// before it lets the file grow because of an old reader.
    /// # Errors
    /// The system's.
    pub fn clear_stale_readers(&self) -> Result<usize, Error> {
        self.handle.check_usable()?;
        let cleared = self.handle.lock().map(LockFile::clear_stale);
        Ok(cleared.transpose()?.unwrap_or(0))
    }
}
