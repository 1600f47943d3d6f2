//! Private copies of pages in memory, and the ones already written to their place because memory is bounded.

use fulgurite_format::Pgno;
use fulgurite_os::DataFile;
use rustc_hash::FxHashMap;

use crate::Error;

/// At most so many pieces go into one write call.
const PARTS_MAX: usize = 64;

/// A private page, or a private overflow run.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) bytes: Box<[u8]>,
}

/// Private pages in memory, by the number of their first page.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    buffers: FxHashMap<Pgno, Buffer>,
    octets: usize,
}

impl Dirty {
    #[inline]
    pub(crate) fn get(&self, pgno: Pgno) -> Option<&[u8]> {
        self.buffers.get(&pgno).map(|buffer| &*buffer.bytes)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, pgno: Pgno) -> Option<&mut [u8]> {
        self.buffers.get_mut(&pgno).map(|buffer| &mut *buffer.bytes)
    }

    pub(crate) fn insert(&mut self, pgno: Pgno, bytes: Box<[u8]>) {
        self.octets += bytes.len();
        if let Some(old) = self.buffers.insert(pgno, Buffer { bytes }) {
            self.octets -= old.bytes.len();
        }
    }

    /// Forgets a page; what it held is not written.
    pub(crate) fn remove(&mut self, pgno: Pgno) -> Option<Box<[u8]>> {
        let buffer = self.buffers.remove(&pgno)?;
        self.octets -= buffer.bytes.len();
        Some(buffer.bytes)
    }

    /// Octets held in memory.
    pub(crate) const fn octets(&self) -> usize {
        self.octets
    }

    /// Writes all pages to their places in ascending order, neighbours in one call, and forgets them.
    pub(crate) fn write_out(&mut self, file: &DataFile, page_size: usize) -> Result<(), Error> {
        let mut numbers: Vec<Pgno> = self.buffers.keys().copied().collect();
        numbers.sort_unstable();
        let mut parts: Vec<&[u8]> = Vec::with_capacity(PARTS_MAX);
        let mut start = 0;
        let mut end = 0;
        for pgno in numbers {
            let Some(bytes) = self.get(pgno) else {
                continue;
            };
            let offset = pgno.0 * page_size as u64;
            if offset != end || parts.len() == PARTS_MAX {
                write(file, start, &parts)?;
                parts.clear();
                start = offset;
            }
            parts.push(bytes);
            end = offset + bytes.len() as u64;
        }
        write(file, start, &parts)?;
        self.buffers.clear();
        self.octets = 0;
        Ok(())
    }
}

fn write(file: &DataFile, offset: u64, parts: &[&[u8]]) -> Result<(), Error> {
    if parts.is_empty() {
        return Ok(());
    }
    file.write_vectored_at(offset, parts)
        .map_err(Error::io("writing pages to the data file"))
}
