//! Private copies of pages in memory, and the ones already written to their place because memory is bounded.

use std::collections::hash_map::Entry;

use fulgurite_format::{Pgno, copy_without_gap};
use rustc_hash::FxHashMap;

use crate::Error;
use crate::buffer_pool::{self, Spare, pages_max};
use crate::env::Storing;
use crate::memory::{room_for, zeros};

/// At most so many pieces go into one write call: as many as the system takes.
const PARTS_MAX: usize = 1024;

/// As much of the buffers of runs: memory that the system gives anew costs more than filling it.
const SPARE_OCTETS_MAX: usize = 2 << 20;

/// Tables are kept for the next transaction up to that capacity.
const KEPT_MAX: usize = 1 << 14;

/// Private pages and private overflow runs in memory, by the number of their first page.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    buffers: FxHashMap<Pgno, Box<[u8]>>,
    octets: usize,
    /// Buffers that are not needed at the moment, with whatever was in them.
    spare: Spare,
    /// The numbers, while all are written; kept for its memory.
    numbers: Vec<Pgno>,
}

impl Dirty {
    /// Has buffers to use before it asks the system for some: those that are kept for this.
    pub(crate) fn take_spare(&mut self, page_size: usize) {
        self.spare = buffer_pool::take(page_size);
    }

    /// Keeps the buffers that are not needed, a bounded number of them, for another writer.
    pub(crate) fn keep_spare(&mut self) {
        buffer_pool::keep(std::mem::take(&mut self.spare));
    }

    /// Whether no page is private.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
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
                let bytes = copy_of(load()?, &mut self.spare.pages)?;
                self.octets += bytes.len();
                Ok(entry.insert(bytes))
            }
        }
    }

    /// Adds a buffer for one page, with unspecified contents.
    pub(crate) fn insert_page(&mut self, pgno: Pgno, page_size: usize) -> Result<&mut [u8], Error> {
        let bytes = match self.spare.pages.pop() {
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

    /// Adds a copy of a tree page. Its free space is zeros, or as it was in the page.
    pub(crate) fn insert_copy(&mut self, pgno: Pgno, page: &[u8]) -> Result<&mut [u8], Error> {
        let bytes = match self
            .spare
            .pages
            .pop()
            .filter(|spare| spare.len() == page.len())
        {
            Some(mut bytes) => {
                copy_without_gap(page, &mut bytes);
                bytes
            }
            None => copy_of(page, &mut self.spare.pages)?,
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

    /// Adds a run of `len` octets that consists of these parts, and zeros.
    pub(crate) fn insert_run(
        &mut self,
        first: Pgno,
        len: usize,
        parts: &[&[u8]],
    ) -> Result<(), Error> {
        let kept = self.spare.runs.iter().position(|run| run.len() == len);
        let mut run = match kept {
            Some(index) => {
                self.spare.run_octets -= len;
                self.spare.runs.swap_remove(index).into_vec()
            }
            None => room_for(len)?,
        };
        run.clear();
        for part in parts {
            run.extend_from_slice(part);
        }
        run.resize(len, 0);
        self.insert(first, run.into());
        Ok(())
    }

    pub(crate) fn insert(&mut self, pgno: Pgno, bytes: Box<[u8]>) {
        self.octets += bytes.len();
        if let Some(old) = self.buffers.insert(pgno, bytes) {
            self.octets -= old.len();
        }
    }

    /// Adds a copy of the tree page `from` as page `to`; nothing if `from` is not in memory.
    pub(crate) fn copy(&mut self, from: Pgno, to: Pgno) -> Option<&mut [u8]> {
        let old = self.buffers.get(&from)?;
        let bytes = match self.spare.pages.pop() {
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
        if bytes.len() == page_size && self.spare.pages.len() < pages_max(page_size) {
            self.spare.pages.push(bytes);
        }
    }

    /// Forgets all; what it held is not written.
    pub(crate) fn clear(&mut self, page_size: usize) {
        if !self.buffers.is_empty() {
            self.put_aside(page_size);
        }
        if self.buffers.capacity() > KEPT_MAX {
            self.buffers = FxHashMap::default();
        }
        self.numbers.shrink_to(KEPT_MAX);
    }

    /// Keeps the buffers for other pages, as many as may be.
    fn put_aside(&mut self, page_size: usize) {
        for (_, bytes) in self.buffers.drain() {
            if bytes.len() == page_size {
                if self.spare.pages.len() < pages_max(page_size) {
                    self.spare.pages.push(bytes);
                }
            } else if self.spare.run_octets + bytes.len() <= SPARE_OCTETS_MAX {
                self.spare.run_octets += bytes.len();
                self.spare.runs.push(bytes);
            }
        }
        self.octets = 0;
    }

    /// Octets held in memory.
    pub(crate) const fn octets(&self) -> usize {
        self.octets
    }

    /// Writes all pages to their places in ascending order, neighbours in one call, and forgets them.
    pub(crate) fn write_out(
        &mut self,
        storing: &mut Storing<'_>,
        page_size: usize,
    ) -> Result<(), Error> {
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend(self.buffers.keys());
        numbers.sort_unstable();
        self.write_all(&numbers, storing, page_size)?;
        if !storing.finish() {
            self.write_all(&numbers, storing, page_size)?;
        }
        self.numbers = numbers;
        self.put_aside(page_size);
        Ok(())
    }

    fn write_all(
        &self,
        numbers: &[Pgno],
        storing: &mut Storing<'_>,
        page_size: usize,
    ) -> Result<(), Error> {
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut start = 0;
        let mut end = 0;
        for pgno in numbers {
            let Some(bytes) = self.get(*pgno) else {
                continue;
            };
            let offset = pgno.0 * page_size as u64;
            if storing.store_page(offset, bytes)? {
                continue;
            }
            if offset != end || parts.len() == PARTS_MAX {
                write(storing, start, &parts)?;
                parts.clear();
                start = offset;
            }
            parts.push(bytes);
            end = offset + bytes.len() as u64;
        }
        write(storing, start, &parts)
    }
}

/// A copy of a page, in a spare buffer if there is one.
fn copy_of(page: &[u8], spare: &mut Vec<Box<[u8]>>) -> Result<Box<[u8]>, Error> {
    if let Some(mut bytes) = spare.pop().filter(|spare| spare.len() == page.len()) {
        bytes.copy_from_slice(page);
        return Ok(bytes);
    }
    let mut bytes = room_for(page.len())?;
    bytes.extend_from_slice(page);
    Ok(bytes.into())
}

fn write(storing: &mut Storing<'_>, offset: u64, parts: &[&[u8]]) -> Result<(), Error> {
    if parts.is_empty() {
        return Ok(());
    }
    storing.write(offset, parts)
}
