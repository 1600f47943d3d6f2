//! A second mapping of the data file, through which writers that flush nothing store pages: that takes no system call.
//!
//! ```text
//!   file    |<-- without holes -------------->|     holes, and what is appended
//!   pages   |<-- in use when it began ---------------->|
//!           |<-- stored through the window -->|<------ written by calls ---------->
//! ```
//!
//! Nobody else has the window: what is lent to programs are pages of the other mapping, which cannot be written through.
//! It serves [`Durability::NoSync`] alone, where the system decides what reaches the disk when. In all other modes pages
//! are written by calls, and flushed, in the order that is proved.
//!
//! Pages inside a file without holes have their room on the disk. Should one be missing all the same (the file was cut off,
//! its file system copies what is overwritten and is full), the map's guard notes it, and all is written by calls: whatever
//! is wrong is an error of a call then.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_format::{Pgno, Txnid};
use fulgurite_os::{DataFile, Map};

use super::shared::Shared;
use crate::Error;

/// So many octets are written by calls before a window is made: programs that change little have no use for one.
const CALLS_FIRST: u64 = 1 << 20;
/// The window reaches twice as far as the pages stored through it, and at least so far, so that it is seldom made anew.
const LEN_MIN: u64 = 64 << 20;
/// After so many transactions a file with holes is looked at again.
const LOOK_AGAIN: u64 = 256;

/// The window of an environment, and what is known of its file.
#[derive(Debug, Default)]
pub(super) struct StoreWindow(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    map: Option<Map>,
    /// Octets at the file's beginning that are known to have no holes.
    solid: u64,
    /// The transaction that looked for holes last, unless others have changed the file since.
    looked: Option<u64>,
    /// The last transaction that stored anything.
    last: u64,
    /// Octets written by calls.
    called: u64,
    /// It has failed once.
    is_off: bool,
}

/// The window while a transaction stores pages.
#[derive(Debug)]
pub(crate) struct Storing<'w> {
    state: MutexGuard<'w, State>,
    file: &'w DataFile,
    /// What ends here may be stored; 0 if all is to be written by calls.
    limit: u64,
}

impl StoreWindow {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// For storing pages of this transaction; `in_use` is the last page of the snapshot that it began from. With `calls`
    /// all is written by calls.
    pub(super) fn storing(&self, txnid: Txnid, in_use: Pgno, calls: bool) -> Storing<'_> {
        let mapping = self.mapping();
        let mut state = self.window.state();
        let page_size = mapping.page_size() as u64;
        let limit = if calls {
            0
        } else {
            state.limit(mapping.file(), txnid, (in_use.0 + 1) * page_size)
        };
        Storing {
            state,
            file: mapping.file(),
            limit,
        }
    }

    /// Forgets what is known of the file, which is about to be cut off or to get holes.
    pub(super) fn close_window(&self) {
        let mut state = self.window.state();
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

impl Storing<'_> {
    /// Stores pages at `offset`; `false` if they are to be written by calls.
    #[inline]
    pub(crate) fn store(&self, offset: u64, octets: &[u8]) -> Result<bool, Error> {
        let Some(map) = &self.state.map else {
            return Ok(false);
        };
        if offset + octets.len() as u64 > self.limit {
            return Ok(false);
        }
        // SAFETY: the file had these octets when the transaction began, and is not cut off below the last page in use; if it
        // is all the same, the guard tells. The pages are private to the transaction, and it does not lend them now.
        unsafe { self.file.store_at(map, offset, octets) }.map_err(WRITING)
    }

    /// Whether the window reaches so far.
    pub(crate) fn reaches(&self, offset: u64, len: usize) -> bool {
        offset + len as u64 <= self.limit
    }

    /// Stores a run of `len` octets that consists of these parts, and zeros.
    pub(crate) fn put_run(mut self, offset: u64, parts: &[&[u8]], len: usize) -> Result<(), Error> {
        let mut at = offset;
        let mut is_stored = true;
        let zeros = [0; 1 << 9];
        let filled: usize = parts.iter().map(|part| part.len()).sum();
        let padding = std::iter::repeat_n(&zeros[..], (len - filled).div_ceil(zeros.len()));
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
    pub(crate) fn write(&mut self, offset: u64, parts: &[&[u8]]) -> Result<(), Error> {
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

    /// Whether all that was stored is in the file. If not, all is to be written by calls from now on.
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

const WRITING: fn(std::io::Error) -> Error = |source| Error::Io {
    doing: "writing pages to the data file",
    source,
};

#[cfg(test)]
mod tests {
    use std::fs;

    use fulgurite_os::{Access, File, FileRole};

    use super::*;

    const PAGE: u64 = 4096;

    fn storing<'w>(window: &'w StoreWindow, file: &'w DataFile, txnid: u64) -> Storing<'w> {
        let mut state = window.state();
        let limit = state.limit(file, Txnid(txnid), 16 * PAGE);
        Storing { state, file, limit }
    }

    #[test]
    fn what_cannot_be_stored_is_written_by_calls() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        fs::write(&path, vec![1; 16 * PAGE as usize]).unwrap();
        let pages = File::open(FileRole::Data, &path, Access::Change { mode: 0o600 }).unwrap();
        let file = DataFile::new(pages, None, None);
        let window = StoreWindow::default();
        let page = vec![7; PAGE as usize];
        assert!(
            !storing(&window, &file, 1).store(0, &page).unwrap(),
            "too little was written for a window"
        );
        window.state().called = CALLS_FIRST;
        let mut first = storing(&window, &file, 9);
        assert!(first.store(15 * PAGE, &page).unwrap());
        assert!(
            !first.store(16 * PAGE, &page).unwrap(),
            "behind the pages in use"
        );
        assert!(first.finish());
        drop(first);
        let stored = fs::read(&path).unwrap();
        assert_eq!(stored.len() as u64, 16 * PAGE);
        assert!(stored.ends_with(&page) && stored.starts_with(&[1; PAGE as usize]));
        // Somebody cuts the file off.
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(8 * PAGE)
            .unwrap();
        let mut second = storing(&window, &file, 10);
        assert!(second.store(12 * PAGE, &page).unwrap());
        assert!(!second.finish(), "the page is missing");
        assert!(!second.store(12 * PAGE, &page).unwrap());
        second.write(12 * PAGE, &[&page]).unwrap();
        drop(second);
        assert_eq!(fs::read(&path).unwrap().len() as u64, 13 * PAGE);
        assert!(!storing(&window, &file, 11).store(0, &page).unwrap());
    }

    #[test]
    fn holes_are_written_by_calls() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        fs::write(&path, vec![1; 4 * PAGE as usize]).unwrap();
        let pages = File::open(FileRole::Data, &path, Access::Change { mode: 0o600 }).unwrap();
        let file = DataFile::new(pages, None, None);
        file.resize(16 * PAGE).unwrap();
        let window = StoreWindow::default();
        window.state().called = CALLS_FIRST;
        let page = vec![7; PAGE as usize];
        let mut first = storing(&window, &file, 9);
        assert!(first.store(3 * PAGE, &page).unwrap());
        assert!(!first.store(4 * PAGE, &page).unwrap());
        first.write(4 * PAGE, &[&page, &page]).unwrap();
        first.write(9 * PAGE, &[&page]).unwrap();
        drop(first);
        let second = storing(&window, &file, 10);
        assert!(second.store(5 * PAGE, &page).unwrap());
        assert!(!second.store(6 * PAGE, &page).unwrap());
        assert!(!second.store(9 * PAGE, &page).unwrap());
    }
}
