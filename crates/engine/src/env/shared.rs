//! What all handles of this process on one environment share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use fulgurite_format::{META_PAGES, Meta, Txnid};
use fulgurite_os::{any_map_is_lost, fork_generation};

use super::Mapping;
use super::disk_room::{DiskRoom, RESERVE_PAGES};
use super::durable::Replacement;
use super::map_size::MapSize;
use super::registry::Registration;
use super::run_search::RunSearch;
use super::store_window::StoreWindow;
use crate::Error;
use crate::reader::{EndMark, LockFile, SlotTable, WriterMark};
use crate::space::{PageView, free_tree, pages_held};

/// How often a reader tries to catch a meta page that writers keep replacing under it.
pub(super) const ATTEMPTS: usize = 1000;

/// The files of an environment, and what is known of them; made by opening.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) mapping: Mapping,
    /// `None` without locking.
    pub(super) lock: Option<LockFile>,
    pub(super) size: MapSize,
    /// It was mapped at the address its file stores, and nowhere else can it be of use.
    pub(super) is_fixed: bool,
    /// The file's newest meta page is newer than the snapshot that was gone back to, and stands until the first change.
    pub(super) abandoned: AtomicBool,
    pub(super) fork_generation: u32,
    /// What the file has of the disk.
    pub(super) disk_room: DiskRoom,
    /// A meta page write failed: nobody knows what the next opener will find.
    pub(super) failed: AtomicBool,
    /// A flush failed: what is on the disk is unknown, and no later flush can tell.
    pub(super) flush_failed: AtomicBool,
    /// Held while something is made durable, so that whoever comes next knows how it went.
    pub(super) flushing: Mutex<()>,
    /// The thread that has the write transaction.
    pub(super) writer: WriterMark,
    /// The writer mutex of an environment without locking.
    pub(super) local_writer: Mutex<()>,
    /// Through which writers that flush nothing store pages.
    pub(super) window: StoreWindow,
    /// What writers have sought in the free list in vain.
    pub(super) runs: Mutex<RunSearch>,
    /// Dropped last: the lock file's descriptor must be closed before anybody may open the environment again.
    #[expect(dead_code, reason = "held for its drop")]
    pub(super) registration: Registration,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mapping = self.mapping.current();
        let Some(lock) = &self.lock else {
            // Who else may have the file open is the program's business.
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

    /// Whether the next writer finds as many free pages in the file as are kept behind it for deletions. Nobody reads or writes.
    fn has_free_pages(&self) -> Result<bool, Error> {
        let meta = self.committed_meta()?;
        let window = self.mapping().window(meta.last);
        let view = PageView::of_snapshot(window, meta.last, EndMark::never());
        let free = free_tree(meta.free);
        // What the last transaction has freed is not for the one after it.
        let found = pages_held(view, &free, Txnid(0), meta.txnid, RESERVE_PAGES)?;
        Ok(found >= RESERVE_PAGES)
    }

    /// Whether this process, and not a parent of it, opened the environment.
    #[inline]
    pub(super) fn is_of_this_process(&self) -> bool {
        fork_generation() == self.fork_generation
    }

    /// Refuses use after a fork, a failed meta write, or the loss of a page.
    #[inline]
    pub(super) fn check_usable(&self) -> Result<(), Error> {
        if any_map_is_lost() {
            self.check_maps()?;
        }
        if !self.is_of_this_process() {
            return Err(Error::Forked);
        }
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::EnvironmentFailed);
        }
        Ok(())
    }

    /// As [`Shared::check_usable`], for all that can be seen at once.
    #[inline]
    pub(super) fn is_usable(&self) -> bool {
        !any_map_is_lost() && self.is_of_this_process() && !self.failed.load(Ordering::Relaxed)
    }

    /// As [`Shared::check_writable`], for all that can be seen at once.
    #[inline]
    pub(super) fn is_writable(&self) -> bool {
        self.is_usable() && !self.flush_failed.load(Ordering::SeqCst)
    }

    /// Refuses use once a page was touched that data or lock file did not have: nobody knows what else is gone, and a lock
    /// file that others do not see protects from nothing.
    #[cold]
    pub(super) fn check_maps(&self) -> Result<(), Error> {
        if self.mapping.is_lost() || self.lock.as_ref().is_some_and(LockFile::is_lost) {
            return Err(Error::MapLost);
        }
        Ok(())
    }

    /// Keeps the writers of this process apart where there is no lock file to do it.
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

    /// The meta page of the last commit, for whoever holds the writer mutex.
    pub(super) fn committed_meta(&self) -> Result<Meta, Error> {
        match &self.lock {
            Some(lock) => self
                .mapping()
                .meta_of(lock.last_txnid())?
                .ok_or(Error::LockBroken),
            None if self.abandoned.load(Ordering::SeqCst) => self.mapping().older_meta(),
            None => self.mapping().newest_meta(),
        }
    }

    /// The meta page of the last commit, for whoever does not hold the writer mutex.
    pub(super) fn published_meta(&self) -> Result<Meta, Error> {
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
        // Nobody commits that fast: the lock file does not belong to this data file.
        Err(Error::LockBroken)
    }

    /// Makes the snapshot that was gone back from unreachable, for good, before anything of it is overwritten; only for
    /// the writer. Its meta page becomes an older one with the trees of the snapshot that was gone back to.
    ///
    /// The id goes first, and alone: while it is that of the newest snapshot, the page must say nothing but what that
    /// transaction said, even if the power fails in the middle of writing. A commit has it the other way round.
    #[cold]
    pub(super) fn abandon_newer(&self) -> Result<(), Error> {
        let base = self.committed_meta()?;
        let older = Meta {
            txnid: Txnid(base.txnid.0.saturating_sub(1)),
            ..base
        };
        let page = (base.txnid.0 + 1) % META_PAGES;
        let newer = self.mapping().read_meta(page)?;
        let demoted = Meta {
            txnid: older.txnid,
            ..newer
        };
        for new in [&demoted, &older] {
            self.replace_meta(Replacement {
                page,
                new,
                // If either fails nothing has been abandoned: whoever goes back again must find the same snapshot.
                old: &newer,
                durable: true,
                waits: true,
            })?;
        }
        self.abandoned.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// The oldest snapshot that transaction `writer` must leave alone: that of the oldest reader, or the last
    /// committed one. Clears dead readers away if one of them holds an older snapshot.
    pub(super) fn oldest_reader(&self, writer: Txnid) -> Result<Txnid, Error> {
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
}
