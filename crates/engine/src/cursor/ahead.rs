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

use fulgurite_format::{PageKind, Pgno, V09};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use super::Place;
use super::stride::{Lane, Turn};
use crate::env::Window;

/// Entries that are asked for at a time in the leaf where a walk begins.
const ENTRIES: u32 = 12;
/// With so many entries left there the walk is taken for one that goes on to the next leaf.
const NEARLY_DONE: u32 = 8;
/// Octets of a page that hold its header and, mostly, where its entries begin.
const HEAD_LEN: usize = 2 * CACHE_LINE;
/// Octets of one entry that are asked for at most; the processor goes on by itself.
const ENTRY_MAX: usize = 4 * CACHE_LINE;
/// Parts in which a page is asked for, between as many looks and one more.
const PARTS: u32 = 3;

/// What the walk has asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ahead {
    /// Nothing that is not at hand.
    Nothing,
    /// Entries of the leaf at hand, those before this one.
    Entries(u32),
    /// The header of the next leaf.
    Head(Pgno),
    /// The nodes of the next leaf up to the first of these octets of the map.
    Nodes { from: usize, to: usize, part: usize },
}

impl Place {
    /// A walk begins at the entry at hand of a leaf that nobody asked for.
    pub(super) fn begin_to_look_ahead(&mut self, window: Window<'_>) {
        self.keys.near = self.keys.page;
        self.ahead = Ahead::Entries(self.keys.index + 1);
        self.look_ahead(window);
    }

    /// As [`Place::begin_to_look_ahead`], when the next step is taken, if it is.
    pub(super) fn look_ahead_later(&mut self) {
        self.ahead = Ahead::Entries(self.keys.index + 1);
        self.look_again_after(1);
    }

    /// A walk forwards has turned to the first entry of another leaf.
    pub(super) fn look_beyond(&mut self, window: Window<'_>, turn: &Turn) {
        self.ahead = Ahead::Nothing;
        if let Some(octets) = turn.after_next.and_then(|page| window.page(page)) {
            prefetch_lines(head_of(octets));
        }
        let count = self.keys.page.count();
        if let Some(next) = turn.next {
            self.look_at_leaf(window, next, count - 1);
        }
    }

    /// Asks for the first part of a leaf whose header has been asked for.
    fn look_at_leaf(&mut self, window: Window<'_>, next: Pgno, left: u32) {
        if let Some(lane) = Lane::over(window, next, PageKind::Leaf) {
            let (from, to) = lane.nodes();
            let part = (to - from).div_ceil(PARTS as usize);
            self.look_at_nodes(window, from, to, part, left);
        }
    }

    /// Asks for more, and notes at which entry to look again.
    #[inline(never)]
    pub(super) fn look_ahead(&mut self, window: Window<'_>) {
        self.keys.near = self.keys.page;
        let left = self.keys.page.count() - 1 - self.keys.index.min(self.keys.page.count() - 1);
        match self.ahead {
            Ahead::Nothing => {}
            Ahead::Entries(from) => self.look_at_entries(window, from, left),
            Ahead::Head(next) => self.look_at_leaf(window, next, left),
            Ahead::Nodes { from, to, part } => self.look_at_nodes(window, from, to, part, left),
        }
    }

    fn look_at_entries(&mut self, window: Window<'_>, from: u32, left: u32) {
        let lane = self.keys;
        let to = (from + ENTRIES).min(lane.page.count());
        if let Some(octets) = lane.octets(window) {
            lane.expect_entries(octets, from, to);
        }
        if to < lane.page.count() && left > NEARLY_DONE {
            self.ahead = Ahead::Entries(to);
            // Who wanted only these has gone by then.
            self.look_again_after(to - 1 - lane.index);
            return;
        }
        let turn = Turn::of(window, &self.path, true);
        self.ahead = turn.map_or(Ahead::Nothing, |turn| {
            for page in [Some(turn.leaf), turn.next].into_iter().flatten() {
                if let Some(octets) = window.page(page) {
                    prefetch_lines(head_of(octets));
                }
            }
            Ahead::Head(turn.leaf)
        });
        self.look_again_after((left / (PARTS + 1)).max(1));
    }

    fn look_at_nodes(
        &mut self,
        window: Window<'_>,
        from: usize,
        to: usize,
        part: usize,
        left: u32,
    ) {
        // What is left goes at once where there will be no other look.
        let until = if left == 0 { to } else { to.min(from + part) };
        if let Some(octets) = window.octets(from, until - from) {
            prefetch_lines(octets);
        }
        if until < to {
            self.ahead = Ahead::Nodes {
                from: until,
                to,
                part,
            };
            let looks = (to - until).div_ceil(part) as u32;
            self.look_again_after((left / (looks + 1)).max(1));
        } else {
            self.ahead = Ahead::Nothing;
        }
    }

    /// Strides to so many entries take no look.
    fn look_again_after(&mut self, entries: u32) {
        self.keys.near = self.keys.page.first(self.keys.index + entries);
    }
}

impl Lane {
    /// Where in the map the nodes are, from the line on that the first is in, to the end of the page.
    fn nodes(self) -> (usize, usize) {
        let from = self.start + self.page.nodes_at();
        (from & !(CACHE_LINE - 1), self.start + self.len as usize)
    }

    /// Asks for entries, each as far as entries of this page reach on average.
    #[inline]
    fn expect_entries(self, octets: &[u8], from: u32, to: u32) {
        let all = octets.len() - self.page.nodes_at();
        let len = (all / self.page.count().max(1) as usize).min(ENTRY_MAX);
        for index in from..to {
            if let Some(at) = self.page.entry_at::<V09>(octets, index)
                && let Some(entry) = octets.get(at..octets.len().min(at + len))
            {
                prefetch_lines(entry);
            }
        }
    }
}

/// The beginning of a page: its header and, mostly, where its entries begin.
fn head_of(octets: &[u8]) -> &[u8] {
    octets.get(..HEAD_LEN).unwrap_or(octets)
}
