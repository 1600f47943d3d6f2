//! Takes room on the disk before it is needed. A full disk then refuses new records, but not
//! deletions.
//!
//! ```text
//!   |<------- pages in use ------->|<--- reserve --->|<- step ->|
//!                                   only transactions that store nothing go in there
//! ```
//!
//! Deleting also writes pages: copies of the pages that it changes. The pages that it frees can be
//! reused only two commits later. So a file that has filled its disk to the last byte could not
//! even be made smaller. The room is taken behind the end of the file, whose length does not
//! change. Some file systems cannot do that; there is no reserve on them.
//!
//! The reserve is given back when the last process closes the environment, if the file contains
//! enough free pages. The first transaction that stores a record takes the reserve again before it
//! takes those pages. Where others have filled the disk meanwhile that many of the free pages are
//! the reserve.
//!
//! With a writable map, a missing page would be a bus error. Taking room first makes it an error of
//! the call.

use core::sync::atomic::{AtomicU64, Ordering};

use fulgurite_format::Pgno;
use fulgurite_os::DataFile;

use crate::Error;
use crate::boxed_error::BoxedError;

/// Number of pages reserved for transactions that store nothing. A deletion changes two trees, from
/// leaf to root, and three transactions can run before pages come back.
pub(crate) const RESERVE_PAGES: u64 = 32;
/// Room is taken in steps of an eighth of the file, within these bounds in bytes.
const STEP_MIN: u64 = 64 << 10;
const STEP_MAX: u64 = 64 << 20;
/// Means room that cannot be taken in advance.
const UNKNOWN: u64 = u64::MAX;

/// How much room a file has for sure.
#[derive(Debug, Default)]
pub(super) struct DiskRoom {
    /// The file's first bytes up to here have room on the disk, except for old holes.
    taken: AtomicU64,
    /// The last page in use when a write transaction began last.
    last: AtomicU64,
}

impl DiskRoom {
    /// Bytes that are kept for transactions that store nothing.
    pub(super) const fn reserve(page_size: usize) -> u64 {
        RESERVE_PAGES * page_size as u64
    }

    /// Takes room for the first `needed` bytes of the file, as far as they are behind `from`. It
    /// also takes the reserve, unless the transaction may use it up. `is_mapped` says that pages
    /// are stored through the map.
    /// # Errors
    /// The system's when the disk is full, or its quota.
    pub(super) fn take(
        &self,
        file: &DataFile,
        from: u64,
        needed: u64,
        reserve: Option<u64>,
        is_mapped: bool,
    ) -> Result<(), BoxedError> {
        let wanted = needed.saturating_add(reserve.unwrap_or(0));
        let taken = self.taken.load(Ordering::Relaxed);
        if wanted <= taken {
            return Ok(());
        }
        let start = taken.max(from).min(needed);
        let step = (wanted / 8).clamp(STEP_MIN, STEP_MAX);
        let full = Error::io("taking room on the disk");
        for end in [wanted.saturating_add(step), wanted] {
            match file.allocate(start, end - start) {
                Ok(true) => {
                    self.taken.fetch_max(end, Ordering::Relaxed);
                    return Ok(());
                }
                Ok(false) => {
                    self.taken.store(UNKNOWN, Ordering::Relaxed);
                    return Ok(());
                }
                Err(_) if end > wanted => {}
                // Writing it may succeed all the same: in the reserve that another process took. A
                // store through the map could not even fail.
                Err(_) if reserve.is_none() && !is_mapped => {}
                Err(error) => return Err(full(error)),
            }
        }
        Ok(())
    }

    /// Returns true if it is known that there is room behind what is needed.
    pub(super) fn has_taken(&self) -> bool {
        let taken = self.taken.load(Ordering::Relaxed);
        taken != 0 && taken != UNKNOWN
    }

    /// Returns true if room was taken here, or cannot be.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.taken.load(Ordering::Relaxed) != 0
    }

    /// Takes the reserve behind the pages in use, which end at `end`. Returns `false` on a full
    /// disk.
    pub(super) fn keep(&self, file: &DataFile, end: u64, page_size: usize) -> bool {
        let reserve = Self::reserve(page_size);
        match file.allocate(end, reserve) {
            Ok(true) => {
                self.taken
                    .fetch_max(end.saturating_add(reserve), Ordering::Relaxed);
            }
            Ok(false) => self.taken.store(UNKNOWN, Ordering::Relaxed),
            Err(_) => return false,
        }
        true
    }

    /// Gives back room behind the end of the file that deletions do not need. If the file contains
    /// enough free pages, that is all of it. No other process has the environment open.
    ///
    /// Room is taken in steps of an eighth of the file. A program that stores nothing any more has
    /// no use for it. If this fails, only the reserve is lost until another process takes it again.
    pub(super) fn give_back(&self, file: &DataFile, page_size: usize, has_free_pages: bool) {
        let taken = self.taken.swap(0, Ordering::Relaxed);
        let Ok(len) = file.len() else { return };
        let kept = if has_free_pages {
            0
        } else {
            Self::reserve(page_size)
        };
        if taken != UNKNOWN && taken > len + kept && file.resize(len).is_ok() && kept > 0 {
            // Best effort: the caller that opens the file next takes it too.
            let _ = file.allocate(len, kept);
        }
    }

    /// Notes which is the last page in use. If it was higher before, another process has cut the
    /// file off, and the room behind it is gone.
    pub(super) fn notice_last(&self, last: Pgno) {
        let shrunk = self.last.load(Ordering::Relaxed) > last.0;
        if shrunk && self.taken.load(Ordering::Relaxed) != UNKNOWN {
            self.taken.store(0, Ordering::Relaxed);
        }
        self.last.store(last.0, Ordering::Relaxed);
    }
}
