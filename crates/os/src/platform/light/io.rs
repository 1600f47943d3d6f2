//! Errors of the system, and writing to a file or a pipe.

use core::fmt;

/// The result of a call to the system.
pub type Result<T> = core::result::Result<T, Error>;

/// A failed call.
#[derive(Debug, Clone, Copy)]
pub struct Error(Reason);

#[derive(Debug, Clone, Copy)]
enum Reason {
    System(i32),
    Kind(ErrorKind),
    Text(&'static str),
}

/// The kinds of errors that the engine distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such file.
    NotFound,
    /// A pipe has no reader.
    BrokenPipe,
    /// An argument makes no sense.
    InvalidInput,
    /// A write wrote nothing.
    WriteZero,
    /// A signal came before the call did anything.
    Interrupted,
    /// The system cannot do it.
    Unsupported,
    /// A file ended too early.
    UnexpectedEof,
    /// There is no memory.
    OutOfMemory,
    /// The file system cannot be written.
    ReadOnlyFilesystem,
    /// Any other.
    Other,
}

impl Error {
    /// Returns the error with this number of the system.
    #[must_use]
    #[inline]
    pub const fn from_raw_os_error(number: i32) -> Error {
        Error(Reason::System(number))
    }

    /// Returns the error of the last call of the C library in this thread.
    #[must_use]
    pub fn last_os_error() -> Error {
        // SAFETY: it has no preconditions.
        let number = unsafe { libc::__errno_location() };
        // SAFETY: the location is the calling thread's, and is valid while it lives.
        Error::from_raw_os_error(unsafe { *number })
    }

    /// Returns an error of this library's own.
    #[must_use]
    pub const fn other(text: &'static str) -> Error {
        Error(Reason::Text(text))
    }

    /// Returns the system's number, if the error is the system's.
    #[must_use]
    #[inline]
    pub const fn raw_os_error(&self) -> Option<i32> {
        match self.0 {
            Reason::System(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self.0 {
            Reason::System(libc::ENOENT) => ErrorKind::NotFound,
            Reason::System(libc::EPIPE) => ErrorKind::BrokenPipe,
            Reason::System(libc::EINVAL) => ErrorKind::InvalidInput,
            Reason::System(libc::EINTR) => ErrorKind::Interrupted,
            Reason::System(libc::EOPNOTSUPP | libc::ENOSYS) => ErrorKind::Unsupported,
            Reason::System(libc::ENOMEM) => ErrorKind::OutOfMemory,
            Reason::System(libc::EROFS) => ErrorKind::ReadOnlyFilesystem,
            Reason::System(_) | Reason::Text(_) => ErrorKind::Other,
            Reason::Kind(kind) => kind,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reason::System(number) => write!(f, "os error {number}"),
            Reason::Kind(kind) => write!(f, "{kind:?}"),
            Reason::Text(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for Error {}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error(Reason::Kind(kind))
    }
}

impl From<rustix::io::Errno> for Error {
    #[inline]
    fn from(error: rustix::io::Errno) -> Error {
        Error::from_raw_os_error(error.raw_os_error())
    }
}

/// Takes bytes, one after the other.
pub trait Write {
    /// Writes a beginning of `bytes`; returns how many.
    /// # Errors
    /// The system's.
    fn write(&mut self, bytes: &[u8]) -> Result<usize>;

    /// Passes on bytes that are held back.
    /// # Errors
    /// The system's.
    fn flush(&mut self) -> Result<()>;

    /// Writes all of `bytes`.
    /// # Errors
    /// The system's; [`ErrorKind::WriteZero`] if a write writes nothing.
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
