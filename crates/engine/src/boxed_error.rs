//! Errors inside the engine: one word each.

use alloc::boxed::Box;
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

use fulgurite_format::{Malformed, Pgno};
use fulgurite_os::platform::io;

use crate::Error;

/// An [`Error`] on its way through the engine.
///
/// Nearly every function of the engine can fail, and nearly none does. A result with a boxed error
/// is a word longer than its value, and one branch passes it on. An [`Error`] has four words, and
/// each function on the way would move them.
///
/// Lack of memory has no box: it could not be had. Any error that finds no memory becomes it.
#[derive(Debug)]
pub(crate) struct BoxedError(NonNull<Error>);

// SAFETY: it owns the error behind the pointer, if there is one, and an error may be sent.
unsafe impl Send for BoxedError where Error: Send {}

/// Represents lack of memory by its address; nothing is read from there.
static NO_MEMORY: AtomicU64 = AtomicU64::new(0);

impl BoxedError {
    /// Returns the error of lacking memory, without taking any.
    #[cold]
    pub(crate) fn no_memory() -> BoxedError {
        BoxedError(NonNull::from(&NO_MEMORY).cast())
    }

    fn is_no_memory(&self) -> bool {
        self.0 == NonNull::from(&NO_MEMORY).cast()
    }

    /// Returns the error that this is, unless memory is lacking.
    fn error(&self) -> Option<&Error> {
        if self.is_no_memory() {
            return None;
        }
        // SAFETY: every other pointer is that of a box, which lives as long as this value.
        Some(unsafe { self.0.as_ref() })
    }

    /// Returns true if there is no such database.
    pub(crate) fn is_no_database(&self) -> bool {
        matches!(self.error(), Some(Error::NoDatabase(_)))
    }

    /// Returns true if a record is of the other kind than asked for.
    pub(crate) fn is_wrong_kind(&self) -> bool {
        matches!(self.error(), Some(Error::WrongKind(_)))
    }

    /// Returns true if this thread has a write transaction already.
    pub(crate) fn is_writer_busy(&self) -> bool {
        matches!(self.error(), Some(Error::WriterBusy))
    }
}

impl Drop for BoxedError {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        if !self.is_no_memory() {
            // SAFETY: the pointer came from a box, and this is its last use.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl From<Error> for BoxedError {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> BoxedError {
        const LAYOUT: Layout = Layout::new::<Error>();
        // SAFETY: an error has a size.
        let place = unsafe { alloc::alloc::alloc(LAYOUT) }.cast::<Error>();
        let Some(place) = NonNull::new(place) else {
            return BoxedError::no_memory();
        };
        // SAFETY: the memory was just taken, with the size and alignment of an error.
        unsafe { place.write(error) };
        BoxedError(place)
    }
}

impl From<BoxedError> for Error {
    #[cold]
    #[inline(never)]
    fn from(boxed: BoxedError) -> Error {
        let boxed = ManuallyDrop::new(boxed);
        if boxed.is_no_memory() {
            return Error::Io {
                doing: "taking memory",
                source: io::ErrorKind::OutOfMemory.into(),
            };
        }
        // SAFETY: the pointer came from a box, and nothing else uses it: the value is not dropped.
        *unsafe { Box::from_raw(boxed.0.as_ptr()) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_out_as_it_went_in() {
        let boxed = BoxedError::from(Error::NoDatabase("name".to_owned()));
        assert!(boxed.is_no_database() && !boxed.is_wrong_kind());
        assert!(matches!(Error::from(boxed), Error::NoDatabase(name) if name == "name"));
        drop(BoxedError::from(Error::WrongKind("dropped".to_owned())));
    }

    #[test]
    fn lack_of_memory_is_an_error_of_the_system() {
        let boxed = BoxedError::no_memory();
        assert!(!boxed.is_no_database() && !boxed.is_wrong_kind() && !boxed.is_writer_busy());
        drop(BoxedError::no_memory());
        let Error::Io { source, .. } = Error::from(boxed) else {
            panic!("an error of the system");
        };
        assert_eq!(source.kind(), io::ErrorKind::OutOfMemory);
    }
}
