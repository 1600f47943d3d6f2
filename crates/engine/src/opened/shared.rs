//! The state that all handles of this process on one environment share.
//!
//! Locks are taken in this order, outermost first. A thread that holds one takes only later ones:
//!
//! ```text
//!   registry::OPENING    while an environment is opened
//!   one_at_a_time (checkpoints)  while a checkpoint is made
//!   writer mutex         one write transaction over all processes; `local_writer` without a lock file
//!   reader mutex         while slots are entered or freed; a writer takes it to clear dead readers
//!   flushing             while pages or a meta page become durable, so that failures are seen in order
//!   replacing (map_size), window, runs, state (checkpoints), registry::OPEN    innermost: no lock is taken below them
//! ```

use core::sync::atomic::{AtomicBool, Ordering};
use fulgurite_os::platform::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use fulgurite_format::{Meta, Txnid};
use fulgurite_os::{any_map_is_lost, fork_generation};

#[cfg(feature = "std")]
use super::checkpoints::Checkpoints;
use super::disk_room::{DiskRoom, RESERVE_PAGES};
use super::failed_search::FailedSearch;
use super::flush_times::FlushCounters;
use super::map_size::MapSize;
use super::store_window::StoreWindow;
use super::{Mapping, Window};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::reader::{LockFile, SlotTable, WriterMark};

/// How often a reader tries to catch a meta page that writers keep replacing under it.
pub(super) const ATTEMPTS: usize = 1000;

/// The files of an environment and their state; opening makes it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) mapping: Mapping,
    /// `None` without locking.
    pub(super) lock: Option<LockFile>,
    pub(super) size: MapSize,
    /// True if it is mapped at the address that its file stores: it is of no use elsewhere.
    pub(super) is_fixed: bool,
    /// The file's newest meta page is newer than the base snapshot; it stays until the first
    /// change.
    pub(super) abandoned: AtomicBool,
    pub(super) fork_generation: u32,
    /// The room that the file has on the disk.
    pub(super) disk_room: DiskRoom,
    /// A meta page write failed: it is unknown what the next opener will find.
    pub(super) failed: AtomicBool,
    /// A flush failed: the disk's contents are unknown, and no later flush can tell.
    pub(super) flush_failed: AtomicBool,
    /// Held while something is made durable, so that the caller that comes next knows how it went.
    pub(super) flushing: Mutex<()>,
    /// The flushes of data file and meta page up to now.
    pub(super) flush_times: FlushCounters,
    /// The thread that has the write transaction.
    pub(super) writer: WriterMark,
    /// The writer mutex of an environment without locking.
    pub(super) local_writer: Mutex<()>,
    /// Through which writers that flush nothing store pages.
    pub(super) window: StoreWindow,
    /// Failed searches of writers in the free list.
    pub(super) runs: Mutex<FailedSearch>,
    /// Counts the free pages when the environment is closed.
    pub(super) count_free: CountFree,
    /// The checkpoints, if commits are not flushed but by them.
    #[cfg(feature = "std")]
    pub(super) checkpoints: Option<Checkpoints>,
}

/// Counts the pages of a snapshot's free list that its next writer may use, up to a bound.
pub(crate) type CountFree = for<'a> fn(Window<'a>, &Meta, u64) -> Result<u64, BoxedError>;

impl Drop for Shared {
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        self.close_checkpoints();
        let mapping = self.mapping.current();
        let Some(lock) = &self.lock else {
            // The program is responsible for other processes that have the file open.
            return;
        };
        let is_sound = self.is_of_this_process() && self.check_usable().is_ok();
        if is_sound
            && mapping.file().is_writable()
            && !mapping.map().is_writable()
            && self.disk_room.has_taken()
            && lock.is_last()
        {
            let has_free_pages = self.has_free_pages().unwrap_or(false);
            self.disk_room
                .give_back(mapping.file(), mapping.page_size(), has_free_pages);
        }
    }
}

impl Shared {
    /// The newest mapping of the data file.
    #[inline]
    pub(super) fn mapping(&self) -> &Mapping {
        self.mapping.current()
    }

    /// Returns true if the next writer finds as many free pages in the file as the reserve has. No
    /// transaction reads or writes.
    fn has_free_pages(&self) -> Result<bool, BoxedError> {
        let meta = self.committed_meta()?;
        let window = self.mapping().window(meta.last);
        let found = (self.count_free)(window, &meta, RESERVE_PAGES)?;
        Ok(found >= RESERVE_PAGES)
    }

    /// Returns true if this process, and not a parent of it, opened the environment.
    #[inline]
    pub(super) fn is_of_this_process(&self) -> bool {
        fork_generation() == self.fork_generation
    }

    /// Refuses use after a fork, a failed meta write, or the loss of a page.
    #[inline(always)]
    pub(super) fn check_usable(&self) -> Result<(), BoxedError> {
        if self.is_usable() {
            return Ok(());
        }
        self.complain()
    }

    /// Says why the environment cannot be used, if it cannot.
    #[cold]
    #[inline(never)]
    fn complain(&self) -> Result<(), BoxedError> {
        if any_map_is_lost() {
            self.check_maps()?;
        }
        if !self.is_of_this_process() {
            return Err(Error::Forked.into());
        }
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::EnvironmentFailed.into());
        }
        Ok(())
    }

    /// As [`Shared::check_usable`], for all that can be seen at once.
    #[inline(always)]
    pub(super) fn is_usable(&self) -> bool {
        !any_map_is_lost() && self.is_of_this_process() && !self.failed.load(Ordering::Relaxed)
    }

    /// As [`Shared::check_writable`], for all that can be seen at once.
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        self.is_usable() && !self.flush_failed.load(Ordering::SeqCst)
    }

    /// Returns true if a meta write or a flush has failed.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.flush_failed.load(Ordering::SeqCst)
    }

    /// Refuses use once a page was missing in the data file or the lock file. Other pages may be
    /// gone too, and a lock file that others do not see protects nothing.
    #[cold]
    pub(super) fn check_maps(&self) -> Result<(), BoxedError> {
        if self.mapping.is_lost() || self.lock.as_ref().is_some_and(LockFile::is_lost) {
            return Err(Error::MapLost.into());
        }
        Ok(())
    }

    /// Excludes other writers of this process if there is no lock file.
    pub(super) fn local_writer_mutex(&self) -> MutexGuard<'_, ()> {
        self.local_writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`local_writer_mutex`](Self::local_writer_mutex), but `None` if a writer holds it.
    pub(super) fn try_local_writer_mutex(&self) -> Option<MutexGuard<'_, ()>> {
        match self.local_writer.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the meta page of the last commit, for the holder of the writer mutex.
    pub(super) fn committed_meta(&self) -> Result<Meta, BoxedError> {
        match &self.lock {
            Some(lock) => self
                .mapping()
                .meta_of(lock.last_txnid())?
                .ok_or_else(|| Error::LockBroken.into()),
            None if self.abandoned.load(Ordering::SeqCst) => self.mapping().older_meta(),
            None => self.mapping().newest_meta(),
        }
    }

    /// Returns the meta page of the last commit, for a caller without the writer mutex.
    pub(super) fn published_meta(&self) -> Result<Meta, BoxedError> {
        let Some(lock) = &self.lock else {
            return self.committed_meta();
        };
        for _ in 0..ATTEMPTS {
            let id = lock.last_txnid();
            if id.0 == 0 && !self.abandoned.load(Ordering::SeqCst) {
                // The first opener of all may be a reader that could not publish the id.
                return self.mapping().newest_meta();
            }
            if let Some(meta) = lock.read_settled(id, || self.mapping().meta_of(id))? {
                return Ok(meta);
            }
        }
        // No process commits that fast: the lock file does not belong to this data file.
        Err(Error::LockBroken.into())
    }

    /// The oldest snapshot that transaction `writer` must leave alone: that of the oldest reader,
    /// or the last committed one. Clears dead readers away if one of them holds an older snapshot.
    pub(super) fn oldest_reader(&self, writer: Txnid) -> Result<Txnid, BoxedError> {
        let committed = Txnid(writer.0.saturating_sub(1));
        let Some(lock) = &self.lock else {
            return Ok(committed);
        };
        let oldest = lock.oldest_reader(committed);
        if oldest < committed && lock.clear_stale()? > 0 {
            return Ok(lock.oldest_reader(committed));
        }
        Ok(oldest)
    }

    /// Refuses to write where a flush has failed.
    #[inline(always)]
    pub(super) fn check_writable(&self) -> Result<(), BoxedError> {
        self.check_usable()?;
        if self.flush_failed.load(Ordering::SeqCst) {
            return Err(Error::FlushFailed.into());
        }
        Ok(())
    }
}
