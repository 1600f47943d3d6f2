//! Many keys at once, so that the memory's answers overlap.
//!
//! ```text
//!            one by one                       in step
//!   key 1    probe wait probe wait ...        probe . . probe . . probe
//!   key 2                                       probe . . probe . . probe        "." is a wait that others' probes fill
//!   key 3                                         probe . . probe . . probe
//! ```
//! A search in a page that is in no cache waits for memory at nearly every probe. A group of searches goes through
//! the tree level by level and probe by probe, each asking for the cache lines of its next probe before it is the turn of
//! the others.

use std::cmp::Ordering;

use fulgurite_format::{LeafNode, Malformed, Page, PageKind, Pgno, V09};
use fulgurite_os::{CACHE_LINE, prefetch};

use crate::order::{integer, lexical, reverse};
use crate::space::PageView;
use crate::tree::{self, Pages, Tree};
use crate::{Error, KeyOrder, value};

/// Keys that are sought in step: about as many cache lines as a processor core waits for at a time.
const GROUP: usize = 16;
/// Lines of a page that hold its header and, mostly, where its entries begin.
const HEAD_LINES: usize = 2;
/// Lines of a value that whoever asked for it is likely to look at.
const VALUE_LINES: usize = 3;

/// Adds the value of each key to `values`, the first if it has several, in the order of the keys.
pub(crate) fn get_many<'t, K: AsRef<[u8]>>(
    pages: PageView<'t>,
    tree: &Tree,
    keys: &[K],
    values: &mut Vec<Option<&'t [u8]>>,
) -> Result<(), Error> {
    values.reserve(keys.len());
    if tree.record.root.is_none() {
        values.extend(keys.iter().map(|_| None));
        return Ok(());
    }
    for group in keys.chunks(GROUP) {
        let mut sought: [&[u8]; GROUP] = [&[]; GROUP];
        for (to, key) in sought.iter_mut().zip(group) {
            *to = key.as_ref();
        }
        let sought = sought.get(..group.len()).unwrap_or_default();
        // Each order has its own copy of the search, with the comparison inlined.
        match tree.order {
            KeyOrder::Lexical => get_group(pages, tree, sought, values, lexical),
            KeyOrder::Reverse => get_group(pages, tree, sought, values, reverse),
            KeyOrder::Integer => get_group(pages, tree, sought, values, integer),
            KeyOrder::Custom(order) => get_group(pages, tree, sought, values, |a, b| {
                (order.call)(order.context, a, b)
            }),
        }?;
    }
    Ok(())
}

/// One of the searches: in its page the first entry that is not smaller than the key is from `low` on up to `high`.
#[derive(Debug, Clone, Copy)]
struct Search<'t> {
    pgno: Pgno,
    page: Page<'t, V09>,
    low: usize,
    high: usize,
    is_exact: bool,
}

impl<'t> Search<'t> {
    /// Asks for what a search in a page looks at first.
    #[inline]
    fn expect(pages: PageView<'t>, pgno: Pgno) -> Result<(), Error> {
        let head = pages.page(pgno)?;
        for line in head.chunks(CACHE_LINE).take(HEAD_LINES) {
            prefetch(line);
        }
        Ok(())
    }

    /// Begins in the page asked for.
    #[inline]
    fn begin(&mut self, pages: PageView<'t>, kind: PageKind) -> Result<(), Error> {
        self.page = pages.tree_page(self.pgno, kind)?;
        if self.page.is_empty() {
            return Err(Error::at(self.pgno)(Malformed::TooFewEntries(0)));
        }
        // Entry 0 of a branch has no key.
        self.low = usize::from(kind == PageKind::Branch);
        self.high = self.page.len();
        self.is_exact = false;
        self.expect_probe();
        Ok(())
    }

    #[inline]
    fn expect_probe(&self) {
        if let Some(node) = self.page.from_entry(self.middle()) {
            prefetch(node);
        }
    }

    #[inline]
    const fn middle(&self) -> usize {
        (self.low + self.high) / 2
    }

    /// Compares with the entry asked for; tells whether there is another one to compare with, which is asked for.
    #[inline]
    fn probe(
        &mut self,
        key: &[u8],
        compare: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> Result<bool, Error> {
        let middle = self.middle();
        let found = self.page.key(middle).map_err(Error::at(self.pgno))?;
        match compare(found, key) {
            Ordering::Less => self.low = middle + 1,
            Ordering::Greater => self.high = middle,
            Ordering::Equal => {
                (self.low, self.high) = (middle, middle);
                self.is_exact = true;
            }
        }
        if self.low < self.high {
            self.expect_probe();
        }
        Ok(self.low < self.high)
    }

    /// Goes to the child that covers the key, which is asked for.
    #[inline]
    fn go_down(&mut self, pages: PageView<'t>) -> Result<(), Error> {
        let index = self.low - usize::from(!self.is_exact);
        self.pgno = tree::child_at(pages, &self.page, self.pgno, index)?;
        Search::expect(pages, self.pgno)
    }

    /// The entry found, with what it refers to asked for.
    #[inline]
    fn found(&self, pages: PageView<'t>) -> Result<Option<LeafNode<'t>>, Error> {
        if !self.is_exact {
            return Ok(None);
        }
        let node = self.page.leaf(self.low).map_err(Error::at(self.pgno))?;
        match node.overflow() {
            Some(first) => {
                // What is wrong with the run is noticed when it is read.
                if let Ok(run) = pages.page(first) {
                    prefetch(run);
                }
            }
            None => {
                for line in node.data.chunks(CACHE_LINE).take(VALUE_LINES) {
                    prefetch(line);
                }
            }
        }
        Ok(Some(node))
    }
}

/// As [`get_many`] for up to [`GROUP`] keys.
fn get_group<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    keys: &[&[u8]],
    values: &mut Vec<Option<&'t [u8]>>,
    compare: impl Fn(&[u8], &[u8]) -> Ordering + Copy,
) -> Result<(), Error> {
    let start = Search {
        pgno: tree.record.root,
        page: Page::empty(tree.leaf),
        low: 0,
        high: 0,
        is_exact: false,
    };
    let mut searches = [start; GROUP];
    let searches = searches.get_mut(..keys.len()).unwrap_or_default();
    for level in 0..usize::from(tree.record.depth) {
        let kind = tree.kind_at(level);
        for search in searches.iter_mut() {
            search.begin(pages, kind)?;
        }
        let mut unfinished = true;
        while unfinished {
            unfinished = false;
            for (search, key) in searches.iter_mut().zip(keys) {
                if search.low < search.high {
                    unfinished |= search.probe(key, compare)?;
                }
            }
        }
        if kind == PageKind::Branch {
            for search in searches.iter_mut() {
                search.go_down(pages)?;
            }
        }
    }
    let mut nodes = [None; GROUP];
    for (node, search) in nodes.iter_mut().zip(searches.iter()) {
        *node = search.found(pages)?;
    }
    for (node, search) in nodes.iter().zip(searches.iter()) {
        values.push(match node {
            None => None,
            Some(node) if tree.has_duplicates() => {
                Some(value::first_value(pages, tree, search.pgno, node)?)
            }
            Some(node) => Some(value::value_of(pages, search.pgno, node)?),
        });
    }
    Ok(())
}
