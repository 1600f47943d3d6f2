//! The place where a test decides about each system call before it is made. The call goes on,
//! fails, or does part of its work.
//!
//! ```text
//!   engine ---> File, DataFile, Map, record_lock, ...  ---> seam::ask(site) ---> the system
//!                                                              |
//!                              feature `faults` only:          +---> Injector of this thread: go on? which error?
//! ```
//!
//! Without the feature `faults`, which only tests switch on, nothing of this is compiled. Every
//! question is then answered with "go on" at compile time.

use core::fmt;

#[cfg(not(feature = "faults"))]
use crate::platform::io;

/// The file a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileRole {
    /// The data file, through the descriptor of its pages.
    Data,
    /// The data file, through the descriptor whose writes are durable when they return.
    Meta,
    /// The lock file.
    Lock,
    /// The directory of the data file.
    Directory,
    /// The file or pipe that a copy of the environment goes to.
    Copy,
    /// A data file that is read from outside: checked, not opened.
    Checked,
    /// The file next to the data file that describes the last checkpoint.
    Checkpoint,
}

/// A kind of system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// `open`.
    Open,
    /// `fstat`: how long a file is, or which one.
    Status,
    /// `stat`: the same of a path.
    Look,
    /// `pread`.
    Read,
    /// `pwrite` of pages, or `write`.
    Write,
    /// `pwritev`.
    WriteVectored,
    /// `pwrite` of a piece of a meta page.
    WriteMeta,
    /// `fdatasync` or `fsync`.
    Sync,
    /// `ftruncate`.
    Resize,
    /// `fallocate`.
    Allocate,
    /// `fallocate` that makes a hole.
    Punch,
    /// Reading `/proc` about other processes.
    AskProcesses,
    /// `mmap`.
    Map,
    /// `munmap`.
    Unmap,
    /// `msync`.
    Flush,
    /// `madvise`.
    Advise,
    /// `fcntl` with `F_SETLK`: takes a record lock if it is free.
    LockTry,
    /// `fcntl` with `F_SETLKW`: waits for a record lock.
    LockWait,
    /// `fcntl` with `F_GETLK`: who has a record lock?
    LockTest,
    /// `pthread_mutex_init`, with the attributes it needs.
    MutexMake,
    /// `pthread_mutex_lock`.
    MutexLock,
    /// `pthread_mutex_consistent`.
    MutexRepair,
    /// `unlink`.
    Unlink,
    /// `fcntl` with `F_DUPFD_CLOEXEC`.
    Duplicate,
}

#[cfg(feature = "faults")]
impl Call {
    /// All of them, for tests that make each of them fail.
    pub const ALL: [Call; 24] = [
        Call::Open,
        Call::Status,
        Call::Look,
        Call::Read,
        Call::Write,
        Call::WriteVectored,
        Call::WriteMeta,
        Call::Sync,
        Call::Resize,
        Call::Allocate,
        Call::Punch,
        Call::AskProcesses,
        Call::Map,
        Call::Unmap,
        Call::Flush,
        Call::Advise,
        Call::LockTry,
        Call::LockWait,
        Call::LockTest,
        Call::MutexMake,
        Call::MutexLock,
        Call::MutexRepair,
        Call::Unlink,
        Call::Duplicate,
    ];
}

/// The system call about to be made, and its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The file.
    pub role: FileRole,
    /// The call.
    pub call: Call,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}/{:?}", self.role, self.call)
    }
}

#[cfg(feature = "faults")]
mod allocations;
#[cfg(feature = "faults")]
pub use allocations::{CountingAllocator, allocated_bytes};
#[cfg(feature = "faults")]
pub use injection::{Injector, InstalledInjector, Verdict, install};
#[cfg(feature = "faults")]
pub(crate) use injection::{ask, ask_len};

/// Returns true if a call may be made.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn ask(_: FileRole, _: Call) -> io::Result<()> {
    Ok(())
}

/// How many bytes of `len` may be read or written in one call.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn ask_len(_: FileRole, _: Call, len: usize) -> io::Result<usize> {
    Ok(len)
}

#[cfg(feature = "faults")]
mod injection {
    use std::cell::RefCell;
    use std::io;
    use std::marker::PhantomData;
    use std::sync::Arc;

    use super::{Call, FileRole, Site};

    /// The fate that the injector chooses for a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Verdict {
        /// It is made.
        Go,
        /// It is not made, and fails with this error number.
        Fail(i32),
        /// It reads or writes at most that many bytes. For calls that do neither as
        /// [`Verdict::Go`].
        Short(usize),
    }

    /// Decides about the system calls of the threads it is installed in.
    pub trait Injector: Send + Sync {
        /// Asked before each call, in the thread that makes it. `len` is the number of bytes to
        /// read or write; 0 for other calls.
        fn verdict(&self, site: Site, len: usize) -> Verdict;
    }

    thread_local! {
        static INJECTOR: RefCell<Option<Arc<dyn Injector>>> = const { RefCell::new(None) };
    }

    /// Lets `injector` decide about the calls of this thread until the answer is dropped; then the
    /// caller that did before.
    #[must_use]
    pub fn install(injector: Arc<dyn Injector>) -> InstalledInjector {
        InstalledInjector {
            before: INJECTOR.replace(Some(injector)),
            thread: PhantomData,
        }
    }

    /// An injector is at work in this thread while this lives.
    pub struct InstalledInjector {
        before: Option<Arc<dyn Injector>>,
        thread: PhantomData<*const ()>,
    }

    impl std::fmt::Debug for InstalledInjector {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("InstalledInjector").finish_non_exhaustive()
        }
    }

    impl Drop for InstalledInjector {
        fn drop(&mut self) {
            INJECTOR.set(self.before.take());
        }
    }

    fn verdict(role: FileRole, call: Call, len: usize) -> Verdict {
        // A thread that is ending has no injector any more.
        let injector = INJECTOR.try_with(|injector| injector.borrow().clone());
        match injector {
            Ok(Some(injector)) => injector.verdict(Site { role, call }, len),
            _ => Verdict::Go,
        }
    }

    pub(crate) fn ask(role: FileRole, call: Call) -> io::Result<()> {
        ask_len(role, call, 0).map(drop)
    }

    pub(crate) fn ask_len(role: FileRole, call: Call, len: usize) -> io::Result<usize> {
        match verdict(role, call, len) {
            Verdict::Go => Ok(len),
            Verdict::Fail(errno) => Err(io::Error::from_raw_os_error(errno)),
            Verdict::Short(most) => Ok(len.min(most)),
        }
    }
}
