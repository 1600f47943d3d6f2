//! Reading pages by number from the file.

use std::io;

use fulgurite_os::File;

use super::meta::Snapshot;

/// The pages of one data file, read with `pread`, so that a short file is a short read and not a bus error.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    page_bytes: usize,
    file_bytes: u64,
}

/// Why a page could not be had.
#[derive(Debug)]
pub(super) enum ReadFault {
    BeyondFile,
    System(io::Error),
}

impl Pages {
    pub(super) fn new(file: File, snapshot: &Snapshot) -> Self {
        let file_bytes = file.len().unwrap_or(0);
        Self {
            file,
            page_bytes: snapshot.page_bytes,
            file_bytes,
        }
    }

    pub(super) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    pub(super) fn file_pages(&self) -> u64 {
        self.file_bytes / self.page_bytes as u64
    }

    /// Whether the file reaches to the end of `count` pages from `pgno`.
    pub(super) fn holds(&self, pgno: u64, count: u64) -> bool {
        pgno.checked_add(count)
            .is_some_and(|end| end <= self.file_pages())
    }

    /// One whole page.
    pub(super) fn page(&self, pgno: u64) -> Result<Vec<u8>, ReadFault> {
        if !self.holds(pgno, 1) {
            return Err(ReadFault::BeyondFile);
        }
        let mut bytes = vec![0; self.page_bytes];
        self.read(pgno * self.page_bytes as u64, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `bytes` from the file position `at`.
    pub(super) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), ReadFault> {
        self.file
            .read_exact_at(at, bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => ReadFault::BeyondFile,
                _ => ReadFault::System(error),
            })
    }
}
