//! State of the fast path: the pages that a position steps in, and what it has prefetched of them.

use fulgurite_format::{Page, PageHeader, PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use crate::env::Window;

/// The state of the fast path of a position.
#[derive(Debug, Clone)]
pub(super) struct FastState {
    /// Unless [`FastMode::Off`], the paths and the value index of the position are stale.
    pub(super) mode: FastMode,
    pub(super) keys: PageCursor,
    pub(super) values: PageCursor,
    pub(super) prefetch: PrefetchState,
    /// Start and length in the map of the key that has the values.
    pub(super) key_span: (usize, u32),
}

/// The largest part of one entry that is prefetched, in bytes. The processor continues by itself.
const ENTRY_MAX: usize = 4 * CACHE_LINE;

impl FastState {
    pub(super) const OFF: FastState = FastState {
        mode: FastMode::Off,
        keys: PageCursor::NONE,
        values: PageCursor::NONE,
        prefetch: PrefetchState::Nothing,
        key_span: (0, 0),
    };
}

/// What a place can take strides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FastMode {
    /// Nothing: it is where its ways say.
    Off,
    /// Keys; the one at hand has one value.
    Keys,
    /// Keys, and the values in a sub-page of the one at hand.
    SubPage,
    /// Keys, and the values in a leaf of the tree of the one at hand.
    Tree,
}

/// A page to walk in, or a sub-page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageCursor {
    /// Where it begins, in octets from the beginning of the map.
    pub(super) start: usize,
    /// Its size in octets.
    pub(super) len: u32,
    /// The entry stood on.
    pub(super) index: u32,
    pub(super) page: PageHeader,
    /// The page as far as strides go that look neither to the left nor to the right: see [`super::prefetch`].
    pub(super) near: PageHeader,
}

/// What the walk has asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum PrefetchState {
    /// Nothing that is not at hand.
    Nothing,
    /// Entries of the leaf at hand, those before this one.
    Entries(u32),
    /// The header of the next leaf.
    Head(Pgno),
    /// The nodes of the next leaf up to the first of these octets of the map.
    Nodes { from: usize, to: usize, part: usize },
}

impl PageCursor {
    pub(super) const NONE: PageCursor = PageCursor {
        start: 0,
        len: 0,
        index: 0,
        page: PageHeader::EMPTY,
        near: PageHeader::EMPTY,
    };

    /// A tree page, which has entries.
    #[inline(always)]
    pub(super) fn over(window: Window<'_>, pgno: Pgno, kind: PageKind) -> Option<PageCursor> {
        let octets = window.page(pgno).filter(|_| pgno >= Pgno::FIRST_DATA)?;
        let page = Page::parse(octets, pgno, kind).ok()?.header();
        (!page.is_empty()).then_some(PageCursor {
            start: window.start_of(pgno),
            len: octets.len() as u32,
            index: 0,
            page,
            near: page,
        })
    }

    /// The page that is at hand, on one of its entries.
    #[inline]
    pub(super) fn of(window: Window<'_>, pgno: Pgno, page: PageHeader, index: u32) -> PageCursor {
        PageCursor {
            start: window.start_of(pgno),
            len: window.mapping().page_size() as u32,
            index,
            page,
            near: page,
        }
    }

    #[inline(always)]
    pub(super) fn bytes(self, window: Window<'_>) -> Option<&[u8]> {
        window.bytes(self.start, self.len as usize)
    }

    /// Where in the map a part of this page is.
    #[inline(always)]
    pub(super) fn span_of(self, octets: &[u8], part: &[u8]) -> (usize, u32) {
        let offset = part.as_ptr().addr() - octets.as_ptr().addr();
        (self.start + offset, part.len() as u32)
    }
}

impl PageCursor {
    /// Where in the map the nodes are, from the line on that the first is in, to the end of the page.
    pub(super) fn nodes(self) -> (usize, usize) {
        let from = self.start + self.page.nodes_at();
        (from & !(CACHE_LINE - 1), self.start + self.len as usize)
    }

    /// Asks for entries, each as far as entries of this page reach on average.
    #[inline]
    pub(super) fn prefetch_range(self, octets: &[u8], from: u32, to: u32) {
        let all = octets.len() - self.page.nodes_at();
        let len = (all / self.page.count().max(1) as usize).min(ENTRY_MAX);
        for index in from..to {
            if let Some(at) = self.page.entry_at(octets, index)
                && let Some(entry) = octets.get(at..octets.len().min(at + len))
            {
                prefetch_lines(entry);
            }
        }
    }
}
