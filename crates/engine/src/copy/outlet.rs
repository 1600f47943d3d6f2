//! What a copy goes to: anything that can be written to, and a file faster.

use std::io::{self, Write};

use fulgurite_os::{File, Map};

/// Takes a copy from its beginning to its end.
pub(super) trait Outlet: Write {
    /// Takes at most `len` octets from where the map has them; returns how many. None where they are to be read and written: nothing
    /// was done then, but for those who watch.
    /// # Errors
    /// As [`Write::write`].
    fn copy_range(&mut self, map: &Map, from: usize, len: usize) -> io::Result<usize>;
}

impl Outlet for File {
    fn copy_range(&mut self, map: &Map, from: usize, len: usize) -> io::Result<usize> {
        File::copy_range(self, None, map, from, len)
    }
}

/// A writer of which nothing more is known.
pub(super) struct AnyWriter<'w, W>(pub(super) &'w mut W);

impl<W: Write> Write for AnyWriter<'_, W> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> Outlet for AnyWriter<'_, W> {
    fn copy_range(&mut self, _: &Map, _: usize, _: usize) -> io::Result<usize> {
        Ok(0)
    }
}
