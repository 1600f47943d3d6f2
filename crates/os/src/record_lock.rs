//! POSIX record locks on single bytes of the lock file. They show the processes that have it open
//! and are alive.
//!
//! These locks belong to the process: closing *any* descriptor of the file in this process drops
//! them all.

use crate::platform::io;
use rustix::fd::{AsFd, AsRawFd};

use crate::File;
use crate::file::retried;
use crate::seam::{self, Call};

/// Shared or exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// Many processes may hold it.
    Read,
    /// One process may hold it, next to no reader.
    Write,
}

/// Takes the lock on one byte if no other process holds a conflicting one. Returns `false`
/// otherwise.
/// # Errors
/// The system's, other than the conflict.
pub fn try_lock_byte(file: &File, offset: u64, kind: LockKind) -> io::Result<bool> {
    let lock = request(offset, raw_kind(kind));
    match control(file, Call::LockTry, libc::F_SETLK, lock) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EAGAIN)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Takes the lock on one byte, waiting for conflicting holders.
/// # Errors
/// The system's.
pub fn lock_byte_wait(file: &File, offset: u64, kind: LockKind) -> io::Result<()> {
    let lock = request(offset, raw_kind(kind));
    control(file, Call::LockWait, libc::F_SETLKW, lock).map(|_| ())
}

/// Returns true if another process holds a lock on this byte. Locks of the calling process are
/// invisible to it.
/// # Errors
/// The system's.
pub fn is_locked_by_other(file: &File, offset: u64) -> io::Result<bool> {
    let lock = request(offset, libc::F_WRLCK);
    let answer = control(file, Call::LockTest, libc::F_GETLK, lock)?;
    Ok(i32::from(answer.l_type) != libc::F_UNLCK)
}

fn raw_kind(kind: LockKind) -> libc::c_int {
    match kind {
        LockKind::Read => libc::F_RDLCK,
        LockKind::Write => libc::F_WRLCK,
    }
}

fn request(offset: u64, kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset.cast_signed(),
        l_len: 1,
        l_pid: 0,
    }
}

fn control(
    file: &File,
    call: Call,
    command: libc::c_int,
    mut lock: libc::flock,
) -> io::Result<libc::flock> {
    retried(|| {
        seam::ask(file.role(), call)?;
        // SAFETY: the descriptor is open for the length of the borrow. `lock` is a whole `flock`
        // that the call may write.
        let code = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), command, &raw mut lock) };
        if code == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(lock)
    })
}
