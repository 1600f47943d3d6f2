//! An open environment.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_format::{Meta, Txnid};
use fulgurite_os::fork_generation;

use super::registry::Registration;
use super::{DatabaseNames, Durability, Mapping, OpenOptions};
use crate::reader::LockFile;
use crate::{Error, ReadTxn, WriteTxn};

/// The map grows by an eighth of its size, within these bounds in octets.
const GROWTH_MIN: u64 = 1 << 20;
const GROWTH_MAX: u64 = 1 << 30;

const NO_META_SYNC: u8 = Durability::NoMetaSync as u8;
const NO_SYNC: u8 = Durability::NoSync as u8;

/// An open environment: begin transactions with [`Environment::read`] and [`Environment::write`].
///
/// Share it by reference between threads. A process opens each environment once; a forked child must open its own.
#[derive(Debug)]
pub struct Environment {
    pub(super) parts: Parts,
}

/// What opening put together.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) path: PathBuf,
    pub(super) mapping: Mapping,
    /// `None` without locking.
    pub(super) lock: Option<LockFile>,
    /// Size of the map as other processes are told: grows in steps within the reservation.
    pub(super) map_size: AtomicU64,
    pub(super) names: DatabaseNames,
    pub(super) options: OpenOptions,
    pub(super) durability: AtomicU8,
    pub(super) map_async: AtomicBool,
    /// The bound in octets that the map may grow to.
    pub(super) bytes_max: AtomicU64,
    pub(super) fork_generation: u32,
    /// A meta page write failed: nobody knows what the next opener will find.
    pub(super) failed: AtomicBool,
    /// The thread that has the write transaction; 0 if none of this process has.
    pub(super) writer: AtomicU64,
    /// The writer mutex of an environment without locking.
    pub(super) local_writer: Mutex<()>,
    /// Page buffers that the last writer left for the next.
    pub(super) spare_buffers: Mutex<Vec<Box<[u8]>>>,
    /// Dropped last: the lock file's descriptor must be closed before anybody may open the environment again.
    #[expect(dead_code, reason = "held for its drop")]
    pub(super) registration: Registration,
}

/// Facts about an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Size of a page in octets.
    pub page_size: usize,
    /// Size of the map in octets, as other processes see it. It grows as needed.
    pub map_size: u64,
    /// The bound in octets up to which it can grow.
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

/// A reader slot in use, of any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// The process.
    pub pid: u32,
    /// The thread that took the slot, as its process names it.
    pub thread: u64,
    /// The snapshot it reads; `None` between transactions.
    pub snapshot: Option<Txnid>,
}

impl Environment {
    /// Options for opening an environment.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    pub(super) const fn from_parts(parts: Parts) -> Environment {
        Environment { parts }
    }

    /// Begins a read transaction on the newest snapshot. Never waits for a writer, and takes no lock once the process
    /// has had as many readers at a time before.
    /// # Errors
    /// [`Error::ReadersFull`], [`Error::Forked`], [`Error::Corrupted`] for a damaged meta page.
    pub fn read(&self) -> Result<ReadTxn<'_>, Error> {
        ReadTxn::begin(self)
    }

    /// Begins the write transaction; waits until no other thread or process has one.
    ///
    /// # Errors
    /// [`Error::WriterBusy`] when this thread has one already; [`Error::ReadOnly`], [`Error::Forked`], [`Error::EnvironmentFailed`], [`Error::Corrupted`].
    pub fn write(&self) -> Result<WriteTxn<'_>, Error> {
        WriteTxn::begin(self)
    }

    /// The path the environment was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.parts.path
    }

    /// The descriptor of the data file.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.mapping().file().pages().as_fd()
    }

    /// What survives a power loss, of the next commit of this handle.
    #[must_use]
    pub fn durability(&self) -> Durability {
        match self.parts.durability.load(Ordering::Relaxed) {
            NO_SYNC => Durability::NoSync,
            NO_META_SYNC => Durability::NoMetaSync,
            _ => Durability::Full,
        }
    }

    /// Changes what survives a power loss, from the next commit of this handle on.
    pub fn set_durability(&self, durability: Durability) {
        self.parts
            .durability
            .store(durability as u8, Ordering::Relaxed);
    }

    /// Changes whether flushes of a writable map are waited for, see [`OpenOptions::map_async`].
    pub fn set_map_async(&self, yes: bool) {
        self.parts.map_async.store(yes, Ordering::Relaxed);
    }

    /// Sets the map size in octets, as [`OpenOptions::map_size`] does: exactly, but no less than the pages in use take.
    /// 0 takes the size another process stored. Snapshots that are being read stay where they are.
    /// # Errors
    /// [`Error::MapSizeBusy`] while this process has a write transaction; the system's if it refuses address space.
    pub fn set_map_size(&self, octets: u64) -> Result<(), Error> {
        self.check_usable()?;
        if self.writer().is_some() {
            return Err(Error::MapSizeBusy);
        }
        let meta = self.mapping().newest_meta()?;
        let wanted = if octets == 0 { meta.map_size } else { octets };
        let used = (meta.last.0 + 1) * self.mapping().page_size() as u64;
        self.parts
            .map_size
            .store(wanted.max(used), Ordering::Relaxed);
        Ok(())
    }

    /// The reader slots in use, in the order of the lock file; `None` without locking.
    #[must_use]
    pub fn readers(&self) -> Option<Vec<Reader>> {
        self.parts.lock.as_ref().map(LockFile::readers)
    }

    /// Facts about the environment.
    /// # Errors
    /// [`Error::Corrupted`] for a damaged meta page.
    pub fn info(&self) -> Result<Info, Error> {
        let meta = self.mapping().newest_meta()?;
        let lock = self.parts.lock.as_ref();
        Ok(Info {
            page_size: self.mapping().page_size(),
            map_size: self.map_size().max(meta.map_size),
            map_bytes_max: self.mapping().map().len() as u64,
            map_address: meta.map_address,
            last_page: meta.last.0,
            last_txnid: meta.txnid.0,
            readers_max: lock.map_or(0, LockFile::slots),
            readers_used: lock.map_or(0, LockFile::used_slots),
        })
    }

    /// Makes all commits so far durable; for environments opened with less than [`Durability::Full`]. Without `force`
    /// it does nothing in a [`Durability::NoSync`] environment, as in LMDB.
    /// # Errors
    /// [`Error::ReadOnly`] and the system's.
    pub fn sync(&self, force: bool) -> Result<(), Error> {
        if self.parts.options.read_only {
            return Err(Error::ReadOnly);
        }
        if !force && self.durability() == Durability::NoSync {
            return Ok(());
        }
        self.flush(force || !self.parts.map_async.load(Ordering::Relaxed))
    }

    /// Frees the reader slots of processes that died; returns how many. A writer does so by itself before it lets
    /// the file grow on account of an old reader.
    /// # Errors
    /// The system's.
    pub fn clear_stale_readers(&self) -> Result<usize, Error> {
        self.parts
            .lock
            .as_ref()
            .map_or(Ok(0), LockFile::clear_stale)
    }

    pub(crate) const fn mapping(&self) -> &Mapping {
        &self.parts.mapping
    }

    pub(crate) const fn lock(&self) -> Option<&LockFile> {
        self.parts.lock.as_ref()
    }

    pub(crate) const fn names(&self) -> &DatabaseNames {
        &self.parts.names
    }

    pub(crate) const fn is_read_only(&self) -> bool {
        self.parts.options.read_only
    }

    pub(crate) const fn has_writable_map(&self) -> bool {
        self.parts.options.write_map && !self.parts.options.read_only
    }

    pub(crate) fn flushes_wait(&self) -> bool {
        !self.parts.map_async.load(Ordering::Relaxed)
    }

    pub(crate) const fn dirty_octets_max(&self) -> usize {
        self.parts.options.dirty_bytes_max
    }

    pub(crate) fn map_size(&self) -> u64 {
        self.parts.map_size.load(Ordering::Relaxed)
    }

    /// Follows another process that has grown the map.
    /// # Errors
    /// [`Error::GrownBeyondBound`] when the snapshot has pages behind the address space reserved here.
    pub(crate) fn adopt_map_size(&self, meta: &Meta) -> Result<(), Error> {
        let bound = self.mapping().map().len() as u64;
        // The meta page was checked: this cannot overflow.
        if (meta.last.0 + 1) * self.mapping().page_size() as u64 > bound {
            return Err(Error::GrownBeyondBound(bound));
        }
        if meta.map_size > self.map_size() {
            self.parts
                .map_size
                .fetch_max(meta.map_size.min(bound), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Refuses use after a fork or a failed meta write.
    #[inline]
    pub(crate) fn check_usable(&self) -> Result<(), Error> {
        if fork_generation() != self.parts.fork_generation {
            return Err(Error::Forked);
        }
        if self.parts.failed.load(Ordering::Relaxed) {
            return Err(Error::EnvironmentFailed);
        }
        Ok(())
    }

    /// The thread of this process that has the write transaction.
    pub(crate) fn writer(&self) -> Option<u64> {
        Some(self.parts.writer.load(Ordering::Relaxed)).filter(|thread| *thread != 0)
    }

    /// Notes who has the write transaction; with its mutex held.
    pub(crate) fn set_writer(&self, thread: Option<u64>) {
        self.parts
            .writer
            .store(thread.unwrap_or(0), Ordering::Relaxed);
    }

    /// Keeps the writers of this process apart where there is no lock file to do it.
    pub(crate) fn local_writer_mutex(&self) -> MutexGuard<'_, ()> {
        self.parts
            .local_writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take_spare_buffers(&self) -> Vec<Box<[u8]>> {
        let spare = self.parts.spare_buffers.lock();
        std::mem::take(&mut spare.unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn keep_spare_buffers(&self, buffers: Vec<Box<[u8]>>) {
        let spare = self.parts.spare_buffers.lock();
        *spare.unwrap_or_else(PoisonError::into_inner) = buffers;
    }

    pub(crate) fn mark_failed(&self) {
        self.parts.failed.store(true, Ordering::SeqCst);
    }

    /// The oldest snapshot that transaction `writer` must leave alone: that of the oldest reader, or the last
    /// committed one. Clears dead readers away if one of them holds an older snapshot.
    pub(crate) fn oldest_reader(&self, writer: Txnid) -> Result<Txnid, Error> {
        let committed = Txnid(writer.0.saturating_sub(1));
        let Some(lock) = self.lock() else {
            return Ok(committed);
        };
        let oldest = lock.oldest_reader(committed);
        if oldest < committed && lock.clear_stale()? > 0 {
            return Ok(lock.oldest_reader(committed));
        }
        Ok(oldest)
    }

    /// Lets the map grow, if it must, until page `last` fits.
    pub(crate) fn make_room(&self, last: u64) -> Result<(), Error> {
        let bound = self.mapping().map().len() as u64;
        let needed = (last + 1)
            .checked_mul(self.mapping().page_size() as u64)
            .ok_or(Error::MapFull(bound))?;
        let size = self.map_size();
        if needed <= size {
            // Another process may have announced a larger map without making the file that long.
            return if self.has_writable_map() {
                self.mapping().extend_to(size)
            } else {
                Ok(())
            };
        }
        if needed > bound || needed > self.parts.bytes_max.load(Ordering::Relaxed).max(size) {
            return Err(Error::MapFull(
                bound.min(self.parts.bytes_max.load(Ordering::Relaxed)),
            ));
        }
        let step = (size / 8).clamp(GROWTH_MIN, GROWTH_MAX);
        let grown = needed
            .max(size + step)
            .min(bound)
            .next_multiple_of(fulgurite_os::page_size() as u64)
            .min(bound);
        if self.has_writable_map() {
            self.mapping().extend_to(grown)?;
        }
        self.parts.map_size.store(grown, Ordering::Relaxed);
        Ok(())
    }

    /// Writes back what the system holds of the data file.
    pub(crate) fn flush(&self, wait: bool) -> Result<(), Error> {
        let what = Error::io("making the data file durable");
        if self.has_writable_map() {
            let len = usize::try_from(self.map_size()).unwrap_or(usize::MAX);
            return self.mapping().map().flush(0, len, wait).map_err(what);
        }
        self.mapping().file().sync().map_err(what)
    }
}
