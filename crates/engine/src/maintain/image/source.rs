//! The sources of pages: a file, an image in memory, or anything that lends bytes by offset.

use std::io;

use fulgurite_os::File;

/// A data file as the checker sees it: bytes by offset, and an end.
///
/// Files implement it with `pread`, so a truncated file gives a short read and not a bus error.
/// Bytes in memory are lent as they are.
pub trait Source {
    /// Returns its length in bytes.
    /// # Errors
    /// The system's.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Lends as many bytes as `buffer` has, from offset `at` on, in the buffer or elsewhere.
    ///
    /// Callers ask for the beginnings of pages, whole pages, and parts of overflow runs.
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the source ends before; otherwise the system's.
    fn lend<'a>(&'a self, at: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]>;
}

impl Source for File {
    fn len_bytes(&self) -> io::Result<u64> {
        self.len()
    }

    fn lend<'a>(&'a self, at: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        self.read_exact_at(at, buffer)?;
        Ok(buffer)
    }
}

impl Source for &[u8] {
    fn len_bytes(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn lend<'a>(&'a self, at: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        usize::try_from(at)
            .ok()
            .and_then(|at| self.get(at..at.checked_add(buffer.len())?))
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
