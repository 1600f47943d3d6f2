//! The search for all orders: reports errors.

use alloc::vec::Vec;
use core::cmp::Ordering;

use fulgurite_format::{LeafNode, Malformed, Page, PageKind, Pgno};
use fulgurite_os::{prefetch, prefetch_first_lines};

use super::super::prefetch::HEAD_LINES;
use super::limits::{GROUP, NEAR_MAX, VALUE_LINES};
use crate::boxed_error::BoxedError;
use crate::order::{integer, lexical, reverse};
use crate::space::PageView;
use crate::tree::{self, Pages, Tree};
use crate::{CustomOrder, Error, value};

/// An order as a type, so that the comparison is inlined. A call would cost as much as the
/// comparison.
pub(super) trait Compare: Copy {
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering;
}

#[derive(Clone, Copy)]
pub(super) struct Lexical;
#[derive(Clone, Copy)]
pub(super) struct Reverse;
#[derive(Clone, Copy)]
pub(super) struct Integer;

impl Compare for Lexical {
    #[inline(always)]
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        lexical(a, b)
    }
}

impl Compare for Reverse {
    #[inline(always)]
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        reverse(a, b)
    }
}

impl Compare for Integer {
    #[inline(always)]
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        integer(a, b)
    }
}

impl Compare for CustomOrder {
    #[inline(always)]
    fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        (self.call)(self.context, a, b)
    }
}

/// One search of the group. The result in its page is from `low` up to `high`.
#[derive(Debug, Clone, Copy)]
struct Search<'t> {
    pgno: Pgno,
    page: Page<'t>,
    low: usize,
    high: usize,
    /// The bytes of the page from the next probed entry on, which were prefetched.
    entry: &'t [u8],
}

impl<'t> Search<'t> {
    /// Begins in the prefetched page. Entry 0 of a branch has no key.
    #[inline(always)]
    fn begin(&mut self, pages: PageView<'t>, kind: PageKind) -> Result<(), BoxedError> {
        self.page = pages.tree_page(self.pgno, kind)?;
        if self.page.is_empty() {
            return Err(Error::at(self.pgno)(Malformed::TooFewEntries(0)));
        }
        self.low = usize::from(kind == PageKind::Branch);
        self.high = self.page.len();
        Ok(())
    }

    /// Prefetches the entry in the middle.
    #[inline(always)]
    fn expect_probe(&mut self) {
        self.entry = self.page.from_entry(self.middle()).unwrap_or_default();
        prefetch(self.entry);
    }

    #[inline(always)]
    const fn middle(&self) -> usize {
        (self.low + self.high) / 2
    }

    /// Compares with the prefetched entry; `goes_behind` is true if the result is after it. Returns
    /// true if it prefetched another.
    ///
    /// There is no branch on the outcome, because the processor could not predict it.
    #[inline(always)]
    fn probe(&mut self, goes_behind: impl Fn(&[u8]) -> bool) -> Result<bool, BoxedError> {
        let middle = self.middle();
        let Some(found) = Page::entry_key(self.entry) else {
            return Err(Error::at(self.pgno)(Malformed::Node(middle)));
        };
        let behind = goes_behind(found);
        self.low = if behind { middle + 1 } else { self.low };
        self.high = if behind { self.high } else { middle };
        if self.low < self.high {
            self.expect_probe();
        }
        Ok(self.low < self.high)
    }

    /// Goes to the child that covers the key, and prefetches it.
    #[inline(always)]
    fn go_down(&mut self, pages: PageView<'t>) -> Result<(), BoxedError> {
        self.pgno = tree::child_at(pages, &self.page, self.pgno, self.low - 1)?;
        let head = pages.page(self.pgno)?;
        prefetch_first_lines(head, HEAD_LINES);
        Ok(())
    }

    /// Returns the entry that has the key if any has, and prefetches its value.
    #[inline(always)]
    fn found(&self, pages: PageView<'t>) -> Result<Option<LeafNode<'t>>, BoxedError> {
        if self.low >= self.page.len() {
            return Ok(None);
        }
        let node = self.page.leaf(self.low).map_err(Error::at(self.pgno))?;
        match node.overflow() {
            Some(first) => {
                // A damaged run is reported when it is read.
                if let Ok(run) = pages.page(first) {
                    prefetch(run);
                }
            }
            None => prefetch_first_lines(node.data, VALUE_LINES),
        }
        Ok(Some(node))
    }
}

/// As [`super::get_many`] for up to [`GROUP`] keys.
pub(super) fn get_group<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    keys: &[&[u8]],
    values: &mut Vec<Option<&'t [u8]>>,
    order: impl Compare,
) -> Result<(), BoxedError> {
    pages.check_readable()?;
    let start = Search {
        pgno: tree.record.root,
        page: Page::empty(tree.leaf),
        low: 0,
        high: 0,
        entry: &[],
    };
    let mut searches = [start; GROUP];
    let searches = searches.get_mut(..keys.len()).unwrap_or_default();
    go_to_leaves(pages, tree, searches, keys, order)?;
    for search in searches.iter_mut() {
        search.begin(pages, PageKind::Leaf)?;
    }
    in_step(searches, keys, |found, key| {
        order.compare(found, key).is_lt()
    })?;
    let mut nodes = [None; GROUP];
    for (node, search) in nodes.iter_mut().zip(searches.iter()) {
        *node = search.found(pages)?;
    }
    for ((node, search), key) in nodes.iter().zip(searches.iter()).zip(keys) {
        values.push(match node {
            Some(node) if order.compare(node.key, key).is_eq() => Some(if tree.has_duplicates() {
                value::first_value(pages, tree, search.pgno, node)?
            } else {
                value::value_of(pages, search.pgno, node)?
            }),
            _ => None,
        });
    }
    Ok(())
}

/// Takes all searches from the root down to their leaves.
#[inline(always)]
fn go_to_leaves<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    searches: &mut [Search<'t>],
    keys: &[&[u8]],
    order: impl Compare,
) -> Result<(), BoxedError> {
    let branches = tree
        .record
        .branch_pages
        .saturating_mul(pages.page_size() as u64);
    for _ in 1..tree.record.depth {
        for search in searches.iter_mut() {
            search.begin(pages, PageKind::Branch)?;
        }
        if branches > NEAR_MAX {
            in_step(searches, keys, |found, key| {
                order.compare(found, key).is_le()
            })?;
        } else {
            for (search, key) in searches.iter_mut().zip(keys) {
                let (index, exact) = search
                    .page
                    .search(1, |found| order.compare(found, key))
                    .map_err(Error::at(search.pgno))?;
                search.low = index + usize::from(exact);
            }
        }
        for search in searches.iter_mut() {
            search.go_down(pages)?;
        }
    }
    Ok(())
}

/// Finishes the searches in their pages, one probe of each at a time.
#[inline(always)]
fn in_step(
    searches: &mut [Search<'_>],
    keys: &[&[u8]],
    goes_behind: impl Fn(&[u8], &[u8]) -> bool + Copy,
) -> Result<(), BoxedError> {
    for search in searches.iter_mut() {
        search.expect_probe();
    }
    let mut unfinished = true;
    while unfinished {
        unfinished = false;
        for (search, key) in searches.iter_mut().zip(keys) {
            if search.low < search.high {
                unfinished |= search.probe(|found| goes_behind(found, key))?;
            }
        }
    }
    Ok(())
}
