//! Prefetching for a walk forward, among keys or among the values of a key. The processor does not
//! prefetch across pages, and leaves are scattered in the file.
//!
//! ```text
//!   leaf of the first step     | . . . x n n n n n n n n n n n n . . . |     the entries after it, twelve at a time
//!   each leaf after it         | x               |             |             at the first entry and in the middle,
//!                                1/2              1/2                        a half of the next leaf:
//!                                                                            its nodes, not its free space
//! ```
//!
//! The header of a leaf says where its nodes are. So each leaf prefetches the header of the leaf
//! after the next. A processor has little more than twelve cache lines in flight: prefetching a
//! whole page at once stalls it. A scan of values that did so took half as long again.

use fulgurite_format::{PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_first_lines};

use super::fast::{PageCursor, PrefetchState};
use super::sibling::SiblingLink;
use crate::opened::Window;
use crate::tree::Path;

/// Entries prefetched at a time in the leaf where a walk begins.
const ENTRIES: u32 = 12;
/// Entries left in a leaf at which the walk is expected to reach the next leaf.
const NEARLY_DONE: u32 = 8;
/// Cache lines of a page that hold its header and, mostly, its entry offsets.
const HEAD_LINES: usize = 2;
/// Parts in which a page is prefetched, spread over the entries of the leaf before it. More parts
/// take more instructions, and are no faster.
const PARTS: u32 = 2;

impl PageCursor {
    /// Begins a walk at the current entry of a leaf that nothing prefetched. `path` leads to it.
    pub(super) fn begin_prefetch(&mut self, window: Window<'_>, path: &Path) {
        self.prefetch = PrefetchState::Entries(self.index + 1);
        self.prefetch_more(window, path);
    }

    /// As [`PageCursor::begin_prefetch`], at the next step.
    pub(super) fn begin_prefetch_at_next_step(&mut self) {
        self.prefetch = PrefetchState::Entries(self.index + 1);
        self.resume_prefetch_after(1);
    }

    /// Continues after the walk has crossed to the first entry of this leaf.
    pub(super) fn prefetch_after_crossing(&mut self, window: Window<'_>, link: &SiblingLink) {
        if let Some(after_next) = link.after_next {
            prefetch_head(window, after_next);
        }
        if let Some(next) = link.next {
            self.prefetch_leaf(window, next, self.page.count() - 1);
        }
    }

    /// Prefetches the first part of a leaf whose header was prefetched.
    fn prefetch_leaf(&mut self, window: Window<'_>, next: Pgno, left: u32) {
        self.prefetch = PrefetchState::Nothing;
        if let Some(next) = PageCursor::over(window, next, self.page.kind()) {
            let (from, to) = next.entries();
            let lines = to.saturating_sub(from).div_ceil(CACHE_LINE) as u16;
            self.prefetch_nodes(window, to, lines, lines.div_ceil(PARTS as u16), left);
        }
    }

    /// Prefetches more, and sets the entry at which to continue.
    #[inline(never)]
    pub(super) fn prefetch_more(&mut self, window: Window<'_>, path: &Path) {
        self.near = self.page;
        let left = self.page.count().saturating_sub(self.index + 1);
        match self.prefetch {
            PrefetchState::Nothing => {}
            PrefetchState::Entries(from) => self.prefetch_entries(window, path, from, left),
            PrefetchState::Head(next) => self.prefetch_leaf(window, next, left),
            PrefetchState::Nodes { to, lines, part } => {
                self.prefetch_nodes(window, to, lines, part, left);
            }
        }
    }

    fn prefetch_entries(&mut self, window: Window<'_>, path: &Path, from: u32, left: u32) {
        let mut to = self.page.count();
        // Packed items follow each other. Those the processor prefetches by itself.
        if self.page.kind() == PageKind::Leaf
            && let Some(bytes) = self.bytes(window)
        {
            to = to.min(from + ENTRIES);
            self.prefetch_range(bytes, from, to);
        }
        if to < self.page.count() && left > NEARLY_DONE {
            self.prefetch = PrefetchState::Entries(to);
            // A walk over these entries alone has ended by then.
            self.resume_prefetch_after(to - 1 - self.index);
            return;
        }
        let link = SiblingLink::of(window, path, true);
        self.prefetch = link.map_or(PrefetchState::Nothing, |link| {
            for page in [Some(link.leaf), link.next].into_iter().flatten() {
                prefetch_head(window, page);
            }
            PrefetchState::Head(link.leaf)
        });
        self.resume_prefetch_after((left / (PARTS + 1)).max(1));
    }

    /// Prefetches a part of the last `lines` cache lines of a leaf's entries, which end at `to`.
    fn prefetch_nodes(&mut self, window: Window<'_>, to: usize, lines: u16, part: u16, left: u32) {
        // Without another chance, prefetch all that is left.
        let now = if left == 0 { lines } else { lines.min(part) };
        let from = to.saturating_sub(usize::from(lines) * CACHE_LINE);
        if let Some(bytes) = window.bytes(from, usize::from(now) * CACHE_LINE) {
            prefetch_first_lines(bytes, usize::from(now));
        }
        let lines = lines - now;
        self.prefetch = PrefetchState::Nothing;
        if lines > 0 {
            self.prefetch = PrefetchState::Nodes { to, lines, part };
            let looks = u32::from(lines.div_ceil(part.max(1)));
            let each = left.checked_div(looks.wrapping_add(1)).unwrap_or(1);
            self.resume_prefetch_after(each.max(1));
        }
    }

    /// Steps over this many entries before the next prefetch.
    fn resume_prefetch_after(&mut self, entries: u32) {
        self.near = self.page.first(self.index + entries);
    }
}

/// Prefetches the start of a page: its header and, mostly, its entry offsets.
fn prefetch_head(window: Window<'_>, page: Pgno) {
    if let Some(bytes) = window.page(page) {
        prefetch_first_lines(bytes, HEAD_LINES);
    }
}
