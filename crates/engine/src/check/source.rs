//! Where the checker's pages come from: a file, an image in memory, or whatever can lend bytes by position.

use std::io;

use fulgurite_os::File;

/// A data file as the checker sees it: bytes by position, and an end.
///
/// Implemented for files, which are read with `pread`, so that a file cut short is a short read and not a bus error;
/// and for bytes in memory, which are lent as they are.
pub trait Source {
    /// Its length in octets.
    /// # Errors
    /// The system's.
    fn len_bytes(&self) -> io::Result<u64>;

    /// Lends as many octets as `buffer` has, from position `at` on, in the buffer or elsewhere. Asked for are the
    /// beginnings of pages, whole pages, and pieces of overflow runs.
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
