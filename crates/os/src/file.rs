//! A file of an environment. Every call on it asks the [seam], is repeated after a
//! signal, and continues after a partial result.

use alloc::ffi::CString;
use alloc::vec::Vec;

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::fs::{
    FallocateFlags, FileType, Mode, OFlags, Stat, fallocate, fdatasync, fsync, ftruncate,
};
use rustix::io::{IoSlice, pread, pwrite, pwritev};

use crate::platform::io::{self, Write};
use crate::platform::path::Path;
use crate::platform::path_bytes;
use crate::seam::{self, Call, FileRole};

/// The error number for a directory where a file should be.
pub const IS_A_DIRECTORY: i32 = libc::EISDIR;

/// Descriptors below this number are those of standard input and output.
const STANDARD_DESCRIPTORS: i32 = 3;

/// The purpose of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing; made with these permission bits if it is missing.
    Change {
        /// Permission bits of a new file, before the process's mask.
        mode: u32,
    },
    /// Writing, each write durable when it returns.
    WriteSynchronously,
    /// Writing a file that must not be there yet.
    MakeNew,
}

impl Access {
    /// Returns the system's flags, and the permission bits of a new file.
    fn flags(self) -> (OFlags, Mode) {
        let (flags, mode) = match self {
            Access::Read => (OFlags::RDONLY, 0),
            Access::Change { mode } => (OFlags::RDWR | OFlags::CREATE, mode),
            Access::WriteSynchronously => (OFlags::WRONLY | OFlags::DSYNC, 0),
            Access::MakeNew => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, 0o666),
        };
        (flags | OFlags::CLOEXEC, Mode::from_raw_mode(mode))
    }
}

/// The identity of a file, independent of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// The identity of the file at `path`, without opening it.
    /// # Errors
    /// The system's.
    pub fn at(role: FileRole, path: &Path) -> io::Result<FileIdentity> {
        look(role, path).map(|status| Self::of(&status))
    }

    pub(crate) const fn inode(self) -> u64 {
        self.inode
    }

    fn of(status: &Stat) -> FileIdentity {
        FileIdentity {
            device: status.st_dev,
            inode: status.st_ino,
        }
    }
}

/// Returns true if there is a directory at `path`.
/// # Errors
/// The system's, above all when there is nothing.
pub fn is_directory(role: FileRole, path: &Path) -> io::Result<bool> {
    look(role, path).map(|status| FileType::from_raw_mode(status.st_mode).is_dir())
}

fn look(role: FileRole, path: &Path) -> io::Result<Stat> {
    retried(|| {
        seam::ask(role, Call::Look)?;
        Ok(rustix::fs::stat(path_bytes(path))?)
    })
}

/// Removes the file at `path`.
/// # Errors
/// The system's.
pub fn remove_file(role: FileRole, path: &Path) -> io::Result<()> {
    retried(|| {
        seam::ask(role, Call::Unlink)?;
        Ok(rustix::fs::unlink(path_bytes(path))?)
    })
}

/// An open file, and its role in the environment.
#[derive(Debug)]
pub struct File {
    pub(crate) role: FileRole,
    pub(crate) file: OwnedFd,
}

impl File {
    /// Opens a file.
    /// # Errors
    /// The system's.
    pub fn open(role: FileRole, path: &Path, access: Access) -> io::Result<File> {
        let (flags, mode) = access.flags();
        let file = retried(|| {
            seam::ask(role, Call::Open)?;
            open_descriptor(path_bytes(path), flags, mode)
        })?;
        Ok(File { role, file })
    }

    /// A file that is open already.
    #[must_use]
    pub fn of(role: FileRole, file: impl Into<OwnedFd>) -> File {
        File {
            role,
            file: file.into(),
        }
    }

    /// Makes a second descriptor of an open file.
    /// # Errors
    /// The system's; `EBADF` if it is not open.
    pub fn duplicate(role: FileRole, from: BorrowedFd<'_>) -> io::Result<File> {
        seam::ask(role, Call::Duplicate)?;
        let (number, least) = (from.as_raw_fd(), STANDARD_DESCRIPTORS);
        // SAFETY: the descriptor is open for the length of the borrow.
        let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, least) };
        // SAFETY: the system has just made this descriptor.
        let file = unsafe { owned(copy) }?;
        Ok(File { role, file })
    }

    /// Returns the role of the file in the environment.
    #[must_use]
    pub const fn role(&self) -> FileRole {
        self.role
    }

    fn status(&self) -> io::Result<Stat> {
        retried(|| {
            seam::ask(self.role, Call::Status)?;
            Ok(rustix::fs::fstat(self.as_fd())?)
        })
    }

    /// Returns the identity of the file.
    /// # Errors
    /// The system's.
    pub fn identity(&self) -> io::Result<FileIdentity> {
        self.status().map(|status| FileIdentity::of(&status))
    }

    /// Its length in bytes.
    /// # Errors
    /// The system's.
    pub fn len(&self) -> io::Result<u64> {
        self.status().map(|status| len_of(&status))
    }

    /// Returns true if it has no bytes.
    /// # Errors
    /// The system's.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at most `buffer.len()` bytes at `offset`, fewer only at the end of the file; returns
    /// how many.
    /// # Errors
    /// The system's.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let count = retried(|| {
                let len = seam::ask_len(self.role, Call::Read, rest.len())?;
                let part = rest.get_mut(..len).unwrap_or_default();
                Ok(pread(self.as_fd(), part, offset + done as u64)?)
            })?;
            if count == 0 {
                break;
            }
            done += count;
        }
        Ok(done)
    }

    /// Fills `buffer` from `offset` on.
    /// # Errors
    /// The system's; [`io::ErrorKind::UnexpectedEof`] when the file ends before.
    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.read_at(offset, buffer)? < buffer.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// The length of the file's beginning that has no holes; all of it where the file system does
    /// not know.
    pub(crate) fn solid_len(&self) -> io::Result<u64> {
        retried(|| {
            seam::ask(self.role, Call::Status)?;
            match rustix::fs::seek(self.as_fd(), rustix::fs::SeekFrom::Hole(0)) {
                Ok(end) => Ok(end),
                // There is nothing at all.
                Err(rustix::io::Errno::NXIO) => Ok(0),
                Err(error) => Err(error.into()),
            }
        })
    }

    /// Returns the length of its beginning that can be read through a map without allocating room.
    /// On some file systems a touched hole takes room. As a rule all of it.
    pub(crate) fn filled_len(&self) -> io::Result<u64> {
        let status = self.status()?;
        // Room behind the end counts too, so holes of no more than that may be overlooked.
        let len = len_of(&status);
        if status.st_blocks.cast_unsigned().saturating_mul(512) >= len {
            return Ok(len);
        }
        self.solid_len().map(|solid| solid.min(len))
    }

    /// Writes all of `bytes` at `offset`; `call` is the question to the seam.
    pub(crate) fn write_at(&self, call: Call, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let count = retried(|| {
                let len = seam::ask_len(self.role, call, rest.len())?;
                let part = rest.get(..len).unwrap_or_default();
                Ok(pwrite(self.as_fd(), part, offset + done as u64)?)
            })?;
            done += some_of(count)?;
        }
        Ok(())
    }

    /// How many of that many bytes may be stored through a map.
    pub(crate) fn ask_to_store(&self, len: usize) -> io::Result<usize> {
        seam::ask_len(self.role, Call::WriteVectored, len)
    }

    /// Writes `parts` one after the other from `offset` on, in as few calls as the system allows.
    pub(crate) fn write_vectored_at(&self, offset: u64, parts: &[&[u8]]) -> io::Result<()> {
        if let [part] = parts {
            // The list of parts is half the cost of writing one page with `pwritev`.
            return self.write_at(Call::WriteVectored, offset, part);
        }
        let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let written = retried(|| {
            let len = seam::ask_len(self.role, Call::WriteVectored, total)?;
            if len < total {
                // A test wants less to be written: so much of the first part is as good as any
                // other beginning.
                let part = parts.first().copied().unwrap_or_default();
                let part = part.get(..len.min(part.len())).unwrap_or_default();
                return Ok(pwrite(self.as_fd(), part, offset)?);
            }
            Ok(pwritev(self.as_fd(), &slices, offset)?)
        })?;
        // The rest of a partial write is written part by part.
        let mut start = 0;
        for part in parts {
            let rest = part.get(written.saturating_sub(start)..);
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                let at = start + part.len() - rest.len();
                self.write_at(Call::Write, offset + at as u64, rest)?;
            }
            start += part.len();
        }
        Ok(())
    }

    /// Makes earlier writes, and the length, durable.
    /// # Errors
    /// The system's; after one, the disk's contents are unknown, and a second flush proves nothing.
    pub fn sync_data(&self) -> io::Result<()> {
        retried(|| {
            seam::ask(self.role, Call::Sync)?;
            Ok(fdatasync(self.as_fd())?)
        })
    }

    /// Makes earlier writes and all that the system knows of the file durable.
    /// # Errors
    /// As [`File::sync_data`].
    pub fn sync_all(&self) -> io::Result<()> {
        retried(|| {
            seam::ask(self.role, Call::Sync)?;
            Ok(fsync(self.as_fd())?)
        })
    }

    /// Takes room on the disk for `len` bytes from `offset` on. They may be behind the end of the
    /// file, whose length does not change. Returns `false` if the file system cannot do that.
    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<bool> {
        let allocated = retried(|| {
            seam::ask(self.role, Call::Allocate)?;
            Ok(fallocate(
                self.as_fd(),
                FallocateFlags::KEEP_SIZE,
                offset,
                len,
            )?)
        });
        match allocated.map_err(|error| (error.raw_os_error(), error)) {
            Ok(()) => Ok(true),
            Err((Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL | libc::ENODEV), _)) => {
                Ok(false)
            }
            Err((_, error)) => Err(error),
        }
    }

    /// Gives `len` bytes from `offset` on back to the file system, in a file of unchanged length.
    pub(crate) fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        retried(|| {
            seam::ask(self.role, Call::Punch)?;
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            Ok(fallocate(self.as_fd(), flags, offset, len)?)
        })
    }

    /// Makes it at least `len` bytes long, and never shorter, the caller that else changes its
    /// length meanwhile.
    pub(crate) fn grow_to(&self, len: u64) -> io::Result<()> {
        let Some(at) = len.checked_sub(1) else {
            return Ok(());
        };
        let grown = retried(|| {
            seam::ask(self.role, Call::Allocate)?;
            Ok(fallocate(self.as_fd(), FallocateFlags::empty(), at, 1)?)
        });
        match grown {
            // Some file systems cannot do that.
            Err(_) if self.len()? < len => self.resize(len),
            _ => Ok(()),
        }
    }

    /// Sets its length in bytes.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn resize(&self, len: u64) -> io::Result<()> {
        retried(|| {
            seam::ask(self.role, Call::Resize)?;
            Ok(ftruncate(self.as_fd(), len)?)
        })
    }
}

impl AsFd for File {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        // The function of the standard library could panic, for a number that no file has.
        // SAFETY: both types are documented to be represented by the descriptor's number. The
        // borrow ends before the file does.
        unsafe { core::mem::transmute::<RawFd, BorrowedFd<'_>>(self.file.as_raw_fd()) }
    }
}

/// Behind the last write; [`Write::write_all`] continues after a part and after a signal.
impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = seam::ask_len(self.role, Call::Write, bytes.len())?;
        Ok(rustix::io::write(
            self.as_fd(),
            bytes.get(..len).unwrap_or_default(),
        )?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a file. Unlike the C library's function, the call lets nobody cancel the thread.
pub(crate) fn open_descriptor(path: &[u8], flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let path = CString::new(path).map_err(|_| io::ErrorKind::InvalidInput)?;
    let (flags, mode) = (flags.bits().cast_signed(), mode.bits());
    let number = libc::SYS_openat;
    // SAFETY: the path ends with zero and lives as long as the call.
    let made = unsafe { libc::syscall(number, libc::AT_FDCWD, path.as_ptr(), flags, mode) };
    // SAFETY: the system has just made this descriptor.
    unsafe { owned(RawFd::try_from(made).unwrap_or(-1)) }
}

/// Returns a new descriptor, or the error of the call that made none.
/// # Safety
/// Nothing else owns the descriptor.
unsafe fn owned(made: RawFd) -> io::Result<OwnedFd> {
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and by the contract of this function nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

fn len_of(status: &Stat) -> u64 {
    u64::try_from(status.st_size).unwrap_or(0)
}

/// A write that wrote nothing would be tried for ever.
fn some_of(count: usize) -> io::Result<usize> {
    if count == 0 {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(count)
}

/// Repeats a call for as long as signals interrupt it. POSIX allows that for each call made here:
/// an interrupted call has done nothing.
pub(crate) fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            result => return result,
        }
    }
}
