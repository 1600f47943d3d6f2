//! The search in byte order: compares keys as words, and returns `None` for every failure.

use alloc::vec::Vec;
use fulgurite_format::{LexicalKey, Page, PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch, prefetch_at_offset};

use super::super::prefetch::HEAD_LINES;
use super::limits::{GROUP, NEAR_MAX, VALUE_LINES};
use crate::space::PageView;
use crate::tree::{Pages, Tree};
use crate::value;

/// One of the searches.
#[derive(Clone, Copy)]
struct WordSearch<'t, 'k> {
    key: LexicalKey<'k>,
    pgno: Pgno,
    /// The bytes of its current page.
    bytes: &'t [u8],
    page: Page<'t>,
    /// The entry offsets that still can have the result.
    among: &'t [[u8; 2]],
}

/// Adds the values of up to [`GROUP`] keys to `values`.
pub(super) fn get_group_by_words<'t>(
    pages: PageView<'t>,
    tree: &Tree,
    keys: &[&[u8]],
    values: &mut Vec<Option<&'t [u8]>>,
) -> Option<()> {
    pages.check_readable().ok()?;
    let start = WordSearch {
        key: LexicalKey::of(&[]),
        pgno: tree.record.root,
        bytes: pages.lend(tree.record.root)?,
        page: Page::empty(PageKind::Leaf),
        among: &[],
    };
    let mut searches = [start; GROUP];
    for (search, key) in searches.iter_mut().zip(keys) {
        search.key = LexicalKey::of(key);
    }
    let count = keys.len().min(GROUP);
    let branches = tree
        .record
        .branch_pages
        .saturating_mul(pages.page_size() as u64);
    for _ in 1..tree.record.depth {
        if branches > NEAR_MAX {
            go_down_in_step(pages, &mut searches, count)?;
            continue;
        }
        for search in searches.iter_mut().take(count) {
            search.page = Page::parse(search.bytes, search.pgno, PageKind::Branch).ok()?;
            let index = search.page.branch_for(&search.key)?;
            search.go_down(pages, index)?;
        }
    }
    for search in searches.iter_mut().take(count) {
        search.begin(PageKind::Leaf, 0)?;
    }
    in_step(&mut searches, count);
    for search in searches.iter().take(count) {
        search.expect_value(pages);
    }
    for search in searches.iter().take(count) {
        values.push(search.value(pages, tree)?);
    }
    Some(())
}

/// Takes all searches one level down.
#[inline(never)]
fn go_down_in_step<'t>(
    pages: PageView<'t>,
    searches: &mut [WordSearch<'t, '_>; GROUP],
    count: usize,
) -> Option<()> {
    for search in searches.iter_mut().take(count) {
        search.begin(PageKind::Branch, 1)?;
    }
    in_step(searches, count);
    for search in searches.iter_mut().take(count) {
        let (low, left) = search.page.narrowed(search.among);
        let (index, exact) = if left == 0 {
            (low, false)
        } else {
            let page = search.page;
            page.position_between(low, low + left, &search.key)?
        };
        search.go_down(pages, index - usize::from(!exact))?;
    }
    Some(())
}

/// Narrows the searches as far as words decide, one step of each at a time.
#[inline(always)]
fn in_step(searches: &mut [WordSearch<'_, '_>; GROUP], count: usize) {
    let mut unfinished: u32 = (1 << count) - 1;
    while unfinished != 0 {
        let mut turn = unfinished;
        while turn != 0 {
            let number = turn.trailing_zeros();
            turn &= turn - 1;
            let search = &mut searches[number as usize % GROUP];
            let page = search.page;
            if page.halve(&mut search.among, &search.key) {
                search.expect_probe();
            } else {
                unfinished &= !(1 << number);
            }
        }
    }
}

impl<'t> WordSearch<'t, '_> {
    /// Goes to a child, and prefetches its first lines.
    #[inline(always)]
    fn go_down(&mut self, pages: PageView<'t>, index: usize) -> Option<()> {
        self.pgno = self.page.child_if_sound(index)?;
        if self.pgno < Pgno::FIRST_DATA {
            return None;
        }
        self.bytes = pages.lend(self.pgno)?;
        for line in 0..HEAD_LINES {
            prefetch_at_offset(self.bytes, line * CACHE_LINE);
        }
        Some(())
    }

    /// Begins in the page, and prefetches the first probe.
    #[inline(always)]
    fn begin(&mut self, kind: PageKind, from: usize) -> Option<()> {
        self.page = Page::parse(self.bytes, self.pgno, kind).ok()?;
        self.among = self.page.among(from)?;
        self.expect_probe();
        Some(())
    }

    #[inline(always)]
    fn expect_probe(&self) {
        if let Some(at) = Page::raw_middle_offset(self.among) {
            prefetch_at_offset(self.bytes, at);
        }
    }

    /// Prefetches the value of the entry that has the key if any has.
    #[inline(always)]
    fn expect_value(&self, pages: PageView<'t>) {
        let (low, left) = self.page.narrowed(self.among);
        if left == 0 {
            return;
        }
        if let Some((_, value)) = self.page.plain_record(low + left / 2) {
            for line in 0..VALUE_LINES.min(value.len() / CACHE_LINE + 1) {
                prefetch_at_offset(value, line * CACHE_LINE);
            }
        } else if let Ok(node) = self.page.leaf(low + left / 2)
            && let Some(first) = node.overflow()
            && let Some(run) = pages.lend(first)
        {
            prefetch(run);
        }
    }

    /// Returns the value of the key; `Some(None)` if there is no such key.
    #[inline(always)]
    fn value(&self, pages: PageView<'t>, tree: &Tree) -> Option<Option<&'t [u8]>> {
        let (low, left) = self.page.narrowed(self.among);
        if left == 0 {
            return Some(None);
        }
        match self.page.plain_record(low + left / 2) {
            Some((found, value)) if self.key.is(found) => Some(Some(value)),
            _ => self.value_otherwise(pages, tree, low, left),
        }
    }

    /// As [`WordSearch::value`] where words did not decide, or the value is not alone in the leaf.
    #[inline(never)]
    fn value_otherwise(
        &self,
        pages: PageView<'t>,
        tree: &Tree,
        low: usize,
        left: usize,
    ) -> Option<Option<&'t [u8]>> {
        let (index, exact) = self.page.position_between(low, low + left, &self.key)?;
        if !exact {
            return Some(None);
        }
        let node = self.page.leaf(index).ok()?;
        let value = if tree.has_duplicates() {
            value::first_value(pages, tree, self.pgno, &node)
        } else {
            value::value_of(pages, self.pgno, &node)
        };
        value.ok().map(Some)
    }
}
