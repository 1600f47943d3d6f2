//! Errors inside the engine: one word each.

use alloc::boxed::Box;

use crate::Error;

/// An [`Error`] on its way through the engine.
///
/// Nearly every function of the engine can fail, and nearly none does. A result with a boxed error is a
/// word longer than its value, and one branch passes it on. An [`Error`] has four words, and each
/// function on the way would move them.
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
