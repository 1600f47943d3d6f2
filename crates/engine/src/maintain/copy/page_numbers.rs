//! The page numbers that a compact copy gives out.

use fulgurite_format::{META_PAGES, Malformed, Pgno};

use crate::Error;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Pages as _;

/// Gives out consecutive page numbers, as many as the snapshot has pages at most.
pub(super) struct PageNumbers<'p> {
    pages: PageView<'p>,
    next: Pgno,
}

impl<'p> PageNumbers<'p> {
    pub(super) const fn new(pages: PageView<'p>) -> PageNumbers<'p> {
        PageNumbers {
            pages,
            next: Pgno::FIRST_DATA,
        }
    }

    /// Returns the first of the next `count` numbers.
    /// # Errors
    /// [`Error::Corrupted`] if the snapshot has fewer pages. A sound snapshot never needs more, so
    /// this also ends every cycle.
    pub(super) fn take(&mut self, count: u64) -> Result<Pgno, BoxedError> {
        debug_assert!(count > 0, "a page or run has a number");
        let first = self.next;
        self.next = Pgno(first.0.saturating_add(count));
        if self.pages.are_fewer_than(self.next.0 - 1) {
            return Err(Error::at(first)(Malformed::TreeRecord));
        }
        Ok(first)
    }

    /// Returns how many numbers were given out.
    pub(super) const fn taken(&self) -> u64 {
        self.next.0 - META_PAGES
    }
}
