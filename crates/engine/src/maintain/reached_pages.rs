//! All pages that a snapshot reaches: the pages a backup of the snapshot has to keep.
//!
//! Each page is entered once. A page that is reached twice is damage, so no file can make the walk
//! run in circles. The walk reads every page in use except those inside overflow runs. It takes one
//! bit of memory per page in use.

use fulgurite_format::{META_PAGES, Malformed, Pgno};

use super::page_set::PageSet;
use super::walk::{References, RunReference, TreePage, TreeRole, TreeVisitor, visit_tree};
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::space::PageView;
use crate::tree::Pages;
use crate::txn::Sealed as _;
use crate::{Error, ReadTxn};

/// The pages that a snapshot reaches, from page 2 on.
///
/// They are the pages of its trees, of its overflow runs and of the tree of its free list. Free
/// pages are not among them.
#[derive(Debug)]
pub struct ReachedPages<'t> {
    pages: PageView<'t>,
    set: PageSet,
}

impl<'t> ReachedPages<'t> {
    /// Returns the number of pages.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.set.len()
    }

    /// Returns true if there are no pages: all databases and the free list are empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the snapshot reaches a page.
    #[must_use]
    pub fn contains(&self, pgno: Pgno) -> bool {
        self.set.contains(pgno.0)
    }

    /// Iterates over the pages in ascending order, each with its bytes in the map.
    ///
    /// The later pages of an overflow run have no header. An item is [`Error::BeyondEnd`] if the
    /// file ends before the page does. It is [`Error::ReaderEnded`] once a writer has asked the
    /// reader to end. Bytes read before that are invalid, unless [`ReadTxn::check_readable`]
    /// succeeds afterwards.
    pub fn iter(&self) -> impl Iterator<Item = Result<(Pgno, &'t [u8]), Error>> {
        let pages = self.pages;
        self.set.iter().map(move |pgno| {
            pages.check_readable()?;
            Ok((Pgno(pgno), pages.page(Pgno(pgno))?))
        })
    }
}

impl ReadTxn<'_> {
    /// Finds all pages that the snapshot reaches.
    ///
    /// It reads each page in use except those inside overflow runs. It takes one bit of memory per
    /// page in use.
    /// # Errors
    /// [`Error::Corrupted`] for a page of the wrong kind or one that is reached twice.
    /// [`Error::BeyondEnd`], and [`Error::TransactionFailed`] when the transaction is reset.
    pub fn reached_pages(&self) -> Result<ReachedPages<'_>, Error> {
        let pages = self.pages();
        let mut visitor = ReachedPagesVisitor {
            last: pages.last(),
            reached: PageSet::default(),
        };
        let meta = Pgno(self.id().0 % META_PAGES);
        let free = self.tree(Database::FREE_LIST)?.record;
        let main = self.tree(Database::MAIN)?.record;
        visit_tree(pages, &free, TreeRole::FreeList, meta, &mut visitor)?;
        visit_tree(pages, &main, TreeRole::Main, meta, &mut visitor)?;
        Ok(ReachedPages {
            pages,
            set: visitor.reached,
        })
    }
}

struct ReachedPagesVisitor {
    last: Pgno,
    reached: PageSet,
}

impl ReachedPagesVisitor {
    /// Adds `count` pages from `first` on, which page `holder` refers to.
    fn add(&mut self, first: Pgno, count: u64, holder: Pgno) -> Result<(), BoxedError> {
        let end = first.0.checked_add(count);
        let inside = end.is_some_and(|end| end <= self.last.0.saturating_add(1));
        if first < Pgno::FIRST_DATA || !inside {
            return Err(Error::at(holder)(Malformed::PageOutOfRange(first)));
        }
        for number in first.0..first.0 + count {
            if !self.reached.add(number) {
                return Err(Error::at(Pgno(number))(Malformed::Cycle));
            }
        }
        Ok(())
    }
}

impl TreeVisitor for ReachedPagesVisitor {
    fn references(&self) -> References {
        References::Followed
    }

    fn enter(&mut self, page: &TreePage) -> Result<(), BoxedError> {
        self.add(page.pgno, 1, page.pgno)
    }

    fn run(&mut self, run: &RunReference) -> Result<(), BoxedError> {
        self.add(run.first, run.count, run.leaf)
    }
}
