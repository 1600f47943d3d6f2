//! Private copies of pages in memory, and the ones already written to their place because memory is bounded.

use std::collections::hash_map::Entry;

use fulgurite_format::Pgno;
use fulgurite_os::DataFile;
use rustc_hash::FxHashMap;

use crate::Error;
use crate::memory::zeros;

/// At most so many pieces go into one write call.
const PARTS_MAX: usize = 64;

/// Buffers of pages kept for use again, so that loads do not ask the system for memory page by page.
const SPARE_MAX: usize = 1024;

/// Private pages and private overflow runs in memory, by the number of their first page.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    buffers: FxHashMap<Pgno, Box<[u8]>>,
    octets: usize,
    /// Page buffers that are not needed at the moment, with whatever was in them.
    spare: Vec<Box<[u8]>>,
}

impl Dirty {
    /// Has page buffers to use before it asks the system for some.
    pub(crate) fn give_spare(&mut self, spare: Vec<Box<[u8]>>) {
        self.spare = spare;
    }

    /// The page buffers that are not needed, a bounded number of them.
    pub(crate) fn take_spare(&mut self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut self.spare)
    }

    #[inline]
    pub(crate) fn get(&self, pgno: Pgno) -> Option<&[u8]> {
        self.buffers.get(&pgno).map(|bytes| &**bytes)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, pgno: Pgno) -> Option<&mut [u8]> {
        self.buffers.get_mut(&pgno).map(|bytes| &mut **bytes)
    }

    /// The buffer of a page; a copy of what `load` lends is made for one that is not in memory.
    #[inline]
    pub(crate) fn get_mut_or_load<'a>(
        &mut self,
        pgno: Pgno,
        load: impl FnOnce() -> Result<&'a [u8], Error>,
    ) -> Result<&mut [u8], Error> {
        match self.buffers.entry(pgno) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let loaded = load()?;
                let mut bytes = zeros(loaded.len())?.into_boxed_slice();
                bytes.copy_from_slice(loaded);
                self.octets += bytes.len();
                Ok(entry.insert(bytes))
            }
        }
    }

    /// Adds a buffer for one page, with unspecified contents.
    pub(crate) fn insert_page(&mut self, pgno: Pgno, page_size: usize) -> Result<&mut [u8], Error> {
        let bytes = match self.spare.pop() {
            Some(spare) => spare,
            None => zeros(page_size)?.into(),
        };
        self.octets += bytes.len();
        Ok(match self.buffers.entry(pgno) {
            Entry::Occupied(mut entry) => {
                self.octets -= entry.insert(bytes).len();
                entry.into_mut()
            }
            Entry::Vacant(entry) => entry.insert(bytes),
        })
    }

    pub(crate) fn insert(&mut self, pgno: Pgno, bytes: Box<[u8]>) {
        self.octets += bytes.len();
        if let Some(old) = self.buffers.insert(pgno, bytes) {
            self.octets -= old.len();
        }
    }

    /// Adds a copy of the page `from` as page `to`; nothing if `from` is not in memory.
    pub(crate) fn copy(&mut self, from: Pgno, to: Pgno) -> Option<&mut [u8]> {
        let old = self.buffers.get(&from)?;
        let bytes = match self.spare.pop() {
            Some(mut bytes) if bytes.len() == old.len() => {
                bytes.copy_from_slice(old);
                bytes
            }
            _ => old.clone(),
        };
        self.insert(to, bytes);
        self.buffers.get_mut(&to).map(|bytes| &mut **bytes)
    }

    /// Forgets the page or run that begins at `pgno`; what it held is not written.
    pub(crate) fn remove(&mut self, pgno: Pgno, page_size: usize) {
        let Some(bytes) = self.buffers.remove(&pgno) else {
            return;
        };
        self.octets -= bytes.len();
        if bytes.len() == page_size && self.spare.len() < SPARE_MAX {
            self.spare.push(bytes);
        }
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
        let pages = self.buffers.drain().map(|(_, bytes)| bytes);
        let room = SPARE_MAX - self.spare.len().min(SPARE_MAX);
        self.spare
            .extend(pages.filter(|bytes| bytes.len() == page_size).take(room));
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
