//! Errors inside the engine: one word each.

use alloc::boxed::Box;
use fulgurite_format::{Malformed, Pgno};
use fulgurite_os::platform::io;

use crate::Error;

/// An [`Error`] on its way through the engine.
///
/// Nearly every function of the engine can fail, and nearly none does. A result with a boxed error
/// is a word longer than its value, and one branch passes it on. An [`Error`] has four words, and
/// each function on the way would move them.
#[derive(Debug)]
pub(crate) struct BoxedError(Box<Error>);

impl BoxedError {
    /// Returns the error that this is.
    pub(crate) fn error(&self) -> &Error {
        &self.0
    }

    /// Returns true if there is no such database.
    pub(crate) fn is_no_database(&self) -> bool {
        matches!(*self.0, Error::NoDatabase(_))
    }

    /// Returns true if a record is of the other kind than asked for.
    pub(crate) fn is_wrong_kind(&self) -> bool {
        matches!(*self.0, Error::WrongKind(_))
    }
}

impl From<Error> for BoxedError {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> BoxedError {
        BoxedError(Box::new(error))
    }
}

impl From<BoxedError> for Error {
    #[cold]
    #[inline(never)]
    fn from(boxed: BoxedError) -> Error {
        *boxed.0
    }
}

impl Error {
    /// Turns an error of the system into one of what was being done.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> BoxedError {
        move |source| Error::Io { doing, source }.into()
    }

    /// Returns the error of a page behind the end of the file. It is made only when needed.
    pub(crate) fn beyond_end(page: Pgno) -> impl FnOnce() -> BoxedError {
        move || Error::BeyondEnd(page).into()
    }

    /// Turns a complaint about a page into an error.
    pub(crate) fn at(page: Pgno) -> impl FnOnce(Malformed) -> BoxedError {
        move |what| Error::Corrupted { page, what }.into()
    }
}
