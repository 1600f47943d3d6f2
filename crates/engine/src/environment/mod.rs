//! The public environment, which programs open and query. It is above the transactions.
//!
//! ```text
//!   OpenOptions::open --> Environment --- read, write ---> txn
//!                           |      |
//!                        Handle  Group
//!                     (opened/)  submissions that are committed together
//! ```

#[cfg(feature = "std")]
mod checkpoint;
#[cfg(feature = "std")]
mod group;
mod info;
#[cfg(feature = "std")]
mod submit;

use fulgurite_os::fd::BorrowedFd;
use fulgurite_os::platform::path::Path;

#[cfg(feature = "std")]
use group::Group;
pub use info::Info;

use crate::opened::{self, Durability, Handle, OpenError, OpenOptions};
use crate::{Error, ReadTxn, ReaderPolicy, WriteTxn};

/// A handle on an open environment: begin transactions with [`Environment::read`] and
/// [`Environment::write`].
///
/// Share it by reference between threads. Opening the same environment again in the same process
/// gives another handle on the same files. The first handle decides about the files, see
/// [`OpenOptions::open`]. A forked child must open its own.
#[derive(Debug)]
pub struct Environment {
    handle: Handle,
    /// Submissions of threads, to be committed together.
    #[cfg(feature = "std")]
    group: Group,
}

impl Environment {
    /// Options for opening an environment.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Begins a read transaction on the newest snapshot. Never waits for a writer. It takes no lock
    /// once the process has had as many readers at the same time before.
    /// # Errors
    /// [`Error::ReadersFull`], [`Error::Forked`], [`Error::Corrupted`] for a damaged meta page.
    pub fn read(&self) -> Result<ReadTxn<'_>, Error> {
        ReadTxn::begin(&self.handle).map_err(Error::from)
    }

    /// Begins the write transaction; waits until no other thread or process has one.
    ///
    /// # Errors
    /// [`Error::WriterBusy`] when this thread has one already; [`Error::ReadOnly`],
    /// [`Error::Forked`], [`Error::FlushFailed`], [`Error::EnvironmentFailed`],
    /// [`Error::Corrupted`].
    pub fn write(&self) -> Result<WriteTxn<'_>, Error> {
        WriteTxn::begin(&self.handle).map_err(Error::from)
    }

    /// As [`Environment::write`], but `None` instead of waiting for another thread or process.
    ///
    /// # Errors
    /// As [`Environment::write`].
    pub fn try_write(&self) -> Result<Option<WriteTxn<'_>>, Error> {
        WriteTxn::try_begin(&self.handle).map_err(Error::from)
    }

    /// The path the environment was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.handle.path()
    }

    /// The descriptor of the data file.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.handle.fd()
    }

    /// Returns the durability of this handle's next commit.
    #[must_use]
    pub fn durability(&self) -> Durability {
        self.handle.durability()
    }

    /// Changes the durability of this handle's next commits. Nothing changes in an environment with
    /// checkpoints.
    pub fn set_durability(&self, durability: Durability) {
        self.handle.set_durability(durability);
    }

    /// Changes whether flushes of a writable map are waited for, see [`OpenOptions::map_async`].
    pub fn set_map_async(&self, yes: bool) {
        self.handle.set_map_async(yes);
    }

    /// Changes the policy of this handle's writers for readers of old snapshots, from their next
    /// look at the readers on. See [`OpenOptions::reader_policy`].
    pub fn set_reader_policy(&self, policy: Option<ReaderPolicy>) {
        self.handle.set_reader_policy(policy);
    }

    /// Sets the map size in bytes, as [`OpenOptions::map_size`] does: exactly, but at least the
    /// pages in use. A size of 0 takes the size that another process stored. Snapshots that are
    /// being read stay where they are. An environment that grows by itself grows to that size at
    /// once, and may grow further.
    /// # Errors
    /// [`Error::MapSizeBusy`] while this process has a write transaction; the system's if it
    /// refuses address space.
    pub fn set_map_size(&self, bytes: u64) -> Result<(), Error> {
        self.handle.set_map_size(bytes).map_err(Error::from)
    }

    /// Sets the size in bytes that an environment may grow to by itself. A file that is larger
    /// stays as large as it is, with a few pages more for deletions. The bound holds for all
    /// handles of this process, also for later ones with a larger
    /// [`OpenOptions::map_bytes_max`]. An environment with an exact size stays as it is.
    pub fn limit_growth(&self, bytes: u64) {
        self.handle.limit_growth(bytes);
    }

    /// Returns the size in bytes that the data file may grow to.
    #[must_use]
    pub fn map_bytes_max(&self) -> u64 {
        self.handle.map_bytes_max()
    }

    /// Makes all commits so far durable; for environments opened with less than
    /// [`Durability::Full`]. Without `force` it does nothing in a [`Durability::NoSync`]
    /// environment, as in LMDB.
    /// # Errors
    /// [`Error::ReadOnly`] and the system's. After a system error it is unknown what is on the
    /// disk, and no later flush can tell. All writing then fails with [`Error::FlushFailed`].
    pub fn sync(&self, force: bool) -> Result<(), Error> {
        self.handle.sync(force).map_err(Error::from)
    }

    /// Returns true if this process has a write transaction whose thread has ended. Other threads
    /// that begin one get [`Error::EnvironmentFailed`], unless that transaction is dropped first.
    #[must_use]
    pub fn writer_is_gone(&self) -> bool {
        self.handle.writer_is_gone()
    }
}

impl OpenOptions {
    /// Opens the environment at `path`, creating its files if need be; the directory must exist.
    ///
    /// If this process has the environment open already, under any path, the new handle shares its
    /// files. The first handle decides about the files: locking, mode, read-ahead, observer, and
    /// the kind of map size. It also decides if the map is writable, unless all handles so far only
    /// read. The larger map size or bound counts for all. Returns true if it may write, durability,
    /// slots, and the databases that are open are each handle's own.
    /// # Errors
    /// Each variant of [`OpenError`] states the remedy.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Environment, OpenError> {
        let handle = opened::open(path.as_ref(), self, crate::space::count_free)?;
        Ok(Environment {
            handle,
            #[cfg(feature = "std")]
            group: Group::default(),
        })
    }
}
