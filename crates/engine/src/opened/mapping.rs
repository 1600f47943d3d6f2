//! The data file and its mapping, as snapshots and the writer see them. It lends only bytes that
//! the file has.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};
use fulgurite_os::platform::io;
use fulgurite_os::platform::sync::OnceLock;

use fulgurite_format::Pgno;
use fulgurite_os::{DataFile, Map};

use crate::Error;
use crate::boxed_error::BoxedError;

/// An open, mapped data file.
#[derive(Debug)]
pub(crate) struct Mapping {
    file: Arc<DataFile>,
    map: Map,
    page_size: usize,
    /// Its logarithm: page sizes are powers of two.
    page_shift: u32,
    /// The file had at least this length when last asked. While the file is open, no process cuts
    /// off pages of a pinned snapshot; pages behind them may go.
    file_len: AtomicU64,
    /// The last page of the snapshot that a window was made for last. If it goes back, the file may
    /// have been cut off.
    last_seen: AtomicU64,
    /// The mapping that replaced this one. This one stays for the snapshots that are read through
    /// it.
    next: OnceLock<Box<Mapping>>,
}

/// A mapping, and the number of its first pages that can be lent without a check. They belong to a
/// snapshot, and the file has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    mapping: &'a Mapping,
    pages: u64,
    /// The same in bytes.
    bytes: usize,
}

impl<'a> Window<'a> {
    pub(crate) const fn mapping(self) -> &'a Mapping {
        self.mapping
    }

    /// How many.
    #[inline]
    pub(crate) const fn pages(self) -> u64 {
        self.pages
    }

    /// Lends a page; `None` if it must be asked for with [`Mapping::run`].
    #[inline(always)]
    pub(crate) fn page(self, pgno: Pgno) -> Option<&'a [u8]> {
        if pgno.0 >= self.pages {
            return None;
        }
        let start = self.start_of(pgno);
        // SAFETY: `pgno` is below `pages`, so the map and the file have the whole page. It belongs
        // to a pinned snapshot or to the writer's base: no process cuts it off or changes it.
        Some(unsafe { self.mapping.map.bytes_inside(start, self.mapping.page_size) })
    }

    /// Where one of its pages begins, in bytes from the beginning of the map.
    #[inline(always)]
    pub(crate) const fn start_of(self, pgno: Pgno) -> usize {
        (pgno.0 << self.mapping.page_shift) as usize
    }

    /// Lends bytes of one of its pages; `None` where it has not all of them.
    #[inline(always)]
    pub(crate) fn bytes(self, start: usize, len: usize) -> Option<&'a [u8]> {
        if self.bytes.checked_sub(start)? < len {
            return None;
        }
        // SAFETY: a window is made over pages that the map and the file have as a whole. They
        // belong to a pinned snapshot or to the writer's base: no process cuts them off or changes
        // them.
        Some(unsafe { self.mapping.map.bytes_inside(start, len) })
    }
}

impl Mapping {
    /// A window over the pages up to `last`.
    #[inline]
    pub(crate) fn window(&self, last: Pgno) -> Window<'_> {
        // A number in a register: a window stored elsewhere and fetched from there soon after would
        // be waited for.
        let pages = self.pages_up_to(last);
        Window {
            mapping: self,
            pages,
            bytes: (pages << self.page_shift) as usize,
        }
    }

    /// How many of the pages up to `last` the map and the file have.
    fn pages_up_to(&self, last: Pgno) -> u64 {
        let wanted = last.0.saturating_add(1);
        let before = self.last_seen.load(Ordering::Relaxed);
        if before != last.0 {
            self.last_seen.store(last.0, Ordering::Relaxed);
            if last.0 < before {
                // A file that cannot be asked now is asked when it seems too short.
                let _ = self.refresh_len();
            }
        }
        let pages_in = |bytes: u64| bytes >> self.page_shift;
        let mut pages = pages_in(self.file_len.load(Ordering::Relaxed));
        if pages < wanted {
            // A file that cannot be asked is asked again, and complained about, when the page is
            // needed.
            pages = self.refresh_len().map_or(pages, pages_in);
        }
        wanted.min(pages).min(pages_in(self.map.len() as u64))
    }

    /// Returns a window without pages, for a transaction that has no snapshot yet. It says nothing
    /// about the end of the file's pages.
    pub(crate) fn empty_window(&self) -> Window<'_> {
        Window {
            mapping: self,
            pages: 0,
            bytes: 0,
        }
    }

    pub(crate) fn new(
        file: Arc<DataFile>,
        map: Map,
        page_size: usize,
    ) -> Result<Mapping, BoxedError> {
        let len = file
            .len()
            .map_err(Error::io("reading the data file's length"))?;
        Ok(Mapping {
            file,
            map,
            page_size,
            page_shift: page_size.trailing_zeros(),
            file_len: AtomicU64::new(len),
            last_seen: AtomicU64::new(0),
            next: OnceLock::new(),
        })
    }

    /// The mapping in use today. An operation on a snapshot asks once.
    #[inline]
    pub(crate) fn current(&self) -> &Mapping {
        let mut mapping = self;
        while let Some(next) = mapping.next.get() {
            mapping = next;
        }
        mapping
    }

    /// Puts another mapping of the same file in the place of this one, which must be the current
    /// one.
    pub(crate) fn replace(&self, next: Mapping) -> Result<(), BoxedError> {
        let raced = || io::Error::other("two threads replaced it at once");
        self.next
            .set(Box::new(next))
            .map_err(|_| Error::io("replacing the map")(raced()))
    }

    /// Returns true if a page of this mapping, or of one that took its place, was touched and not
    /// there.
    #[cold]
    pub(super) fn is_lost(&self) -> bool {
        let mut mapping = Some(self);
        while let Some(one) = mapping {
            if one.map.is_lost() {
                return true;
            }
            mapping = one.next.get().map(Box::as_ref);
        }
        false
    }

    pub(crate) fn file(&self) -> &DataFile {
        &self.file
    }

    pub(crate) fn shared_file(&self) -> Arc<DataFile> {
        Arc::clone(&self.file)
    }

    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    pub(crate) const fn page_size(&self) -> usize {
        self.page_size
    }

    /// Lends `len` bytes from the start of page `first` on.
    ///
    /// The caller keeps the pages from changing. They belong to a snapshot that it has pinned, or
    /// to its own write transaction.
    #[inline]
    pub(crate) fn run(&self, first: Pgno, len: usize) -> Result<&[u8], BoxedError> {
        let start = self.place(first, len)?;
        // SAFETY: `place` has seen that the file has these bytes. The free list keeps every process
        // from changing pages of a pinned snapshot. The writer changes only its own pages, and
        // lends them under its exclusive borrow.
        match unsafe { self.map.bytes(start, len) } {
            Some(bytes) => Ok(bytes),
            None => Err(Error::BeyondEnd(first).into()),
        }
    }

    /// Lends bytes of the writer's private pages for changing, in an environment with a writable
    /// map.
    #[expect(
        clippy::mut_from_ref,
        reason = "exclusivity is per page and rests with the one writer"
    )]
    pub(crate) fn run_mut(&self, first: Pgno, len: usize) -> Result<&mut [u8], BoxedError> {
        let start = self.place(first, len)?;
        // SAFETY: `place` has seen that the file has these bytes. The caller is the one writer, and
        // the pages are private to its transaction: no snapshot reaches them. It lends them under
        // its own exclusive borrow.
        match unsafe { self.map.bytes_mut(start, len) } {
            Some(bytes) => Ok(bytes),
            None => Err(Error::BeyondEnd(first).into()),
        }
    }

    /// Copies the beginning of a meta page, which a committing process may be changing, word by
    /// word.
    #[inline]
    pub(super) fn copy_meta(&self, pgno: u64, bytes: &mut [u8]) -> Result<(), BoxedError> {
        let start = self.place(Pgno(pgno), bytes.len())?;
        // SAFETY: `place` has checked that the file has these bytes. Meta pages are only ever lent
        // as words, never as plain references.
        let copied = unsafe { self.map.copy_words(start, bytes) };
        copied.map_err(|_| Error::BeyondEnd(Pgno(pgno)).into())
    }

    /// Stores words of a meta page in a writable map, in order.
    pub(super) fn store_meta(&self, pgno: u64, at: usize, words: &[u64]) -> Result<(), BoxedError> {
        let start = self.place(Pgno(pgno), self.page_size)?;
        self.file.note_store(start + at, words);
        // SAFETY: `place` has checked that the file has these bytes. Meta pages are only ever lent
        // as words, never as plain references.
        let stored = unsafe { self.map.store_words(start + at, words) };
        stored.map_err(|_| Error::BeyondEnd(Pgno(pgno)).into())
    }

    /// Flushes bytes of a writable map to the file; durable on return if `wait`.
    pub(crate) fn flush_map(&self, offset: usize, len: usize, wait: bool) -> io::Result<()> {
        self.file.flush_map(&self.map, offset, len, wait)
    }

    /// Returns where a run begins in the map, after checking that the file has all of it.
    #[inline(always)]
    fn place(&self, first: Pgno, len: usize) -> Result<usize, BoxedError> {
        // Page numbers that would overflow are far behind the end of any file.
        let start = first.0.min(u64::MAX >> 17) << self.page_shift;
        let mask = self.page_size as u64 - 1;
        // Only whole pages count.
        let end = (start + len as u64 + mask) & !mask;
        if end > self.file_len.load(Ordering::Relaxed) && end > self.refresh_len()? {
            return Err(Error::BeyondEnd(first).into());
        }
        Ok(start as usize)
    }

    /// The file's length when it was last asked for.
    pub(crate) fn known_len(&self) -> u64 {
        self.file_len.load(Ordering::Relaxed)
    }

    /// Asks the system for the file's length.
    #[cold]
    pub(crate) fn refresh_len(&self) -> Result<u64, BoxedError> {
        let len = self
            .file
            .len()
            .map_err(Error::io("reading the data file's length"))?;
        self.file_len.store(len, Ordering::Relaxed);
        Ok(len)
    }

    /// Makes the file at least `len` bytes long.
    pub(crate) fn extend_to(&self, len: u64) -> Result<(), BoxedError> {
        if self.file_len.load(Ordering::Relaxed) < len && self.refresh_len()? < len {
            // Never the other way: another process may have let it grow further since.
            self.file
                .grow_to(len)
                .map_err(Error::io("growing the data file"))?;
            self.refresh_len()?;
        }
        Ok(())
    }
}
