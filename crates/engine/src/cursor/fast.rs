//! State of the fast path: the pages that a position steps in, and what it has prefetched of them.

use fulgurite_format::{Page, PageHeader, PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use crate::opened::Window;

/// The state of the fast path of a position.
#[derive(Debug, Clone)]
pub(super) struct FastState {
    /// Unless [`FastMode::Off`], the paths and the value index of the position are stale.
    pub(super) mode: FastMode,
    pub(super) keys: PageCursor,
    pub(super) values: PageCursor,
    /// The branch above a leaf of values that was read last since the values were entered, and its
    /// checked header.
    pub(super) branch: (Pgno, PageHeader),
    /// Start and length, in bytes of the map, of the key that has the values.
    pub(super) key_span: (usize, u32),
}

/// The largest part of one entry that is prefetched, in bytes. The processor continues by itself.
const ENTRY_MAX: usize = 4 * CACHE_LINE;

impl FastState {
    pub(super) const OFF: FastState = FastState {
        mode: FastMode::Off,
        keys: PageCursor::NONE,
        values: PageCursor::NONE,
        branch: FastState::NO_BRANCH,
        key_span: (0, 0),
    };
    pub(super) const NO_BRANCH: (Pgno, PageHeader) = (Pgno::NONE, PageHeader::EMPTY);
}

/// The entries that the fast path can step on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FastMode {
    /// Nothing. The paths of the position are current.
    Off,
    /// Keys. The current key has one value.
    Keys,
    /// Keys, and the values in a sub-page of the current key.
    SubPage,
    /// Keys, and the values in a leaf of the current key's value tree.
    Tree,
}

/// A position in a page or sub-page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageCursor {
    /// Offset of the page in the map, in bytes.
    pub(super) start: usize,
    /// Size of the page, in bytes.
    pub(super) len: u32,
    /// The current entry.
    pub(super) index: u32,
    pub(super) page: PageHeader,
    /// The page, cut off after the last entry that a step may reach without prefetching more. See
    /// [`super::prefetch`].
    pub(super) near: PageHeader,
    pub(super) prefetch: PrefetchState,
}

/// The part of the map that a walk has prefetched.
#[derive(Debug, Clone, Copy)]
pub(super) enum PrefetchState {
    /// Nothing ahead of the cursor.
    Nothing,
    /// Entries of the current leaf, those below this index.
    Entries(u32),
    /// The header of the next leaf.
    Head(Pgno),
    /// The nodes of the next leaf, but for their last `lines` cache lines. They end at map offset
    /// `to`, and `part` lines follow at a time.
    Nodes { to: usize, lines: u16, part: u16 },
}

impl PageCursor {
    pub(super) const NONE: PageCursor = PageCursor {
        start: 0,
        len: 0,
        index: 0,
        page: PageHeader::EMPTY,
        near: PageHeader::EMPTY,
        prefetch: PrefetchState::Nothing,
    };

    /// Returns a position on entry 0 of a tree page that has entries.
    #[inline(always)]
    pub(super) fn over(window: Window<'_>, pgno: Pgno, kind: PageKind) -> Option<PageCursor> {
        let bytes = window.page(pgno).filter(|_| pgno >= Pgno::FIRST_DATA)?;
        let page = Page::parse(bytes, pgno, kind).ok()?.header();
        (!page.is_empty()).then_some(PageCursor {
            start: window.start_of(pgno),
            len: bytes.len() as u32,
            index: 0,
            page,
            near: page,
            prefetch: PrefetchState::Nothing,
        })
    }

    /// Returns a position on an entry of a page that was checked before.
    #[inline]
    pub(super) fn of(window: Window<'_>, pgno: Pgno, page: PageHeader, index: u32) -> PageCursor {
        debug_assert!(
            index <= page.count(),
            "entry {index} is not in page {pgno:?}"
        );
        PageCursor {
            start: window.start_of(pgno),
            len: window.mapping().page_size() as u32,
            index,
            page,
            near: page,
            prefetch: PrefetchState::Nothing,
        }
    }

    #[inline(always)]
    pub(super) fn bytes(self, window: Window<'_>) -> Option<&[u8]> {
        window.bytes(self.start, self.len as usize)
    }

    /// Returns where in the map a part of this page is, as offset and length.
    #[inline(always)]
    pub(super) fn span_of(&self, bytes: &[u8], part: &[u8]) -> (usize, u32) {
        let offset = part.as_ptr().addr() - bytes.as_ptr().addr();
        (self.start + offset, part.len() as u32)
    }
}

impl PageCursor {
    /// Returns the map offsets of the nodes or items, in whole cache lines.
    pub(super) fn entries(self) -> (usize, usize) {
        let (from, to) = self.page.entry_span(self.len as usize);
        let from = (self.start + from) & !(CACHE_LINE - 1);
        (from, (self.start + to).next_multiple_of(CACHE_LINE))
    }

    /// Prefetches entries, each up to the average length of the entries of this page.
    #[inline]
    pub(super) fn prefetch_range(self, bytes: &[u8], from: u32, to: u32) {
        let all = bytes.len() - self.page.nodes_at();
        let len = (all / self.page.count().max(1) as usize).min(ENTRY_MAX);
        for index in from..to {
            if let Some(at) = self.page.entry_at(bytes, index)
                && let Some(entry) = bytes.get(at..bytes.len().min(at + len))
            {
                prefetch_lines(entry);
            }
        }
    }
}
