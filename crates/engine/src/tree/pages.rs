//! The pages that trees are made of: two traits, to read them and to change them.

use fulgurite_format::{LeafNode, Page, PageKind, PageMut, Pgno, layout, write_overflow_header};

use super::path::Step;
use crate::Error;
use crate::boxed_error::BoxedError;

/// Pages of one snapshot, to read.
pub(crate) trait Pages<'p>: Copy {
    /// Size of a page in bytes.
    fn page_size(self) -> usize;
    /// The last page that belongs to the snapshot.
    fn last(self) -> Pgno;
    /// The bytes of one page.
    fn page(self, pgno: Pgno) -> Result<&'p [u8], BoxedError>;
    /// Returns the bytes of one page if the snapshot has it and no check is needed. Otherwise
    /// [`Pages::page`] reports the error.
    #[inline(always)]
    fn lend(self, pgno: Pgno) -> Option<&'p [u8]> {
        self.page(pgno).ok()
    }
    /// As [`Pages::lend`]. Also returns true if the page is known to be private to this
    /// transaction.
    #[inline(always)]
    fn lend_marked(self, pgno: Pgno) -> Option<(&'p [u8], bool)> {
        self.lend(pgno).map(|page| (page, false))
    }
    /// `len` bytes from the start of page `first` on, across page borders.
    fn run(self, first: Pgno, len: usize) -> Result<&'p [u8], BoxedError>;

    /// Returns true if there are fewer pages than that many. No walk through a sound tree meets
    /// more pages, so this detects cycles and repeated subtrees. The snapshot's own count is not
    /// enough: it may claim more pages than the file has.
    fn are_fewer_than(self, count: u64) -> bool {
        count > self.last().0
    }

    /// A checked tree page.
    #[inline(never)]
    fn tree_page(self, pgno: Pgno, kind: PageKind) -> Result<Page<'p>, BoxedError> {
        let bytes = self.page(pgno)?;
        match Page::parse(bytes, pgno, kind) {
            Ok(page) => Ok(page),
            Err(_) => page_error(bytes, pgno, kind),
        }
    }

    /// As [`Pages::tree_page`], where a call would show in the cost of a put or a step.
    #[inline(always)]
    fn tree_page_inlined(self, pgno: Pgno, kind: PageKind) -> Result<Page<'p>, BoxedError> {
        let lent = self.lend(pgno);
        match lent.and_then(|bytes| Page::parse(bytes, pgno, kind).ok()) {
            Some(page) => Ok(page),
            None => self.tree_page(pgno, kind),
        }
    }

    /// The checked node of a leaf entry, of a tree whose leaves have nodes.
    #[inline(never)]
    fn leaf_node(self, place: Step) -> Result<LeafNode<'p>, BoxedError> {
        self.tree_page(place.pgno, PageKind::Leaf)?
            .leaf(place.index)
            .map_err(Error::at(place.pgno))
    }
}

/// Why a page is none of a tree.
#[cold]
#[inline(never)]
fn page_error(bytes: &[u8], pgno: Pgno, kind: PageKind) -> Result<Page<'_>, BoxedError> {
    Page::parse(bytes, pgno, kind).map_err(Error::at(pgno))
}

/// Pages of one write transaction.
pub(crate) trait PagesMut {
    type View<'a>: Pages<'a>
    where
        Self: 'a;

    /// The pages as they are now.
    fn view(&self) -> Self::View<'_>;
    /// Makes sure that a tree page is private to the transaction; returns the number it has from
    /// now on.
    fn touch(&mut self, pgno: Pgno, kind: PageKind) -> Result<Pgno, BoxedError>;
    /// A private page whose nodes were all checked: removal of a node moves the others, so they
    /// must be sound. A page needs to be checked once.
    fn sound_page_mut(&mut self, pgno: Pgno, kind: PageKind) -> Result<PageMut<'_>, BoxedError> {
        let page = PageMut::parse(self.page_mut(pgno)?, pgno, kind).map_err(Error::at(pgno))?;
        page.view().check_nodes().map_err(Error::at(pgno))?;
        Ok(page)
    }
    /// As [`PagesMut::sound_page_mut`], of a leaf that is given no new nodes. Also returns true if
    /// the nodes of all its sub-pages are known to be sound.
    fn sound_leaf_mut(&mut self, pgno: Pgno) -> Result<(PageMut<'_>, bool), BoxedError> {
        Ok((self.sound_page_mut(pgno, PageKind::Leaf)?, false))
    }
    /// The bytes of a private page.
    fn page_mut(&mut self, pgno: Pgno) -> Result<&mut [u8], BoxedError>;
    /// `len` bytes from the start of a private run on.
    fn run_mut(&mut self, first: Pgno, len: usize) -> Result<&mut [u8], BoxedError>;
    /// Takes `count` consecutive pages; their contents are undefined.
    fn allocate(&mut self, count: u64) -> Result<Pgno, BoxedError>;
    /// Takes `count` consecutive pages for a value, an overflow run, and stores it there.
    fn store_run(&mut self, count: u64, value: &[u8]) -> Result<Pgno, BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        let first = self.allocate(count)?;
        let header = layout::HEADER_LEN;
        let run = self.run_mut(first, header + value.len())?;
        // The allocation succeeded, so the count fits.
        write_overflow_header(run, first, count as u32);
        if let Some(room) = run.get_mut(header..) {
            room.copy_from_slice(value);
        }
        Ok(first)
    }
    /// Gives `count` consecutive pages up.
    fn release(&mut self, first: Pgno, count: u64) -> Result<(), BoxedError>;
}
