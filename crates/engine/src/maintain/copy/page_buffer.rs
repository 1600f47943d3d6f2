//! The buffers in which the pages of a compact copy are put together.

use alloc::vec::Vec;
use fulgurite_os::platform::io::Write;

use crate::Error;
use crate::boxed_error::BoxedError;
use crate::memory::zeros;

/// Length of a buffer in bytes.
const BUFFER: usize = 1 << 20;

/// Two buffers in turn, each written when it is full.
///
/// Free space in a page is not copied, so the buffer's earlier contents stay there. They are zeros
/// at first, and later parts of pages two buffers before. The original library does the same with
/// the same buffers, so its copies and ours are equal byte for byte.
pub(super) struct PageBuffer<'w> {
    to: &'w mut dyn Write,
    buffer: Vec<u8>,
    other: Vec<u8>,
    filled: usize,
    page_size: usize,
}

impl<'w> PageBuffer<'w> {
    pub(super) fn new(
        to: &'w mut dyn Write,
        page_size: usize,
    ) -> Result<PageBuffer<'w>, BoxedError> {
        Ok(PageBuffer {
            to,
            buffer: zeros(BUFFER)?,
            other: zeros(BUFFER)?,
            filled: 0,
            page_size,
        })
    }

    /// Lends room for the next page, with the buffer's earlier contents.
    pub(super) fn page(&mut self) -> Result<&mut [u8], BoxedError> {
        if self.filled == BUFFER {
            self.flush()?;
        }
        let start = self.filled;
        self.filled += self.page_size;
        Ok(self.buffer.get_mut(start..self.filled).unwrap_or_default())
    }

    /// Writes whole pages that are outside the buffer.
    pub(super) fn pages(&mut self, pages: &[u8]) -> Result<(), BoxedError> {
        self.flush()?;
        self.write(pages)
    }

    /// Writes the filled part of the buffer.
    pub(super) fn flush(&mut self) -> Result<(), BoxedError> {
        let full = core::mem::take(&mut self.buffer);
        let written = self.write(full.get(..self.filled).unwrap_or_default());
        self.buffer = core::mem::replace(&mut self.other, full);
        self.filled = 0;
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), BoxedError> {
        self.to
            .write_all(bytes)
            .map_err(Error::io("writing the copy"))
    }
}
