//! A second mapping of the data file, through which writers that flush nothing store pages: that
//! takes no system call.
//!
//! ```text
//!   file    |<-- without holes -------------->|     holes, and appended pages
//!   pages   |<-- in use when it began ---------------->|
//!           |<-- stored through the window -->|<------ written by calls ---------->
//! ```
//!
//! The window is private. Programs borrow pages of the other mapping only, which is read-only. It
//! serves only [`crate::Durability::NoSync`], where the system decides when data reach the disk. In
//! all other modes pages are written by calls, and flushed, in the order that is proved.
//!
//! Pages inside a file without holes have their room on the disk. A page may be missing all the
//! same. Another process cut the file off, or its file system copies on write and is full. The
//! map's guard notes that, and the writer writes all pages by calls, which report errors.

use fulgurite_os::platform::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_format::{Pgno, Txnid, parts_in_use};
use fulgurite_os::{DataFile, Map};

use super::Mapping;
use crate::Error;
use crate::boxed_error::BoxedError;

/// Bytes written by calls before a window is made; programs that change little have no use for one.
const CALLS_FIRST: u64 = 1 << 20;
/// Smallest length of the window, in bytes. It reaches twice as far as the pages stored through it,
/// so that it is seldom made anew.
const LEN_MIN: u64 = 64 << 20;
/// After that many transactions a file with holes is looked at again.
const LOOK_AGAIN: u64 = 256;

/// The window of an environment, and the state of its file.
#[derive(Debug, Default)]
pub(super) struct StoreWindow(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    map: Option<Map>,
    /// Bytes at the file's beginning that are known to have no holes.
    solid: u64,
    /// The transaction that looked for holes last, unless others have changed the file since.
    looked: Option<u64>,
    /// The last transaction that stored anything.
    last: u64,
    /// Bytes written by calls.
    called: u64,
    /// It has failed once.
    is_off: bool,
}

/// The window while a transaction stores pages.
#[derive(Debug)]
pub(crate) struct PageStore<'w> {
    state: MutexGuard<'w, State>,
    file: &'w DataFile,
    /// Pages that end here or before may be stored; 0 if the writer must use calls.
    limit: u64,
}

impl StoreWindow {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares to store pages of transaction `txnid`; `in_use` is the last page of the snapshot
    /// that it began from. With `calls` the writer uses system calls only.
    pub(super) fn page_store<'w>(
        &'w self,
        mapping: &'w Mapping,
        txnid: Txnid,
        in_use: Pgno,
        calls: bool,
    ) -> PageStore<'w> {
        let mut state = self.state();
        let page_size = mapping.page_size() as u64;
        let limit = if calls {
            0
        } else {
            state.limit(mapping.file(), txnid, (in_use.0 + 1) * page_size)
        };
        PageStore {
            state,
            file: mapping.file(),
            limit,
        }
    }

    /// Drops the window before the file is cut off or gets holes.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.map = None;
        state.looked = None;
        state.solid = 0;
    }
}

impl State {
    /// Up to where pages may be stored, with a window that reaches so far.
    fn limit(&mut self, file: &DataFile, txnid: Txnid, in_use: u64) -> u64 {
        // Others may have made holes, or cut the file off.
        if txnid.0.wrapping_sub(self.last) > 1 {
            self.looked = None;
            self.solid = 0;
        }
        self.last = txnid.0;
        if self.is_off || self.called < CALLS_FIRST {
            return 0;
        }
        let is_due = |looked: u64| txnid.0 >= looked.saturating_add(LOOK_AGAIN);
        if self.solid < in_use && self.looked.is_none_or(is_due) {
            self.looked = Some(txnid.0);
            self.solid = file.solid_len().unwrap_or(0);
        }
        let limit = self.solid.min(in_use);
        if self.reach() < limit {
            let len = limit.saturating_mul(2).max(LEN_MIN);
            // The old one goes first: address space may be bounded.
            self.map = None;
            self.map = usize::try_from(len)
                .ok()
                .and_then(|len| Map::to_store(file.pages(), len).ok());
            self.is_off = self.map.is_none();
        }
        limit.min(self.reach())
    }

    fn reach(&self) -> u64 {
        self.map.as_ref().map_or(0, |map| map.len() as u64)
    }
}

impl PageStore<'_> {
    /// Stores pages at `offset`. Returns `false` if the caller must write them by calls.
    #[inline(always)]
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) -> Result<bool, BoxedError> {
        let Some(map) = &self.state.map else {
            return Ok(false);
        };
        if offset + bytes.len() as u64 > self.limit {
            return Ok(false);
        }
        // SAFETY: the file had these bytes when the transaction began. No process cuts it off below
        // the last page in use. If one does, the guard of the map catches the fault. The pages are
        // private to the transaction, and it does not lend them now.
        unsafe { self.file.store_at(map, offset, bytes) }
            .map_err(WRITING)
            .map_err(BoxedError::from)
    }

    /// As [`PageStore::store`], but leaves out the free space of a tree page. The old bytes of the
    /// file stay there; no reader reads them.
    pub(crate) fn store_page(&self, offset: u64, page: &[u8]) -> Result<bool, BoxedError> {
        if self.state.map.is_none() || !self.reaches(offset, page.len()) {
            return Ok(false);
        }
        match parts_in_use(page) {
            Some((head, at, tail)) => {
                Ok(self.store(offset, head)? && self.store(offset + at as u64, tail)?)
            }
            None => self.store(offset, page),
        }
    }

    /// Returns true if the window reaches so far.
    pub(crate) fn reaches(&self, offset: u64, len: usize) -> bool {
        offset + len as u64 <= self.limit
    }

    /// Stores a run of `len` bytes that consists of these parts, and zeros.
    pub(crate) fn put_run(
        mut self,
        offset: u64,
        parts: &[&[u8]],
        len: usize,
    ) -> Result<(), BoxedError> {
        let mut at = offset;
        let mut is_stored = true;
        let zeros = [0; 1 << 9];
        let filled: usize = parts.iter().map(|part| part.len()).sum();
        let padding = core::iter::repeat_n(&zeros[..], (len - filled).div_ceil(zeros.len()));
        for part in parts.iter().copied().chain(padding) {
            let left = (offset + len as u64 - at) as usize;
            let part = part.get(..left).unwrap_or(part);
            is_stored = is_stored && self.store(at, part)?;
            at += part.len() as u64;
        }
        if is_stored && self.finish() {
            return Ok(());
        }
        let mut run = parts.concat();
        run.resize(len, 0);
        self.write(offset, &[&run])
    }

    /// Writes pages by a call.
    pub(crate) fn write(&mut self, offset: u64, parts: &[&[u8]]) -> Result<(), BoxedError> {
        let len: u64 = parts.iter().map(|part| part.len() as u64).sum();
        self.file
            .write_vectored_at(offset, parts)
            .map_err(WRITING)?;
        self.state.called = self.state.called.saturating_add(len);
        if self.state.solid >= offset {
            self.state.solid = self.state.solid.max(offset + len);
        }
        Ok(())
    }

    /// Returns true if all that was stored is in the file. If not, the writer uses calls from now
    /// on.
    pub(crate) fn finish(&mut self) -> bool {
        if !self.state.map.as_ref().is_some_and(Map::is_lost) {
            return true;
        }
        self.state.map = None;
        self.state.is_off = true;
        self.limit = 0;
        false
    }
}

const WRITING: fn(fulgurite_os::platform::io::Error) -> Error = |source| Error::Io {
    doing: "writing pages to the data file",
    source,
};

#[cfg(test)]
mod tests {
    use fulgurite_format::PageFlags;
    use fulgurite_os::{Access, File, FileRole};

    use super::*;

    const PAGE: u64 = 4096;

    /// A file of that many pages.
    fn file_of(directory: &tempfile::TempDir, pages: u64) -> DataFile {
        let path = directory.path().join("data");
        let access = Access::Change { mode: 0o600 };
        let file = DataFile::new(
            File::open(FileRole::Data, &path, access).unwrap(),
            None,
            None,
        );
        file.write_at(0, &vec![1; (pages * PAGE) as usize]).unwrap();
        file
    }

    fn page_of(file: &DataFile, number: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE as usize];
        let len = file.read_at(number * PAGE, &mut page).unwrap();
        page.truncate(len);
        page
    }

    fn page_store<'w>(window: &'w StoreWindow, file: &'w DataFile, txnid: u64) -> PageStore<'w> {
        let mut state = window.state();
        let limit = state.limit(file, Txnid(txnid), 16 * PAGE);
        PageStore { state, file, limit }
    }

    #[test]
    fn pages_outside_the_window_are_written_by_calls() {
        let directory = tempfile::tempdir().unwrap();
        let file = file_of(&directory, 16);
        let window = StoreWindow::default();
        let page = vec![7; PAGE as usize];
        assert!(
            !page_store(&window, &file, 1).store(0, &page).unwrap(),
            "too little was written for a window"
        );
        window.state().called = CALLS_FIRST;
        let mut first = page_store(&window, &file, 9);
        assert!(first.store(15 * PAGE, &page).unwrap());
        assert!(
            !first.store(16 * PAGE, &page).unwrap(),
            "behind the pages in use"
        );
        assert!(first.finish());
        drop(first);
        assert_eq!(file.len().unwrap(), 16 * PAGE);
        assert_eq!(page_of(&file, 15), page);
        assert_eq!(page_of(&file, 14), [1; PAGE as usize]);
        // Another process cuts the file off.
        file.resize(8 * PAGE).unwrap();
        let mut second = page_store(&window, &file, 10);
        assert!(second.store(12 * PAGE, &page).unwrap());
        assert!(!second.finish(), "the page is missing");
        assert!(!second.store(12 * PAGE, &page).unwrap());
        second.write(12 * PAGE, &[&page]).unwrap();
        drop(second);
        assert_eq!(file.len().unwrap(), 13 * PAGE);
        assert_eq!(page_of(&file, 12), page);
        assert!(!page_store(&window, &file, 11).store(0, &page).unwrap());
    }

    /// Returns a page of nines with a header of this kind. It has `free` bytes between offsets and
    /// nodes, or behind items.
    fn tree_page(flags: u16, free: usize) -> Vec<u8> {
        let mut page = vec![9; PAGE as usize];
        let lower = 200_usize;
        for (at, word) in [(10, flags), (12, lower as u16), (14, (lower + free) as u16)] {
            page[at..at + 2].copy_from_slice(&word.to_le_bytes());
        }
        page
    }

    #[test]
    fn store_page_stores_only_the_used_parts() {
        const BRANCH: u16 = PageFlags::BRANCH;
        const LEAF: u16 = PageFlags::LEAF;
        const OVERFLOW: u16 = PageFlags::OVERFLOW;
        const PACKED: u16 = PageFlags::PACKED;
        let directory = tempfile::tempdir().unwrap();
        let file = file_of(&directory, 16);
        let window = StoreWindow::default();
        window.state().called = CALLS_FIRST;
        let mut stored = page_store(&window, &file, 9);
        for flags in [BRANCH, LEAF, LEAF | PACKED, OVERFLOW] {
            for free in [0, 7, 8, 9, 2048, 3800, 4000] {
                let page = tree_page(flags, free);
                stored.write(3 * PAGE, &[&[1; PAGE as usize]]).unwrap();
                assert!(stored.store_page(3 * PAGE, &page).unwrap());
                let found = page_of(&file, 3);
                let gap = match free & !7 {
                    _ if flags == OVERFLOW => 0..0,
                    // Packed pages only say how much is free.
                    free if flags & PACKED != 0 => PAGE as usize - free..PAGE as usize,
                    // The header makes no sense.
                    _ if 200 + free > PAGE as usize => 0..0,
                    _ => 200..(200 + free) & !7,
                };
                for (at, byte) in found.iter().enumerate() {
                    let wanted = if gap.contains(&at) { 1 } else { page[at] };
                    assert_eq!(*byte, wanted, "{flags:#x}, {free} free, at {at}");
                }
                assert_eq!(page_of(&file, 2), [1; PAGE as usize]);
                assert_eq!(page_of(&file, 4), [1; PAGE as usize]);
            }
        }
        assert!(stored.finish());
    }

    #[test]
    fn holes_are_written_by_calls() {
        let directory = tempfile::tempdir().unwrap();
        let file = file_of(&directory, 4);
        file.resize(16 * PAGE).unwrap();
        let window = StoreWindow::default();
        window.state().called = CALLS_FIRST;
        let page = vec![7; PAGE as usize];
        let mut first = page_store(&window, &file, 9);
        assert!(first.store(3 * PAGE, &page).unwrap());
        assert!(!first.store(4 * PAGE, &page).unwrap());
        first.write(4 * PAGE, &[&page, &page]).unwrap();
        first.write(9 * PAGE, &[&page]).unwrap();
        drop(first);
        let second = page_store(&window, &file, 10);
        assert!(second.store(5 * PAGE, &page).unwrap());
        assert!(!second.store(6 * PAGE, &page).unwrap());
        assert!(!second.store(9 * PAGE, &page).unwrap());
    }

    #[test]
    fn runs_end_with_zeros_however_they_are_stored() {
        let directory = tempfile::tempdir().unwrap();
        let file = file_of(&directory, 16);
        let window = StoreWindow::default();
        window.state().called = CALLS_FIRST;
        let value = [9; 5000];
        let parts: [&[u8]; 2] = [&[3; 16], &value];
        let run = 2 * PAGE as usize;
        let wanted = [parts[0], parts[1], &vec![0; run - 5016]].concat();
        assert!(page_store(&window, &file, 9).reaches(14 * PAGE, run));
        assert!(!page_store(&window, &file, 9).reaches(15 * PAGE, run));
        let put =
            |at: u64, txnid| page_store(&window, &file, txnid).put_run(at * PAGE, &parts, run);
        put(4, 9).unwrap();
        assert_eq!([page_of(&file, 4), page_of(&file, 5)].concat(), wanted);
        assert_eq!(page_of(&file, 6), [1; PAGE as usize]);
        file.resize(8 * PAGE).unwrap();
        put(10, 10).unwrap();
        assert_eq!([page_of(&file, 10), page_of(&file, 11)].concat(), wanted);
    }
}
