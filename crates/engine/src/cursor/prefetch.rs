//! Prefetching for a walk forward. The processor does not prefetch across pages, and leaves are
//! scattered in the file.
//!
//! ```text
//!   leaf of the first step     | . . . x n n n n n n n n n n n n . . . |     the entries after it, twelve at a time
//!   each leaf after it         | x        |         |        |               at each third, a part of the next leaf:
//!                               1/3      1/3       1/3                       its nodes, not its free space
//! ```
//!
//! The header of a leaf says where its nodes are. So each leaf prefetches the header of the leaf
//! after the next. A processor has little more than twelve cache lines in flight: prefetching a
//! whole page at once would stall.

use fulgurite_format::{PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use super::CursorPosition;
use super::fast::{PageCursor, PrefetchState};
use super::sibling::SiblingLink;
use crate::opened::Window;

/// Entries prefetched at a time in the leaf where a walk begins.
const ENTRIES: u32 = 12;
/// Entries left in a leaf at which the walk is expected to reach the next leaf.
const NEARLY_DONE: u32 = 8;
/// Bytes of a page that hold its header and, mostly, its entry offsets.
const HEAD_LEN: usize = 2 * CACHE_LINE;
/// Parts in which a page is prefetched, spread over the entries of the leaf before it.
const PARTS: u32 = 3;

impl CursorPosition {
    /// Begins a walk at the current entry of a leaf that nothing prefetched.
    pub(super) fn begin_prefetch(&mut self, window: Window<'_>) {
        self.fast.keys.near = self.fast.keys.page;
        self.fast.prefetch = PrefetchState::Entries(self.fast.keys.index + 1);
        self.prefetch_more(window);
    }

    /// As [`CursorPosition::begin_prefetch`], at the next step.
    pub(super) fn begin_prefetch_at_next_step(&mut self) {
        self.fast.prefetch = PrefetchState::Entries(self.fast.keys.index + 1);
        self.resume_prefetch_after(1);
    }

    /// Continues after the walk has crossed to the first entry of another leaf.
    pub(super) fn prefetch_after_crossing(&mut self, window: Window<'_>, link: &SiblingLink) {
        self.fast.prefetch = PrefetchState::Nothing;
        if let Some(bytes) = link.after_next.and_then(|page| window.page(page)) {
            prefetch_lines(head_of(bytes));
        }
        let count = self.fast.keys.page.count();
        if let Some(next) = link.next {
            self.prefetch_leaf(window, next, count - 1);
        }
    }

    /// Prefetches the first part of a leaf whose header was prefetched.
    fn prefetch_leaf(&mut self, window: Window<'_>, next: Pgno, left: u32) {
        if let Some(page_cursor) = PageCursor::over(window, next, PageKind::Leaf) {
            let (from, to) = page_cursor.nodes();
            let part = (to - from).div_ceil(PARTS as usize);
            self.prefetch_nodes(window, from, to, part, left);
        }
    }

    /// Prefetches more, and sets the entry at which to continue.
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
        if let Some(bytes) = page_cursor.bytes(window) {
            page_cursor.prefetch_range(bytes, from, to);
        }
        if to < page_cursor.page.count() && left > NEARLY_DONE {
            self.fast.prefetch = PrefetchState::Entries(to);
            // A walk over these entries alone has ended by then.
            self.resume_prefetch_after(to - 1 - page_cursor.index);
            return;
        }
        let link = SiblingLink::of(window, &self.path, true);
        self.fast.prefetch = link.map_or(PrefetchState::Nothing, |link| {
            for page in [Some(link.leaf), link.next].into_iter().flatten() {
                if let Some(bytes) = window.page(page) {
                    prefetch_lines(head_of(bytes));
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
        // Without another chance, prefetch all that is left.
        let until = if left == 0 { to } else { to.min(from + part) };
        if let Some(bytes) = window.bytes(from, until - from) {
            prefetch_lines(bytes);
        }
        if until < to {
            self.fast.prefetch = PrefetchState::Nodes {
                from: until,
                to,
                part,
            };
            let looks = (to - until).div_ceil(part.max(1)) as u32;
            let each = left.checked_div(looks.wrapping_add(1)).unwrap_or(1);
            self.resume_prefetch_after(each.max(1));
        } else {
            self.fast.prefetch = PrefetchState::Nothing;
        }
    }

    /// Steps over this many entries before the next prefetch.
    fn resume_prefetch_after(&mut self, entries: u32) {
        self.fast.keys.near = self.fast.keys.page.first(self.fast.keys.index + entries);
    }
}

/// Returns the start of a page: its header and, mostly, its entry offsets.
fn head_of(bytes: &[u8]) -> &[u8] {
    bytes.get(..HEAD_LEN).unwrap_or(bytes)
}
