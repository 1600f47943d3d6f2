//! Checkpoints: commits need no flush, and a power loss leads back to the last checkpoint.
//!
//! ```text
//!   commits      C ---- C+1 ---- C+2 ---- ... ---- N ---- N+1       none of them is flushed
//!   checkpoint   N is pinned by a reader slot -> data file flushed -> described in the file next to it, durably
//!                -> the pin of C is released
//!   opening      the same start of the system    the newest meta page: its memory has all pages
//!                another one                     both meta pages are made those of the checkpoint,
//!                                                under a new transaction id
//! ```
//!
//! No page of the checkpoint is written to: a reader slot pins its snapshot, as for any reader. The
//! two meta pages alternate as always, so readers notice nothing. After a power loss both may be
//! torn, or newer than their pages. So the file next to the data file has the meta page of the
//! checkpoint.
//!
//! The transactions that were lost may have been read: a backup may have them. So their ids are not
//! used again. The checkpoint gets an id that is higher than any of theirs.
//!
//! A writer of another process respects the slot only while this process lives. So the environment
//! has one writer: with this library, others are refused. A program with the original library that
//! writes later may overwrite pages of the checkpoint. The description has a hash of the root pages
//! to notice that, mostly.

use alloc::borrow::ToOwned as _;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use fulgurite_format::{META_PAGES, Meta, Pgno, Txnid};
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::{Path, PathBuf};
use fulgurite_os::platform::sync::{Mutex, MutexGuard, PoisonError};
use fulgurite_os::{Access, DataFile, File, FileIdentity, FileRole};

use super::checkpoint_file::{BOOT_MAX, Checkpoint, CheckpointFile, Description};
use super::error::CheckpointProblem;
use super::{OpenError, OpenOptions, files};
use crate::boxed_error::BoxedError;
use crate::reader::{LockFile, Slot, SlotTable as _};

/// Where Linux tells which start of the system this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The distance from a checkpoint to the id that it gets after a power loss. No environment makes
/// this number of commits between two checkpoints: at 10 µs each they take 127 days. Ids suffice
/// for 16 million power losses.
const LOST_IDS_MAX: u64 = 1 << 40;

/// The checkpoints of an open environment.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// Held by the thread that makes a checkpoint.
    pub(super) one_at_a_time: Mutex<()>,
    state: Mutex<State>,
    boot: Vec<u8>,
    /// The process is to end as if it were killed.
    is_left: AtomicBool,
}

#[derive(Debug)]
struct State {
    file: CheckpointFile,
    checkpoint: Checkpoint,
    /// Pins the snapshot of the checkpoint.
    slot: Slot,
}

/// The opening of an environment, as far as checkpoints are concerned.
pub(super) struct Opening<'a> {
    pub(super) path: &'a Path,
    pub(super) options: &'a OpenOptions,
    pub(super) file: &'a DataFile,
    pub(super) lock: Option<&'a LockFile>,
}

impl Opening<'_> {
    /// Makes the data file ready to be opened. After a power loss that is the checkpoint. Without
    /// [`OpenOptions::checkpoints`], the environment becomes one without them.
    /// # Errors
    /// [`OpenError::Checkpoint`], and the system's.
    pub(super) fn prepare(&self) -> Result<(), OpenError> {
        let options = self.options;
        let suits = !(options.write_map || options.previous_snapshot) && self.lock.is_some();
        if options.checkpoints && !options.read_only && !suits {
            return Err(self.problem(CheckpointProblem::Options));
        }
        if options.checkpoints && !options.read_only && !self.is_alone() {
            return Err(self.problem(CheckpointProblem::InUse));
        }
        let access = match options.read_only {
            true => Access::Read,
            false => Access::Change {
                mode: options.file_mode,
            },
        };
        // Not made if it is missing: most environments have none.
        if !is_there(&self.checkpoint_path()).map_err(|error| self.file_error(error))? {
            return Ok(());
        }
        let opened = CheckpointFile::open(&self.checkpoint_path(), access, self.observer());
        let opened = opened.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => self.problem(CheckpointProblem::Damaged),
            _ => self.file_error(error),
        })?;
        let Some((mut file, description)) = opened else {
            return Ok(());
        };
        let Some(checkpoint) = description.checkpoint else {
            return Ok(());
        };
        let is_same_boot = is_boot(&description.boot, &boot_id(options));
        if options.read_only {
            return match is_same_boot {
                true => Ok(()),
                false => Err(self.problem(CheckpointProblem::Behind)),
            };
        }
        if !self.is_alone() {
            return Err(self.problem(CheckpointProblem::InUse));
        }
        // Without a data file there is nothing to go back to: a new one is made.
        let is_empty = self.file.is_empty().map_err(OpenError::file(self.path))?;
        if !is_same_boot && !is_empty {
            self.restore(&checkpoint)?;
        }
        if options.checkpoints {
            return Ok(());
        }
        self.sync_or_distrust(&mut file, Some(checkpoint))?;
        let closed = Description::default();
        file.write(&closed).map_err(|error| self.file_error(error))
    }

    /// Begins with checkpoints: the first one is the snapshot that the environment opens on.
    /// # Errors
    /// The system's; [`Error::ReadersFull`] of a lock file without slots.
    pub(super) fn begin(&self, base: &Meta) -> Result<Option<Checkpoints>, OpenError> {
        let Some(lock) = self.lock.filter(|_| self.options.checkpoints) else {
            return Ok(None);
        };
        if self.options.read_only {
            return Ok(None);
        }
        let path = self.checkpoint_path();
        let mode = self.options.file_mode;
        let file = CheckpointFile::create(&path, mode, self.observer());
        let (mut file, before) = file.map_err(|error| self.file_error(error))?;
        let checkpoint = self.checkpoint_of(base)?;
        self.sync_or_distrust(&mut file, before.checkpoint)?;
        let boot = boot_id(self.options);
        let description = Description {
            boot: boot.clone(),
            checkpoint: Some(checkpoint),
        };
        file.write(&description)
            .map_err(|error| self.file_error(error))?;
        let slot = take_slot(lock).map_err(OpenError::engine(self.path))?;
        lock.pin_at(slot, base.txnid);
        Ok(Some(Checkpoints {
            one_at_a_time: Mutex::new(()),
            state: Mutex::new(State {
                file,
                checkpoint,
                slot,
            }),
            boot,
            is_left: AtomicBool::new(false),
        }))
    }

    /// Fails if the data file is in the care of checkpoints, for an opening that does not care.
    /// # Errors
    /// [`OpenError::Checkpoint`], and the system's.
    pub(super) fn refuse(&self) -> Result<(), OpenError> {
        let path = self.checkpoint_path();
        let opened = CheckpointFile::open(&path, Access::Read, None);
        match opened.map_err(|error| self.file_error(error))? {
            Some((_, description)) if description.checkpoint.is_some() => {
                Err(self.problem(CheckpointProblem::InUse))
            }
            _ => Ok(()),
        }
    }

    /// Flushes the data file. If that fails, the newest pages may be lost although the system runs
    /// on. The next opening then begins at the checkpoint before, if there is one.
    fn sync_or_distrust(
        &self,
        file: &mut CheckpointFile,
        before: Option<Checkpoint>,
    ) -> Result<(), OpenError> {
        self.file.sync().map_err(|source| {
            if let Some(checkpoint) = before {
                distrust(file, checkpoint);
            }
            OpenError::file(self.path)(source)
        })
    }

    /// Makes both meta pages those of the checkpoint. Another power loss before the next
    /// description leads to the same id, and nothing is committed before.
    fn restore(&self, checkpoint: &Checkpoint) -> Result<(), OpenError> {
        if self.checkpoint_of(&checkpoint.meta)? != *checkpoint {
            return Err(self.problem(CheckpointProblem::Overwritten));
        }
        let meta = &Meta {
            txnid: Txnid(checkpoint.meta.txnid.0.saturating_add(LOST_IDS_MAX)),
            ..checkpoint.meta
        };
        let older = Meta {
            txnid: Txnid(meta.txnid.0 - 1),
            ..*meta
        };
        let page = meta.txnid.0 % META_PAGES;
        for (page, meta) in [(page, meta), (META_PAGES - 1 - page, &older)] {
            let at = page * meta.page_size() as u64 + Meta::COMMIT_AT as u64;
            let written = self.file.write_at(at, &meta.to_commit_bytes());
            written.map_err(OpenError::file(self.path))?;
        }
        Ok(())
    }

    /// Describes a snapshot as the data file has it.
    fn checkpoint_of(&self, meta: &Meta) -> Result<Checkpoint, OpenError> {
        let page = |root: Pgno| -> io::Result<Vec<u8>> {
            let mut page = vec![0; meta.page_size()];
            let at = root.0.saturating_mul(page.len() as u64);
            self.file.read_at(at, &mut page)?;
            Ok(page)
        };
        Checkpoint::of(*meta, page).map_err(OpenError::file(self.path))
    }

    fn is_alone(&self) -> bool {
        // Without locking, the caller ensures it.
        self.lock.is_none_or(LockFile::is_exclusive)
    }

    fn checkpoint_path(&self) -> PathBuf {
        files::checkpoint_path(self.path, self.options.no_subdir)
    }

    fn observer(&self) -> Option<&Arc<dyn fulgurite_os::DiskObserver>> {
        self.options.observer.as_ref()
    }

    fn problem(&self, problem: CheckpointProblem) -> OpenError {
        OpenError::Checkpoint {
            path: self.path.to_owned(),
            problem,
        }
    }

    fn file_error(&self, source: io::Error) -> OpenError {
        OpenError::file(&self.checkpoint_path())(source)
    }
}

impl Checkpoints {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Describes a checkpoint whose pages are durable, and pins it by `slot`. Returns the slot of
    /// the one before.
    pub(super) fn describe(&self, checkpoint: Checkpoint, slot: Slot) -> io::Result<Slot> {
        let state = &mut *self.state();
        state.file.write(&Description {
            boot: self.boot.clone(),
            checkpoint: Some(checkpoint),
        })?;
        state.checkpoint = checkpoint;
        Ok(core::mem::replace(&mut state.slot, slot))
    }

    /// Notes that newer pages may be lost although the system runs on.
    pub(super) fn distrust(&self) {
        let state = &mut *self.state();
        distrust(&mut state.file, state.checkpoint);
    }

    /// Lets the process end as if it were killed.
    pub(super) fn leave(&self) {
        self.is_left.store(true, Ordering::SeqCst);
    }

    /// Returns the meta page of the last checkpoint.
    pub(super) fn last(&self) -> Meta {
        self.state().checkpoint.meta
    }

    /// Returns true if the environment is to be closed in order.
    pub(super) fn closes_in_order(&self) -> bool {
        !self.is_left.load(Ordering::SeqCst)
    }

    /// Notes that the data file is durable and needs no checkpoint.
    pub(super) fn close(&self) {
        // If this fails, a power loss leads back to the last checkpoint.
        let _ = self.state().file.write(&Description::default());
    }
}

/// A reader slot for a checkpoint. It names no thread: policies for readers leave it alone.
pub(super) fn take_slot(lock: &LockFile) -> Result<Slot, BoxedError> {
    let slot = lock.take_slot_once()?;
    lock.name_no_thread(slot);
    Ok(slot)
}

/// Writes that no system's memory is to be trusted. If that fails too, nothing more can be done.
fn distrust(file: &mut CheckpointFile, checkpoint: Checkpoint) {
    let _ = file.write(&Description {
        boot: Vec::new(),
        checkpoint: Some(checkpoint),
    });
}

fn is_there(path: &Path) -> io::Result<bool> {
    match FileIdentity::at(FileRole::Checkpoint, path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The start of the system; empty if it is unknown.
fn boot_id(options: &OpenOptions) -> Vec<u8> {
    let system = || -> io::Result<Vec<u8>> {
        let file = File::open(FileRole::Checkpoint, Path::new(BOOT_ID), Access::Read)?;
        let mut id = vec![0; BOOT_MAX];
        let len = file.read_at(0, &mut id)?;
        id.truncate(len);
        Ok(id)
    };
    let mut id = match &options.boot_id {
        Some(id) => id.clone(),
        None => system().unwrap_or_default(),
    };
    id.truncate(BOOT_MAX);
    id
}

/// Returns true if two known starts of the system are the same.
fn is_boot(stored: &[u8], system: &[u8]) -> bool {
    !system.is_empty() && stored == system
}
