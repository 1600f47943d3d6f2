//! Reading pages by number from a source.

use std::io;

use super::source::Source;

/// The pages of one data file.
#[derive(Clone, Copy)]
pub(crate) struct Pages<'s> {
    source: &'s dyn Source,
    page_bytes: usize,
    file_pages: u64,
}

/// Why a page could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadFault {
    #[error("it is beyond the end of the file")]
    BeyondFile,
    #[error("it cannot be read: {0}")]
    System(io::Error),
}

impl<'s> Pages<'s> {
    pub(crate) fn new(source: &'s dyn Source, page_bytes: usize) -> io::Result<Self> {
        Ok(Self {
            source,
            page_bytes,
            file_pages: source.len_bytes()? / page_bytes as u64,
        })
    }

    pub(crate) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Returns the number of whole pages in the file.
    pub(crate) fn file_pages(&self) -> u64 {
        self.file_pages
    }

    /// Returns true if the file has `count` pages from `pgno` on.
    pub(crate) fn holds(&self, pgno: u64, count: u64) -> bool {
        pgno.checked_add(count)
            .is_some_and(|end| end <= self.file_pages)
    }

    /// Reads one whole page. It is in `buffer` unless the source lends it.
    pub(crate) fn page<'a>(&self, pgno: u64, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], ReadFault>
    where
        's: 'a,
    {
        if !self.holds(pgno, 1) {
            return Err(ReadFault::BeyondFile);
        }
        buffer.resize(self.page_bytes, 0);
        self.read(pgno * self.page_bytes as u64, buffer)
    }

    /// Reads as many bytes as `buffer` has, from file offset `at` on.
    pub(crate) fn read<'a>(&self, at: u64, buffer: &'a mut [u8]) -> Result<&'a [u8], ReadFault>
    where
        's: 'a,
    {
        let source: &'a dyn Source = self.source;
        source.lend(at, buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ReadFault::BeyondFile,
            _ => ReadFault::System(error),
        })
    }
}
