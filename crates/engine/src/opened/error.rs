//! Why an environment could not be opened.

use alloc::borrow::ToOwned;
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::{Path, PathBuf};

use fulgurite_format::{Malformed, Pgno};

use crate::Error;
use crate::boxed_error::BoxedError;

/// Why an environment could not be opened. Nothing is held or locked afterwards.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system refused a file.
    #[error("cannot open {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error, with its number.
        source: io::Error,
    },
    /// The data file is none.
    #[error("{} is not an LMDB data file", .0.display())]
    NotADataFile(PathBuf),
    /// The data file has another version of the format.
    #[error("{} has data format version {found}; this library reads version 1", path.display())]
    DataVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A meta page contradicts itself.
    #[error("{} is damaged: its meta page {page}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The meta page.
        page: Pgno,
        /// The contradiction.
        what: Malformed,
    },
    /// The lock file is none.
    #[error("{} is not a lock file; if no program has the environment open, delete it", .0.display())]
    NotALockFile(PathBuf),
    /// The lock file is used by programs with another layout.
    #[error("{} is in use by programs with another lock format ({found:#x})", path.display())]
    LockVersion {
        /// The file.
        path: PathBuf,
        /// Its format word.
        found: u32,
    },
    /// The address a fixed map must have is taken in this process.
    #[error("{} must be mapped at address {address:#x}, which is taken", path.display())]
    AddressInUse {
        /// The data file.
        path: PathBuf,
        /// The address it stores.
        address: u64,
    },
    /// To go back to the previous snapshot no other thread or process may have the environment
    /// open.
    #[error("{} is open elsewhere; close it there to go back to its previous snapshot", .0.display())]
    Busy(PathBuf),
    /// The lock file is in use by this process for a data file that no longer is next to it.
    #[error("{} locks another data file that is open in this process; close that one first", .0.display())]
    AlreadyOpen(PathBuf),
    /// The last checkpoint is in the way, see [`OpenOptions::checkpoints`].
    ///
    /// [`OpenOptions::checkpoints`]: crate::OpenOptions::checkpoints
    #[cfg(feature = "std")]
    #[error("cannot open {}: {problem}", path.display())]
    Checkpoint {
        /// The data file.
        path: PathBuf,
        /// Why.
        problem: CheckpointProblem,
    },
    /// Mapping or reading the file failed.
    #[error("cannot open {}: {source}", path.display())]
    Engine {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Error,
    },
}

/// Why an environment with checkpoints could not be opened.
#[cfg(feature = "std")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointProblem {
    /// Another process, or a handle without checkpoints, has the environment open.
    #[error("it has checkpoints, and is open elsewhere; close it there")]
    InUse,
    /// The machine has stopped since, and a reader cannot go back.
    #[error("the machine stopped after its last checkpoint; open it for writing once")]
    Behind,
    /// Pages of the checkpoint are other ones.
    #[error("pages of its checkpoint were overwritten or replaced; restore a copy")]
    Overwritten,
    /// The file that describes it cannot be read.
    #[error("the file that describes its checkpoint is damaged; restore a copy")]
    Damaged,
    /// Checkpoints need locking, a read-only map and the newest snapshot.
    #[error("checkpoints exclude no_lock, write_map and previous_snapshot")]
    Options,
}

impl OpenError {
    /// Converts an error of the system on a file.
    pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> OpenError {
        move |source| OpenError::File {
            path: path.to_owned(),
            source,
        }
    }

    /// Converts an error of the engine on an opened file.
    pub(super) fn engine(path: &Path) -> impl Fn(BoxedError) -> OpenError {
        move |source| OpenError::Engine {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}
