//! The lock file of a live environment, shared with every process that has it open.
//!
//! The first process to open it takes a write lock on byte 0 for a moment and resets the file. Then
//! it changes to a read lock. All others hold read locks. So a file left behind by a crash resets
//! itself at the next opening.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::Path;

use fulgurite_format::{Txnid, lockfile};
use fulgurite_os::{
    Access, File, FileIdentity, FileRole, LockKind, LockOutcome, SharedMap, SharedMutex,
    lock_byte_wait, process_id, try_lock_byte,
};

use super::{Ownership, SlotTable};
use crate::Error;
use crate::boxed_error::BoxedError;

/// The byte whose lock shows that another process has the environment open.
const PRESENCE: u64 = 0;

/// The open lock file of an environment.
#[derive(Debug)]
pub(crate) struct LockFile {
    pub(super) file: Arc<File>,
    pub(super) map: SharedMap,
    pub(super) slots: u32,
    pub(super) pid: u32,
    /// The state of each slot in this process.
    pub(super) owned: Box<[Ownership]>,
    /// True if this process holds the lock on the byte of its id.
    pub(super) announced: AtomicBool,
    /// True if no other thread or process had the file open when we opened it.
    exclusive: bool,
}

/// Why a lock file could not be opened.
#[derive(Debug)]
pub(crate) enum LockOpenError {
    Io(io::Error),
    NotALockFile,
    Version(u32),
}

impl From<io::Error> for LockOpenError {
    fn from(error: io::Error) -> LockOpenError {
        LockOpenError::Io(error)
    }
}

impl LockFile {
    /// Opens and, if no other thread or process has it open, resets the lock file.
    pub(crate) fn open(
        path: &Path,
        slots_wanted: u32,
        mode: u32,
    ) -> Result<LockFile, LockOpenError> {
        let file = File::open(FileRole::Lock, path, Access::Change { mode })?;
        let exclusive = try_lock_byte(&file, PRESENCE, LockKind::Write)?;
        if !exclusive {
            lock_byte_wait(&file, PRESENCE, LockKind::Read)?;
        }
        let mut len = file.len()?;
        let wanted = lockfile::len_for(slots_wanted) as u64;
        let most = lockfile::len_for(lockfile::SLOTS_MAX.max(slots_wanted)) as u64;
        if exclusive && (len < wanted || len > most) {
            file.resize(wanted)?;
            len = wanted;
        }
        if len < lockfile::LEN_MIN || len > most {
            return Err(LockOpenError::NotALockFile);
        }
        let slots = lockfile::slots_in(len);
        let map = SharedMap::new(&file, lockfile::len_for(slots))?;
        let lock = LockFile {
            file: Arc::new(file),
            map,
            slots,
            pid: process_id(),
            owned: (0..slots).map(|_| Ownership::default()).collect(),
            announced: AtomicBool::new(false),
            exclusive,
        };
        if exclusive {
            lock.reset()?
        } else {
            lock.check()?
        }
        Ok(lock)
    }

    fn reset(&self) -> io::Result<()> {
        // SAFETY: this process has the write lock on the presence byte, so no other process has the
        // file open. In this process no thread uses it before this value is returned.
        unsafe { self.reader_mutex().initialise() }?;
        // SAFETY: this process has the write lock on the presence byte, so no other process has the
        // file open. In this process no thread uses it before this value is returned.
        unsafe { self.writer_mutex().initialise() }?;
        self.map
            .word32(lockfile::MAGIC_AT)
            .store(lockfile::MAGIC, Ordering::SeqCst);
        self.map
            .word32(lockfile::FORMAT_AT)
            .store(lockfile::FORMAT, Ordering::SeqCst);
        self.store_last_txnid(Txnid(0));
        self.used_slots_word().store(0, Ordering::SeqCst);
        Ok(())
    }

    fn check(&self) -> Result<(), LockOpenError> {
        if self.map.word32(lockfile::MAGIC_AT).load(Ordering::SeqCst) != lockfile::MAGIC {
            return Err(LockOpenError::NotALockFile);
        }
        match self.map.word32(lockfile::FORMAT_AT).load(Ordering::SeqCst) {
            lockfile::FORMAT => Ok(()),
            other => Err(LockOpenError::Version(other)),
        }
    }

    /// Ends the opening: publishes the last commit's id, and lets other processes in.
    pub(crate) fn settle(&self, last_txnid: Txnid) -> io::Result<()> {
        if self.exclusive {
            self.store_last_txnid(last_txnid);
            try_lock_byte(&self.file, PRESENCE, LockKind::Read)?;
        }
        Ok(())
    }

    /// Returns true if no other thread or process has the file open. Then no process can open it
    /// before this process has closed it.
    pub(crate) fn is_last(&self) -> bool {
        process_id() == self.pid
            && try_lock_byte(&self.file, PRESENCE, LockKind::Write).unwrap_or(false)
    }

    /// Returns the identity of this file.
    pub(crate) fn identity(&self) -> io::Result<FileIdentity> {
        self.file.identity()
    }

    /// Returns true if no other thread or process had the file open when this process opened it.
    pub(crate) const fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Returns true if the file was cut off below its mapping.
    pub(crate) fn is_lost(&self) -> bool {
        self.map.is_lost()
    }

    #[inline]
    pub(crate) fn writer_mutex(&self) -> SharedMutex<'_> {
        self.map.mutex(lockfile::WRITER_MUTEX_AT)
    }

    pub(super) fn reader_mutex(&self) -> SharedMutex<'_> {
        self.map.mutex(lockfile::READER_MUTEX_AT)
    }

    /// Runs `work` with the reader mutex held, repairing the table first if its last holder died.
    pub(super) fn with_reader_mutex<T>(
        &self,
        work: impl FnOnce() -> Result<T, BoxedError>,
    ) -> Result<T, BoxedError> {
        let mutex = self.reader_mutex();
        match mutex.lock() {
            Ok(LockOutcome::Clean) => {}
            Ok(LockOutcome::OwnerDied) => {
                // The next process can clear slots of dead readers. A mutex that is given back
                // without this is lost to all processes.
                if mutex.mark_consistent().is_err() {
                    mutex.unlock();
                    return Err(Error::LockBroken.into());
                }
                if let Err(error) = self.clear_stale_locked() {
                    mutex.unlock();
                    return Err(error);
                }
            }
            Err(error) => return Err(broken(error).into()),
        }
        let result = work();
        mutex.unlock();
        result
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if process_id() != self.pid {
            // In a forked child the slots are the parent's. The descriptor is kept: closing it
            // would drop the locks of the child's own opening of the file.
            core::mem::forget(Arc::clone(&self.file));
            return;
        }
        self.free_slots_of_processes(&[self.pid]);
    }
}

/// A lock that no process can recover has its own error.
pub(crate) fn broken(error: io::Error) -> Error {
    if error.raw_os_error() == Some(fulgurite_os::NOT_RECOVERABLE) {
        return Error::LockBroken;
    }
    Error::Io {
        doing: "taking a lock of the lock file",
        source: error,
    }
}
