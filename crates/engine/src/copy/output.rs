//! Where a compact copy's pages are put together before they are written.

use std::io::Write;

use crate::Error;
use crate::memory::zeros;

/// Octets of a buffer.
const BUFFER: usize = 1 << 20;

/// Two buffers in turn, each written when it is full.
///
/// Gaps between a page's offsets and its nodes are not copied, so they hold what the buffer held there before: zeros
/// at first, later parts of pages two buffers back. That is so in the original too, and with the same buffers in the
/// same turns its copies and ours are equal to the octet.
pub(super) struct Output<'w> {
    to: &'w mut dyn Write,
    buffer: Vec<u8>,
    other: Vec<u8>,
    filled: usize,
    page_size: usize,
}

impl<'w> Output<'w> {
    pub(super) fn new(to: &'w mut dyn Write, page_size: usize) -> Result<Output<'w>, Error> {
        Ok(Output {
            to,
            buffer: zeros(BUFFER)?,
            other: zeros(BUFFER)?,
            filled: 0,
            page_size,
        })
    }

    /// Room for the next page, with whatever was there before.
    pub(super) fn page(&mut self) -> Result<&mut [u8], Error> {
        if self.filled == BUFFER {
            self.flush()?;
        }
        let start = self.filled;
        self.filled += self.page_size;
        Ok(self.buffer.get_mut(start..self.filled).unwrap_or_default())
    }

    /// Writes whole pages from elsewhere.
    pub(super) fn pages(&mut self, pages: &[u8]) -> Result<(), Error> {
        self.flush()?;
        self.write(pages)
    }

    /// Writes what is still in the buffer.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let full = std::mem::take(&mut self.buffer);
        let written = self.write(full.get(..self.filled).unwrap_or_default());
        self.buffer = std::mem::replace(&mut self.other, full);
        self.filled = 0;
        written
    }

    fn write(&mut self, octets: &[u8]) -> Result<(), Error> {
        self.to
            .write_all(octets)
            .map_err(Error::io("writing the copy"))
    }
}
