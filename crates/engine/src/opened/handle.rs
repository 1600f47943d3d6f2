//! A handle on an open environment, as transactions see it.

use alloc::borrow::ToOwned;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use fulgurite_os::fd::{AsFd, BorrowedFd};
use fulgurite_os::platform::path::{Path, PathBuf};
use fulgurite_os::platform::sync::MutexGuard;

use fulgurite_format::{META_PAGES, Meta, Pgno, Txnid};

use super::RESERVE_PAGES;
use super::counted::Strong;
use super::durable::MetaReplacement;
use super::failed_search::FailedSearch;
use super::registry::RegisteredEnvironment;
use super::{
    DatabaseNames, Durability, FlushTimes, Mapping, OpenOptions, PageStore, SlotPolicy, threads,
};
use crate::boxed_error::BoxedError;
use crate::reader::{Governor, LockFile, ReaderSlotCache, Slot, WriterMark};
use crate::{Error, ReaderPolicy};

const NO_META_SYNC: u8 = Durability::NoMetaSync as u8;
const NO_SYNC: u8 = Durability::NoSync as u8;

/// The state of an open environment that transactions need. It has the files, shared with other
/// handles of the process, and the choices of this handle. The public `Environment` owns one.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(super) shared: Strong<RegisteredEnvironment>,
    /// Distinguishes the handles of this process.
    id: u64,
    path: PathBuf,
    names: DatabaseNames,
    pub(super) options: OpenOptions,
    durability: AtomicU8,
    map_async: AtomicBool,
    governor: Governor,
}

impl Handle {
    pub(super) fn new(
        shared: Strong<RegisteredEnvironment>,
        path: &Path,
        options: &OpenOptions,
    ) -> Handle {
        static HANDLES: AtomicU64 = AtomicU64::new(1);
        let governor = Governor::default();
        governor.set(options.reader_policy.clone());
        let id = HANDLES.fetch_add(1, Ordering::Relaxed);
        let durability = options.durability;
        #[cfg(feature = "std")]
        let durability = match shared.checkpoints {
            Some(_) => Durability::NoSync,
            None => durability,
        };
        Handle {
            shared,
            governor,
            id,
            path: path.to_owned(),
            names: DatabaseNames::new(id, options.databases_max),
            durability: AtomicU8::new(durability as u8),
            map_async: AtomicBool::new(options.map_async),
            options: options.clone(),
        }
    }

    /// Returns the number that distinguishes this handle from all others of this process, closed
    /// ones included.
    #[inline]
    pub(crate) const fn id(&self) -> u64 {
        self.id
    }

    /// The path the environment was opened with.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor of the data file.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.mapping().file().pages().as_fd()
    }

    /// Returns the durability of this handle's next commit.
    pub(crate) fn durability(&self) -> Durability {
        match self.durability.load(Ordering::Relaxed) {
            NO_SYNC => Durability::NoSync,
            NO_META_SYNC => Durability::NoMetaSync,
            _ => Durability::Full,
        }
    }

    /// Changes the durability of this handle's next commits.
    pub(crate) fn set_durability(&self, durability: Durability) {
        #[cfg(feature = "std")]
        if self.shared.checkpoints.is_some() {
            return;
        }
        self.durability.store(durability as u8, Ordering::Relaxed);
    }

    /// Changes whether flushes of a writable map are waited for, see [`OpenOptions::map_async`].
    pub(crate) fn set_map_async(&self, yes: bool) {
        self.map_async.store(yes, Ordering::Relaxed);
    }

    /// Changes the policy of this handle's writers for readers of old snapshots, from their next
    /// look at the readers on. See [`OpenOptions::reader_policy`].
    pub(crate) fn set_reader_policy(&self, policy: Option<ReaderPolicy>) {
        self.governor.set(policy);
    }

    /// Sets the map size in bytes, as [`OpenOptions::map_size`] does: exactly, but at least the
    /// pages in use. A size of 0 takes the size that another process stored. Snapshots that are
    /// being read stay where they are. An environment that grows by itself grows to that size at
    /// once, and may grow further.
    /// # Errors
    /// [`Error::MapSizeBusy`] while this process has a write transaction; the system's if it
    /// refuses address space.
    pub(crate) fn set_map_size(&self, bytes: u64) -> Result<(), BoxedError> {
        self.check_usable()?;
        self.shared.set_size(bytes)
    }

    /// Makes all commits so far durable; for environments opened with less than
    /// [`Durability::Full`]. Without `force` it does nothing in a [`Durability::NoSync`]
    /// environment, as in LMDB.
    /// # Errors
    /// [`Error::ReadOnly`] and the system's. After a system error it is unknown what is on the
    /// disk, and no later flush can tell. All writing then fails with [`Error::FlushFailed`].
    pub(crate) fn sync(&self, force: bool) -> Result<(), BoxedError> {
        if self.options.read_only {
            return Err(Error::ReadOnly.into());
        }
        self.check_usable()?;
        if !force && self.durability() == Durability::NoSync {
            return Ok(());
        }
        #[cfg(feature = "std")]
        if self.shared.checkpoints.is_some() {
            return self.shared.checkpoint().map(drop);
        }
        self.flush(force || self.flushes_wait())
    }

    #[inline]
    pub(crate) fn mapping(&self) -> &Mapping {
        self.shared.mapping()
    }

    #[inline]
    pub(crate) fn flush_times(&self) -> FlushTimes {
        self.shared.flush_times.read()
    }

    pub(crate) fn lock(&self) -> Option<&LockFile> {
        self.shared.lock.as_ref()
    }

    pub(crate) const fn governor(&self) -> &Governor {
        &self.governor
    }

    pub(crate) fn reader_policy(&self) -> Option<Arc<ReaderPolicy>> {
        self.governor.policy()
    }

    pub(crate) const fn names(&self) -> &DatabaseNames {
        &self.names
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    pub(crate) fn has_writable_map(&self) -> bool {
        self.mapping().map().is_writable()
    }

    pub(crate) fn flushes_wait(&self) -> bool {
        !self.map_async.load(Ordering::Relaxed)
    }

    pub(crate) const fn dirty_bytes_max(&self) -> usize {
        self.options.dirty_bytes_max
    }

    /// Size of the map in bytes, as a commit stores it.
    pub(crate) fn map_size(&self) -> u64 {
        self.shared.size.bytes()
    }

    /// Follows another process that has grown the map, or refuses to; at the begin of each
    /// transaction.
    /// # Errors
    /// [`Error::MapResized`]; [`Error::GrownBeyondBound`] and the system's if there is no address
    /// space for it.
    pub(crate) fn adopt_map_size(&self, meta: &Meta) -> Result<(), BoxedError> {
        self.shared.adopt_size(meta)
    }

    /// Returns true if a snapshot newer than the last committed one is in the file, and is to
    /// disappear.
    pub(crate) fn abandons_newer(&self) -> bool {
        self.shared.abandoned.load(Ordering::SeqCst)
    }

    /// Notes if the file has a meta page newer than `base`, the snapshot to build on. Another
    /// process has gone back from it; nothing of it may be overwritten before it is gone. For the
    /// writer.
    pub(crate) fn notice_newer(&self, base: &Meta) -> Result<(), BoxedError> {
        if self.lock().is_some() {
            let other = META_PAGES - 1 - base.txnid.0 % META_PAGES;
            let other = self.mapping().read_meta(other)?;
            let is_newer = other.txnid > base.txnid;
            self.shared.abandoned.store(is_newer, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Notes which is the last page in use; at the begin of each write transaction.
    pub(crate) fn notice_last(&self, last: Pgno) {
        self.shared.disk_room.notice_last(last);
    }

    /// Keeps room behind the last page for transactions that only delete, before anything is
    /// stored. Returns the number of pages that are missing: below the bound, or on the disk.
    #[inline]
    pub(crate) fn keep_room(&self, last: Pgno) -> u64 {
        let missing = self.shared.missing_reserve(last);
        if missing == 0 && !(self.shared.disk_room.is_settled() || self.shared.keep_room(last)) {
            return RESERVE_PAGES;
        }
        missing
    }

    /// Finds room for the pages behind `before` up to `last`, and lets the map grow if it may. A
    /// transaction that `stores` anything leaves the reserve alone.
    pub(crate) fn make_room(
        &self,
        before: Pgno,
        last: u64,
        stores: bool,
    ) -> Result<(), BoxedError> {
        self.shared.make_room(before, last, stores)
    }

    /// Refuses use after a fork, a failed meta write, or the loss of a page.
    #[inline]
    pub(crate) fn check_usable(&self) -> Result<(), BoxedError> {
        self.shared.check_usable()
    }

    /// Returns true if [`Handle::check_usable`] would succeed, as far as a few loads can tell.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.shared.is_usable()
    }

    /// As [`Handle::is_usable`], of [`Handle::check_writable`].
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        self.shared.is_writable()
    }

    /// Returns true if a meta write or a flush has failed, through whatever handle.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    /// Refuses to write, too, after a failed flush.
    #[inline]
    pub(crate) fn check_writable(&self) -> Result<(), BoxedError> {
        self.shared.check_writable()
    }

    /// Writes a meta page. If that fails, the old page is restored or the environment is marked as
    /// failed.
    pub(crate) fn replace_meta(&self, replacement: MetaReplacement<'_>) -> Result<(), BoxedError> {
        self.shared.replace_meta(replacement)
    }

    /// Returns true if this process, and not a parent of it, opened the environment.
    #[inline]
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.shared.is_of_this_process()
    }

    /// Returns the mark of the thread of this process that has the write transaction.
    #[inline]
    pub(crate) fn writer(&self) -> &WriterMark {
        &self.shared.writer
    }

    /// Returns true if this process has a write transaction whose thread has ended. Other threads
    /// that begin one get [`Error::EnvironmentFailed`], unless that transaction is dropped first.
    pub(crate) fn writer_is_gone(&self) -> bool {
        let lock = self.lock().filter(|_| self.writer().is_set());
        lock.is_some_and(|lock| lock.writer_mutex().is_owner_dead())
    }

    pub(crate) fn local_writer_mutex(&self) -> MutexGuard<'_, ()> {
        self.shared.local_writer_mutex()
    }

    pub(crate) fn try_local_writer_mutex(&self) -> Option<MutexGuard<'_, ()>> {
        self.shared.try_local_writer_mutex()
    }

    /// Returns the failed searches of writers in the free list.
    pub(crate) fn runs(&self) -> MutexGuard<'_, FailedSearch> {
        let runs = self.shared.runs.lock();
        runs.unwrap_or_else(fulgurite_os::platform::sync::PoisonError::into_inner)
    }

    /// For page_store pages of a write transaction, see [`PageStore`].
    pub(crate) fn page_store(&self, txnid: Txnid, in_use: Pgno) -> PageStore<'_> {
        let calls = self.durability() != Durability::NoSync;
        self.shared
            .window
            .page_store(self.mapping(), txnid, in_use, calls)
    }

    /// Before the file is cut off or gets holes.
    pub(crate) fn close_window(&self) {
        self.shared.window.close();
    }

    pub(crate) fn mark_failed(&self) {
        self.shared.failed.store(true, Ordering::SeqCst);
    }

    /// The oldest snapshot that transaction `writer` must leave alone.
    pub(crate) fn oldest_reader(&self, writer: Txnid) -> Result<Txnid, BoxedError> {
        self.shared.oldest_reader(writer)
    }

    /// Returns the meta page of the last commit, for the writer.
    pub(crate) fn committed_meta(&self) -> Result<Meta, BoxedError> {
        self.shared.committed_meta()
    }

    /// The meta page a read transaction begins from where there are no slots to pin it.
    pub(crate) fn unlocked_meta(&self) -> Result<Meta, BoxedError> {
        if self.reads_previous() {
            return self.mapping().older_meta();
        }
        self.shared.committed_meta()
    }

    /// Makes the abandoned snapshot disappear, if there is one, before a page of the file is
    /// changed.
    #[inline]
    pub(crate) fn before_change(&self) -> Result<(), BoxedError> {
        if self.shared.abandoned.load(Ordering::Relaxed) {
            self.shared.abandon_newer()?;
        }
        Ok(())
    }

    /// Returns true if read transactions show the snapshot before the newest.
    pub(crate) const fn reads_previous(&self) -> bool {
        self.options.previous_snapshot && self.options.read_only
    }

    /// A reader slot, as this handle's policy has it; `None` without locking.
    #[inline]
    pub(crate) fn take_slot(&self) -> Result<Option<Slot>, BoxedError> {
        let Some(lock) = self.lock() else {
            return Ok(None);
        };
        match self.options.slots {
            SlotPolicy::Stock => lock.take_slot(),
            SlotPolicy::PerTransaction => lock.take_slot_once(),
            SlotPolicy::PerThread => threads::take_slot(&self.shared, lock, self.id),
        }
        .map(Some)
    }

    /// As [`Handle::take_slot`], for a reader that has had a slot.
    #[inline]
    pub(crate) fn take_slot_again(&self, last: Option<Slot>) -> Result<Option<Slot>, BoxedError> {
        if self.options.slots == SlotPolicy::PerThread
            && let (Some(lock), Some(slot)) = (self.lock(), last)
            && lock.take_slot_again(slot, self.id)
        {
            return Ok(last);
        }
        self.take_slot()
    }

    /// Takes the slot that the calling thread had last through this handle. It succeeds if threads
    /// keep their slots and this one is still idle.
    #[inline]
    pub(crate) fn takes_again(&self, slot_cache: ReaderSlotCache<'_>) -> bool {
        self.options.slots == SlotPolicy::PerThread && slot_cache.take_again(self.id)
    }

    /// Returns true if a reader that shows nothing for a while keeps its slot.
    #[inline]
    pub(crate) fn idle_readers_keep_slots(&self) -> bool {
        self.options.slots != SlotPolicy::PerThread
    }

    /// Returns the meta page of the last commit, for a caller without the writer mutex.
    pub(crate) fn published_meta(&self) -> Result<Meta, BoxedError> {
        self.shared.published_meta()
    }

    /// Returns the size of the map that other processes see, and the size that it can grow to, in
    /// bytes.
    pub(crate) fn map_sizes(&self, meta: &Meta) -> (u64, u64) {
        let size = &self.shared.size;
        if size.is_exact() {
            return (size.bytes(), size.bytes());
        }
        let bytes = size.bytes().max(meta.map_size);
        (bytes, size.growth_bound())
    }

    /// Returns the size that the map can grow to, in bytes.
    pub(crate) fn map_bytes_max(&self) -> u64 {
        self.shared.size.growth_bound()
    }

    /// Sets the bound of an environment that grows by itself, see
    /// [`crate::Environment::limit_growth`].
    pub(crate) fn limit_growth(&self, bytes: u64) {
        self.shared.limit_growth(bytes);
    }

    /// Writes back the system's dirty pages of the data file.
    pub(crate) fn flush(&self, wait: bool) -> Result<(), BoxedError> {
        self.shared.flush(wait)
    }
}

#[cfg(feature = "std")]
impl Handle {
    /// Makes the newest snapshot the checkpoint, and returns it.
    pub(crate) fn checkpoint(&self) -> Result<Txnid, BoxedError> {
        if self.options.read_only {
            return Err(Error::ReadOnly.into());
        }
        self.check_usable()?;
        self.shared.checkpoint()
    }

    /// Returns the meta page of the last checkpoint; `None` in an environment without.
    pub(crate) fn last_checkpoint(&self) -> Option<Meta> {
        let checkpoints = self.shared.checkpoints.as_ref();
        checkpoints.map(super::checkpoints::Checkpoints::last)
    }

    /// Lets the environment end as if this process were killed.
    pub(crate) fn leave(&self) {
        if let Some(checkpoints) = &self.shared.checkpoints {
            checkpoints.leave();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(lock) = self.lock()
            && self.is_of_this_process()
        {
            lock.free_slots_of(self.id);
        }
    }
}
