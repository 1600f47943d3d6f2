//! The target of a copy: any writer, and files on a faster path.

use fulgurite_os::platform::io;
use fulgurite_os::platform::io::Write;

use fulgurite_os::{File, Map};

/// Receives a copy from its beginning to its end.
pub(super) trait CopySink: Write {
    /// Takes at most `len` bytes directly from the map. Returns the number taken.
    ///
    /// Zero means that the caller has to read and write these bytes. Then nothing was done, except
    /// calls of observers.
    /// # Errors
    /// As [`Write::write`].
    fn copy_range(&mut self, map: &Map, from: usize, len: usize) -> io::Result<usize>;
}

impl CopySink for File {
    fn copy_range(&mut self, map: &Map, from: usize, len: usize) -> io::Result<usize> {
        File::copy_range(self, None, map, from, len)
    }
}

/// A writer without a faster path.
pub(super) struct AnyWriter<'w, W>(pub(super) &'w mut W);

impl<W: Write> Write for AnyWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> CopySink for AnyWriter<'_, W> {
    fn copy_range(&mut self, _: &Map, _: usize, _: usize) -> io::Result<usize> {
        Ok(0)
    }
}
