//! Private copies of pages in memory, and the ones already written to their place because memory is
//! bounded.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::page_order::sort_ascending;
use crate::hash::{HashTable, TableEntry};
use fulgurite_format::{Pgno, copy_without_gap, wipe_gap};

use crate::boxed_error::BoxedError;
use crate::buffer_pool::{self, Buffers, pages_max};
use crate::memory::{empty, room_for, zeros};
use crate::opened::PageStore;

/// At most that many pieces go into one write call: as many as the system takes.
const PARTS_MAX: usize = 1024;

/// Number of bytes kept in buffers of runs. Fresh memory from the system costs more than filling a
/// buffer.
const UNUSED_RUN_BYTES_MAX: usize = 2 << 20;

/// Tables are kept for the next transaction up to that capacity.
const RETAINED_MAX: usize = 1 << 14;

/// A private page, or a private overflow run, in memory. The free space of a tree page may have
/// remains of other pages, which never come to the file.
#[derive(Debug)]
pub(super) struct DirtyPage {
    pgno: Pgno,
    pub(super) bytes: Box<[u8]>,
    pub(super) checked: Checked,
}

/// The parts of a private page that were checked; since then it had only sound changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    Nothing,
    /// All its nodes.
    Nodes,
    /// Also the nodes of all sub-pages in them.
    SubPages,
}

impl DirtyPage {
    fn unchecked(pgno: Pgno, bytes: Box<[u8]>) -> DirtyPage {
        DirtyPage {
            pgno,
            bytes,
            checked: Checked::Nothing,
        }
    }
}

impl TableEntry for DirtyPage {
    type Key = Pgno;

    #[inline(always)]
    fn key(&self) -> &Pgno {
        &self.pgno
    }

    #[inline(always)]
    fn hash(key: &Pgno) -> u64 {
        key.0
    }
}

/// Private pages and private overflow runs in memory, by the number of their first page.
#[derive(Debug, Default)]
pub(crate) struct DirtyPages {
    buffers: HashTable<DirtyPage>,
    bytes: usize,
    /// Unused buffers, with their old contents.
    unused: Buffers,
    /// The numbers, while all are written; kept for its memory.
    numbers: Vec<Pgno>,
}

impl DirtyPages {
    /// Takes buffers from the pool, to use before asking the system.
    pub(crate) fn take_buffers(&mut self, page_size: usize) {
        debug_assert!(page_size.is_power_of_two());
        self.unused = buffer_pool::take(page_size);
    }

    /// Returns unused buffers, a bounded number of them, to the pool.
    pub(crate) fn return_buffers(&mut self) {
        debug_assert!(self.unused.run_bytes <= UNUSED_RUN_BYTES_MAX);
        buffer_pool::keep(core::mem::take(&mut self.unused));
    }

    /// Returns true if no page is private.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    #[inline]
    pub(crate) fn get(&self, pgno: Pgno) -> Option<&[u8]> {
        self.buffers.get(&pgno).map(|page| &*page.bytes)
    }

    /// As [`DirtyPages::get`], where a call costs less than forty copies of it.
    #[inline(never)]
    pub(crate) fn find(&self, pgno: Pgno) -> Option<&[u8]> {
        self.get(pgno)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, pgno: Pgno) -> Option<&mut [u8]> {
        self.buffers.get_mut(&pgno).map(|page| &mut *page.bytes)
    }

    /// Returns a page. If the page is not in memory, it copies the bytes that `load` lends.
    #[inline(always)]
    pub(super) fn get_mut_or_load<'a>(
        &mut self,
        pgno: Pgno,
        load: impl FnOnce() -> Result<&'a [u8], BoxedError>,
    ) -> Result<&mut DirtyPage, BoxedError> {
        let index = match self.buffers.find(&pgno) {
            Some(index) => index,
            None => {
                self.load_page(pgno, load)?;
                self.buffers.len() - 1
            }
        };
        let page = self.buffers.at_mut(index);
        page.ok_or_else(BoxedError::no_memory)
    }

    /// Adds a copy of the bytes that `load` lends.
    #[cold]
    #[inline(never)]
    fn load_page<'a>(
        &mut self,
        pgno: Pgno,
        load: impl FnOnce() -> Result<&'a [u8], BoxedError>,
    ) -> Result<(), BoxedError> {
        let bytes = copy_of(load()?, &mut self.unused.pages)?;
        self.insert(pgno, bytes)
    }

    /// Adds a buffer for one page, with unspecified contents.
    pub(crate) fn insert_page(
        &mut self,
        pgno: Pgno,
        page_size: usize,
    ) -> Result<&mut [u8], BoxedError> {
        debug_assert!(pgno >= Pgno::FIRST_DATA, "meta pages are never private");
        let bytes = match self.unused.pages.pop() {
            Some(unused) => unused,
            None => zeros(page_size)?.into(),
        };
        self.add(pgno, bytes)
    }

    /// Adds a copy of a tree page. Its free space is as it was in the page or in an old buffer.
    pub(crate) fn insert_copy(&mut self, pgno: Pgno, page: &[u8]) -> Result<&mut [u8], BoxedError> {
        debug_assert!(page.len().is_power_of_two(), "a tree page is copied whole");
        let bytes = match self
            .unused
            .pages
            .pop()
            .filter(|unused| unused.len() == page.len())
        {
            Some(mut bytes) => {
                copy_without_gap(page, &mut bytes);
                bytes
            }
            None => copy_of(page, &mut self.unused.pages)?,
        };
        self.add(pgno, bytes)
    }

    /// Makes room for a number of pages.
    pub(super) fn reserve(&mut self, pages: usize) {
        self.buffers.reserve(pages);
    }

    /// Adds a page with unchecked nodes; any old page of that number is dropped.
    fn add(&mut self, pgno: Pgno, bytes: Box<[u8]>) -> Result<&mut [u8], BoxedError> {
        self.bytes += bytes.len();
        let (added, old) = self.buffers.replace(DirtyPage::unchecked(pgno, bytes));
        if let Some(old) = old {
            self.bytes -= old.bytes.len();
        }
        let added = added.ok_or_else(BoxedError::no_memory)?;
        Ok(&mut added.bytes)
    }

    /// Adds a run of `len` bytes that consists of these parts, and zeros.
    pub(crate) fn insert_run(
        &mut self,
        first: Pgno,
        len: usize,
        parts: &[&[u8]],
    ) -> Result<(), BoxedError> {
        debug_assert!(parts.iter().map(|part| part.len()).sum::<usize>() <= len);
        let kept = self.unused.runs.iter().position(|run| run.len() == len);
        let mut run = match kept {
            Some(index) => {
                self.unused.run_bytes -= len;
                self.unused.runs.swap_remove(index).into_vec()
            }
            None => room_for(len)?,
        };
        run.clear();
        for part in parts {
            run.extend_from_slice(part);
        }
        run.resize(len, 0);
        self.insert(first, run.into())
    }

    pub(crate) fn insert(&mut self, pgno: Pgno, bytes: Box<[u8]>) -> Result<(), BoxedError> {
        debug_assert!(pgno >= Pgno::FIRST_DATA, "meta pages are never private");
        self.add(pgno, bytes)?;
        Ok(())
    }

    /// Adds a copy of the tree page `from` as page `to`; nothing if `from` is not in memory.
    pub(crate) fn copy(&mut self, from: Pgno, to: Pgno) -> Option<&mut [u8]> {
        debug_assert!(from != to, "a copy has its own number");
        let old = &*self.buffers.get(&from)?.bytes;
        let bytes = match self.unused.pages.pop() {
            Some(mut bytes) if bytes.len() == old.len() => {
                bytes.copy_from_slice(old);
                bytes
            }
            _ => old.into(),
        };
        self.add(to, bytes).ok()
    }

    /// Forgets the page or run that begins at `pgno`, without writing it.
    pub(crate) fn remove(&mut self, pgno: Pgno, page_size: usize) {
        let Some(DirtyPage { bytes, .. }) = self.buffers.remove(&pgno) else {
            return;
        };
        debug_assert!(bytes.len() <= self.bytes, "the sum counts each buffer");
        self.bytes -= bytes.len();
        if bytes.len() == page_size && self.unused.pages.len() < pages_max(page_size) {
            self.unused.pages.push(bytes);
        }
    }

    /// Forgets all pages, without writing them.
    pub(crate) fn clear(&mut self, page_size: usize) {
        if !self.buffers.is_empty() {
            self.recycle_buffers(page_size);
        }
        if self.buffers.capacity() > RETAINED_MAX {
            self.buffers = HashTable::default();
        }
        empty(&mut self.numbers, RETAINED_MAX);
    }

    /// Keeps the buffers for other pages, as many as may be.
    fn recycle_buffers(&mut self, page_size: usize) {
        for DirtyPage { bytes, .. } in self.buffers.drain() {
            if bytes.len() == page_size {
                if self.unused.pages.len() < pages_max(page_size) {
                    self.unused.pages.push(bytes);
                }
            } else if self.unused.run_bytes + bytes.len() <= UNUSED_RUN_BYTES_MAX {
                self.unused.run_bytes += bytes.len();
                self.unused.runs.push(bytes);
            }
        }
        self.bytes = 0;
    }

    /// Bytes held in memory.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes all pages to their places in ascending order, neighbours in one call, and forgets
    /// them.
    pub(crate) fn write_out(
        &mut self,
        page_store: &mut PageStore<'_>,
        page_size: usize,
    ) -> Result<(), BoxedError> {
        let mut numbers = core::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend(self.buffers.iter().map(|page| page.pgno));
        sort_ascending(&mut numbers);
        self.wipe_gaps(page_store, page_size);
        self.write_all(&numbers, page_store, page_size)?;
        if !page_store.finish() {
            self.wipe_gaps(page_store, page_size);
            self.write_all(&numbers, page_store, page_size)?;
        }
        debug_assert_eq!(numbers.len(), self.buffers.len());
        self.numbers = numbers;
        self.recycle_buffers(page_size);
        Ok(())
    }

    /// Wipes the free space of the pages that are written by calls, which are written whole.
    fn wipe_gaps(&mut self, page_store: &PageStore<'_>, page_size: usize) {
        for DirtyPage { pgno, bytes, .. } in self.buffers.iter_mut() {
            if !page_store.reaches(pgno.0 * page_size as u64, bytes.len()) {
                wipe_gap(bytes);
            }
        }
    }

    fn write_all(
        &self,
        numbers: &[Pgno],
        page_store: &mut PageStore<'_>,
        page_size: usize,
    ) -> Result<(), BoxedError> {
        debug_assert!(numbers.is_sorted(), "neighbours follow each other");
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut start = 0;
        let mut end = 0;
        for pgno in numbers {
            let Some(bytes) = self.get(*pgno) else {
                continue;
            };
            let offset = pgno.0 * page_size as u64;
            if page_store.store_page(offset, bytes)? {
                continue;
            }
            if offset != end || parts.len() == PARTS_MAX {
                write(page_store, start, &parts)?;
                parts.clear();
                start = offset;
            }
            parts.push(bytes);
            end = offset + bytes.len() as u64;
        }
        write(page_store, start, &parts)
    }
}

/// A copy of a page, in a unused buffer if there is one.
fn copy_of(page: &[u8], unused: &mut Vec<Box<[u8]>>) -> Result<Box<[u8]>, BoxedError> {
    if let Some(mut bytes) = unused.pop().filter(|unused| unused.len() == page.len()) {
        bytes.copy_from_slice(page);
        return Ok(bytes);
    }
    let mut bytes = room_for(page.len())?;
    bytes.extend_from_slice(page);
    Ok(bytes.into())
}

fn write(page_store: &mut PageStore<'_>, offset: u64, parts: &[&[u8]]) -> Result<(), BoxedError> {
    if parts.is_empty() {
        return Ok(());
    }
    page_store.write(offset, parts)
}
