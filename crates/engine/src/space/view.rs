//! The pages that a reader or the writer sees.

use fulgurite_format::{Pgno, layout};

use super::dirty_pages::DirtyPages;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::Window;
use crate::reader::EndMark;
use crate::tree::Pages;

/// The pages of one snapshot, with the writer's private ones on top if it is the writer's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageView<'a> {
    pub(super) window: Window<'a>,
    pub(super) last: Pgno,
    pub(super) dirty: Option<&'a DirtyPages>,
    /// True if all pages in memory are private: none belongs to the surroundings of a nested
    /// transaction.
    pub(super) is_flat: bool,
    /// Stops a reader that is asked to end.
    pub(super) mark: EndMark<'a>,
}

impl<'a> PageView<'a> {
    /// The pages of a snapshot.
    #[inline]
    pub(crate) const fn of_snapshot(
        window: Window<'a>,
        last: Pgno,
        mark: EndMark<'a>,
    ) -> PageView<'a> {
        PageView {
            window,
            last,
            dirty: None,
            is_flat: false,
            mark,
        }
    }

    /// Returns an error if the reader must stop; for walks that do not ask the transaction at each
    /// step.
    /// # Errors
    /// [`Error::ReaderEnded`].
    #[inline]
    pub(crate) fn check_readable(self) -> Result<(), BoxedError> {
        self.mark.check()
    }
}

impl PageView<'_> {
    /// How many pages the file and the writer's memory have, `wanted` or more of them if they have
    /// as many.
    #[cold]
    fn pages_there(self, wanted: u64) -> u64 {
        debug_assert!(wanted > 0);
        let mapping = self.window.mapping().current();
        let private = self.dirty.map_or(0, |dirty| dirty.bytes()) as u64;
        let pages_in =
            |bytes: u64| layout::whole_pages(bytes.saturating_add(private), mapping.page_size());
        let known = pages_in(mapping.known_len());
        if known >= wanted {
            return known;
        }
        // A file that cannot be asked is asked again, and complained about, when the page is
        // needed.
        mapping.refresh_len().map_or(wanted, pages_in)
    }
}

impl<'a> Pages<'a> for PageView<'a> {
    fn page_size(self) -> usize {
        self.window.mapping().page_size()
    }

    fn last(self) -> Pgno {
        self.last
    }

    #[inline(always)]
    fn lend(self, pgno: Pgno) -> Option<&'a [u8]> {
        let private = self.dirty.and_then(|dirty| dirty.get(pgno));
        private.or_else(|| self.window.page(pgno))
    }

    #[inline(always)]
    fn lend_marked(self, pgno: Pgno) -> Option<(&'a [u8], bool)> {
        if let Some(private) = self.dirty.and_then(|dirty| dirty.get(pgno)) {
            return Some((private, self.is_flat));
        }
        self.window.page(pgno).map(|page| (page, false))
    }

    #[inline(always)]
    fn page(self, pgno: Pgno) -> Result<&'a [u8], BoxedError> {
        let private = self.dirty.and_then(|dirty| dirty.find(pgno));
        match private.or_else(|| self.window.page(pgno)) {
            Some(page) => Ok(page),
            None => self.run(pgno, self.window.mapping().page_size()),
        }
    }

    #[inline]
    fn are_fewer_than(self, count: u64) -> bool {
        count > self.window.pages() && (count > self.last.0 || count > self.pages_there(count))
    }

    fn run(self, first: Pgno, len: usize) -> Result<&'a [u8], BoxedError> {
        debug_assert!(len > 0);
        if first > self.last {
            return Err(Error::BeyondEnd(first).into());
        }
        if let Some(bytes) = self.dirty.and_then(|dirty| dirty.find(first)) {
            return bytes.get(..len).ok_or_else(Error::beyond_end(first));
        }
        // The writer may have let the map outgrow its first reservation.
        self.window.mapping().current().run(first, len)
    }
}
