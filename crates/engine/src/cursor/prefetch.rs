//! What a walk forwards asks the memory for before it comes there: the processor itself does not look ahead beyond the
//! borders of pages, and leaves lie anywhere in the file.
//!
//! ```text
//!   leaf of the first stride   | . . . x n n n n n n n n n n n n . . . |     the entries behind it, a dozen at a time
//!   each leaf after it         | x        |         |        |               at its thirds a part of the next leaf:
//!                               1/3      1/3       1/3                       its nodes, not its gap
//! ```
//!
//! Where nodes are is known from the header, which was asked for one leaf earlier: whoever enters a leaf asks for the header of
//! the one after the next. A processor waits for little more than a dozen lines at a time: who asks for a whole page at once waits for most of it.

use fulgurite_format::{PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use super::CursorPosition;
use super::fast::{PageCursor, PrefetchState};
use super::sibling::SiblingLink;
use crate::env::Window;

/// Entries that are asked for at a time in the leaf where a walk begins.
const ENTRIES: u32 = 12;
/// With so many entries left there the walk is taken for one that goes on to the next leaf.
const NEARLY_DONE: u32 = 8;
/// Octets of a page that hold its header and, mostly, where its entries begin.
const HEAD_LEN: usize = 2 * CACHE_LINE;
/// Parts in which a page is asked for, between as many looks and one more.
const PARTS: u32 = 3;

impl CursorPosition {
    /// A walk begins at the entry at hand of a leaf that nobody asked for.
    pub(super) fn begin_prefetch(&mut self, window: Window<'_>) {
        self.fast.keys.near = self.fast.keys.page;
        self.fast.prefetch = PrefetchState::Entries(self.fast.keys.index + 1);
        self.prefetch_more(window);
    }

    /// As [`CursorPosition::begin_prefetch`], when the next step is taken, if it is.
    pub(super) fn begin_prefetch_at_next_step(&mut self) {
        self.fast.prefetch = PrefetchState::Entries(self.fast.keys.index + 1);
        self.resume_prefetch_after(1);
    }

    /// A walk forwards has turned to the first entry of another leaf.
    pub(super) fn prefetch_after_crossing(&mut self, window: Window<'_>, link: &SiblingLink) {
        self.fast.prefetch = PrefetchState::Nothing;
        if let Some(octets) = link.after_next.and_then(|page| window.page(page)) {
            prefetch_lines(head_of(octets));
        }
        let count = self.fast.keys.page.count();
        if let Some(next) = link.next {
            self.prefetch_leaf(window, next, count - 1);
        }
    }

    /// Asks for the first part of a leaf whose header has been asked for.
    fn prefetch_leaf(&mut self, window: Window<'_>, next: Pgno, left: u32) {
        if let Some(page_cursor) = PageCursor::over(window, next, PageKind::Leaf) {
            let (from, to) = page_cursor.nodes();
            let part = (to - from).div_ceil(PARTS as usize);
            self.prefetch_nodes(window, from, to, part, left);
        }
    }

    /// Asks for more, and notes at which entry to look again.
    #[inline(never)]
    pub(super) fn prefetch_more(&mut self, window: Window<'_>) {
        self.fast.keys.near = self.fast.keys.page;
        let left = self.fast.keys.page.count()
            - 1
            - self.fast.keys.index.min(self.fast.keys.page.count() - 1);
        match self.fast.prefetch {
            PrefetchState::Nothing => {}
            PrefetchState::Entries(from) => self.prefetch_entries(window, from, left),
            PrefetchState::Head(next) => self.prefetch_leaf(window, next, left),
            PrefetchState::Nodes { from, to, part } => {
                self.prefetch_nodes(window, from, to, part, left)
            }
        }
    }

    fn prefetch_entries(&mut self, window: Window<'_>, from: u32, left: u32) {
        let page_cursor = self.fast.keys;
        let to = (from + ENTRIES).min(page_cursor.page.count());
        if let Some(octets) = page_cursor.bytes(window) {
            page_cursor.prefetch_range(octets, from, to);
        }
        if to < page_cursor.page.count() && left > NEARLY_DONE {
            self.fast.prefetch = PrefetchState::Entries(to);
            // Who wanted only these has gone by then.
            self.resume_prefetch_after(to - 1 - page_cursor.index);
            return;
        }
        let link = SiblingLink::of(window, &self.path, true);
        self.fast.prefetch = link.map_or(PrefetchState::Nothing, |link| {
            for page in [Some(link.leaf), link.next].into_iter().flatten() {
                if let Some(octets) = window.page(page) {
                    prefetch_lines(head_of(octets));
                }
            }
            PrefetchState::Head(link.leaf)
        });
        self.resume_prefetch_after((left / (PARTS + 1)).max(1));
    }

    fn prefetch_nodes(
        &mut self,
        window: Window<'_>,
        from: usize,
        to: usize,
        part: usize,
        left: u32,
    ) {
        // What is left goes at once where there will be no other look.
        let until = if left == 0 { to } else { to.min(from + part) };
        if let Some(octets) = window.bytes(from, until - from) {
            prefetch_lines(octets);
        }
        if until < to {
            self.fast.prefetch = PrefetchState::Nodes {
                from: until,
                to,
                part,
            };
            let looks = (to - until).div_ceil(part) as u32;
            self.resume_prefetch_after((left / (looks + 1)).max(1));
        } else {
            self.fast.prefetch = PrefetchState::Nothing;
        }
    }

    /// Strides to so many entries take no look.
    fn resume_prefetch_after(&mut self, entries: u32) {
        self.fast.keys.near = self.fast.keys.page.first(self.fast.keys.index + entries);
    }
}

/// The beginning of a page: its header and, mostly, where its entries begin.
fn head_of(octets: &[u8]) -> &[u8] {
    octets.get(..HEAD_LEN).unwrap_or(octets)
}
