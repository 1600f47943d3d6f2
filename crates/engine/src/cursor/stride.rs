//! Steps to a neighbour in the page at hand: the common case of every walk, which needs no search, no tree and no error.
//!
//! ```text
//!   lane of keys      | k1 | k2 | k3 | k4 |          the entries of a leaf
//!                            '--> | v1 | v2 | v3 |   lane of values: those of k2's sub-page, or of a leaf of its tree
//! ```
//!
//! A lane notes where a page lies in the map, what its header was found to say, and which entry the place stands on;
//! strides look at nothing else but the nodes they pass. While a place is on lanes, its ways are those of before: whoever
//! wants to know more than the next neighbour calls [`Place::settle_lanes`] first. Where a stride is not possible nothing has
//! changed, and [`Place::go`] knows what there is to say.

use fulgurite_format::{Checked, NodeFlags, Page, PageKind, Pgno, V09};
use fulgurite_os::{CACHE_LINE, prefetch};

use super::ahead::Ahead;
use super::place::{AtValue, Deleted, Edge, State, TREE_OF_VALUES};
use super::{Place, Record};
use crate::env::Window;
use crate::tree::{Path, Step};

/// A step to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// To the next one; else to the one before.
    pub forwards: bool,
    /// Among what.
    pub among: Among,
}

/// What the steps of a walk go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All records.
    Records,
    /// The values of one key.
    Values,
    /// The keys: to the first value of each going forwards, to the last going backwards.
    Keys,
}

/// What a place can take strides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
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
pub(super) struct Lane {
    /// Where it begins, in octets from the beginning of the map.
    pub(super) start: usize,
    /// Its size in octets.
    pub(super) len: u32,
    /// The entry stood on.
    pub(super) index: u32,
    pub(super) page: Checked,
    /// The page as far as strides go that look neither to the left nor to the right: see [`super::ahead`].
    pub(super) near: Checked,
}

/// Lines of a leaf that a walk asks for ahead: all.
const ALL_LINES: usize = usize::MAX;

impl Stride {
    /// The neighbour of an entry; beyond all entries if it is the first or last.
    #[inline(always)]
    const fn from(self, index: u32) -> u32 {
        index.wrapping_add(if self.forwards { 1 } else { u32::MAX })
    }

    /// The entry at which a page is entered.
    #[inline(always)]
    pub(super) fn entrance(self, page: Checked) -> u32 {
        if self.forwards { 0 } else { page.count() - 1 }
    }
}

impl Lane {
    pub(super) const NONE: Lane = Lane {
        start: 0,
        len: 0,
        index: 0,
        page: Checked::EMPTY,
        near: Checked::EMPTY,
    };

    /// A tree page, which has entries.
    #[inline(always)]
    pub(super) fn over(window: Window<'_>, pgno: Pgno, kind: PageKind) -> Option<Lane> {
        let octets = window.page(pgno).filter(|_| pgno >= Pgno::FIRST_DATA)?;
        let page = Page::<V09>::parse(octets, pgno, kind).ok()?.checked();
        (!page.is_empty()).then_some(Lane {
            start: window.start_of(pgno),
            len: octets.len() as u32,
            index: 0,
            page,
            near: page,
        })
    }

    /// The page that is at hand, on one of its entries.
    #[inline]
    pub(super) fn of(window: Window<'_>, pgno: Pgno, page: Checked, index: u32) -> Lane {
        Lane {
            start: window.start_of(pgno),
            len: window.mapping().page_size() as u32,
            index,
            page,
            near: page,
        }
    }

    #[inline(always)]
    pub(super) fn octets(self, window: Window<'_>) -> Option<&[u8]> {
        window.octets(self.start, self.len as usize)
    }

    /// Where in the map a part of this page is.
    #[inline(always)]
    pub(super) fn span_of(self, octets: &[u8], part: &[u8]) -> (usize, u32) {
        let offset = part.as_ptr().addr() - octets.as_ptr().addr();
        (self.start + offset, part.len() as u32)
    }
}

impl Place {
    /// Takes a stride within the page at hand, if that is all there is to it: to a record with one value, or to a value of
    /// the key at hand. `None`, with nothing changed, where it is not.
    #[inline(always)]
    pub(crate) fn stride_within<'t>(
        &mut self,
        window: Window<'t>,
        stride: Stride,
    ) -> Option<Record<'t>> {
        match (self.lanes, stride.among) {
            (Lanes::SubPage | Lanes::Tree, Among::Records | Among::Values) => {
                let lane = self.values;
                let index = stride.from(lane.index);
                let value = lane.page.leaf_key::<V09>(lane.octets(window)?, index)?;
                let key = self.key_at_hand(window)?;
                self.values.index = index;
                Some((key, value))
            }
            (Lanes::Keys, Among::Records)
            | (Lanes::Keys | Lanes::SubPage | Lanes::Tree, Among::Keys) => {
                let lane = self.keys;
                let index = stride.from(lane.index);
                let record = lane.near.plain_entry::<V09>(lane.octets(window)?, index)?;
                self.keys.index = index;
                self.lanes = Lanes::Keys;
                Some(record)
            }
            (Lanes::Keys, Among::Values) | (Lanes::Off, _) => None,
        }
    }

    /// Takes a stride wherever strides lead: also to a sub-page, or to the neighbouring leaf.
    pub(crate) fn stride<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        if self.lanes == Lanes::Off {
            self.lay_lanes(window)?;
        }
        match (self.lanes, stride.among) {
            (Lanes::SubPage | Lanes::Tree, Among::Records | Among::Values) => {
                self.stride_values(window, stride)
            }
            (Lanes::Keys, Among::Records)
            | (Lanes::Keys | Lanes::SubPage | Lanes::Tree, Among::Keys) => {
                self.stride_keys(window, stride)
            }
            (Lanes::Keys, Among::Values) | (Lanes::Off, _) => None,
        }
    }

    /// Whether the place is known to stand on its key's last value that way: no step among the values leads further.
    pub(crate) fn is_at_last_value(&self, window: Window<'_>, forwards: bool) -> bool {
        let stride = Stride {
            forwards,
            among: Among::Values,
        };
        let is_at_edge = stride.from(self.values.index) >= self.values.page.count();
        match self.lanes {
            Lanes::Keys => self.has_values,
            Lanes::SubPage => is_at_edge,
            Lanes::Tree => is_at_edge && self.is_in_last_leaf(window, forwards).unwrap_or(false),
            Lanes::Off => false,
        }
    }

    /// Whether the branches above the leaf of values have nothing that way; `None` if that cannot be seen at once.
    fn is_in_last_leaf(&self, window: Window<'_>, forwards: bool) -> Option<bool> {
        let (_, path) = self.inner.as_deref()?;
        for level in 0..path.len().checked_sub(1)? {
            let step = path.step(level)?;
            let octets = window.page(step.pgno)?;
            let branch = Page::<V09>::parse(octets, step.pgno, PageKind::Branch).ok()?;
            let edge = if forwards {
                branch.len().checked_sub(1)?
            } else {
                0
            };
            if step.index != edge {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Hands out the fixed-size values of the page at hand, all of them whatever the one it stands on, which becomes the
    /// last.
    pub(crate) fn stride_block<'t>(&mut self, window: Window<'t>) -> Option<Record<'t>> {
        if self.lanes == Lanes::Off {
            self.lay_lanes(window)?;
        }
        let is_among_many = matches!(self.lanes, Lanes::SubPage | Lanes::Tree);
        let lane = self.values;
        if !is_among_many || lane.index >= lane.page.count() {
            return None;
        }
        let items = lane.page.packed_items::<V09>(lane.octets(window)?)?;
        let key = self.key_at_hand(window)?;
        self.values.index = lane.page.count() - 1;
        Some((key, items))
    }

    /// As [`Place::stride_block`], of the page that the next value is in.
    pub(crate) fn stride_next_block<'t>(&mut self, window: Window<'t>) -> Option<Record<'t>> {
        if self.lanes == Lanes::Off {
            self.lay_lanes(window)?;
        }
        if self.lanes == Lanes::Tree
            && self.has_fixed_values
            && self.values.index + 1 >= self.values.page.count()
        {
            self.cross_to_next_block(window)?;
        } else if self.values.index + 1 >= self.values.page.count() {
            return None;
        }
        self.stride_block(window)
    }

    /// Notes what strides have come to in the ways, and leaves the lanes.
    #[inline]
    pub(crate) fn settle_lanes(&mut self) {
        if self.lanes != Lanes::Off {
            self.leave_lanes();
        }
    }

    fn leave_lanes(&mut self) {
        if let Some(step) = self.path.leaf_mut() {
            step.index = self.keys.index as usize;
        }
        let index = self.values.index as usize;
        match std::mem::replace(&mut self.lanes, Lanes::Off) {
            Lanes::Off => {}
            Lanes::Keys => self.value = AtValue::One,
            Lanes::SubPage => self.value = AtValue::Page(index),
            Lanes::Tree => {
                self.value = AtValue::Tree;
                if let Some((_, path)) = self.inner.as_deref_mut()
                    && let Some(step) = path.leaf_mut()
                {
                    step.index = index;
                }
            }
        }
    }

    /// Looks at the pages that the ways lead to, so that strides are possible from here on.
    fn lay_lanes(&mut self, window: Window<'_>) -> Option<()> {
        // Who went to the end does not see what has been stored behind it since: that takes more than a look at a page.
        if self.state != State::On
            || self.deleted != Deleted::No
            || self.is_parked
            || self.behind_values
            || self.at_end
        {
            return None;
        }
        let leaf = self.path.leaf()?;
        let mut keys = Lane::over(window, leaf.pgno, PageKind::Leaf)?;
        keys.index = u32::try_from(leaf.index).ok()?;
        let (lanes, mut values) = match self.value {
            AtValue::One => (Lanes::Keys, Lane::NONE),
            AtValue::Page(index) => {
                let octets = keys.octets(window)?;
                let node = keys.page.leaf_entry::<V09>(octets, keys.index)?;
                let mut values = self.lane_of_sub_page(keys, octets, node.data, node.flags)?;
                values.index = u32::try_from(index).ok()?;
                self.key_span = keys.span_of(octets, node.key);
                (Lanes::SubPage, values)
            }
            AtValue::Tree => {
                let octets = keys.octets(window)?;
                let key = keys.page.leaf_key::<V09>(octets, keys.index)?;
                let (tree, path) = self.inner.as_deref()?;
                let leaf = path.leaf()?;
                let mut values = Lane::over(window, leaf.pgno, tree.leaf)?;
                values.index = u32::try_from(leaf.index).ok()?;
                self.key_span = keys.span_of(octets, key);
                (Lanes::Tree, values)
            }
            AtValue::Unset => return None,
        };
        values.index = values.index.min(values.page.count());
        let begins = keys.start != self.keys.start && lanes == Lanes::Keys;
        self.keys = keys;
        self.values = values;
        self.lanes = lanes;
        self.ahead = Ahead::Nothing;
        if begins {
            // Here rather than at the leaf's first entry: so this leaf was not asked for.
            self.begin_to_look_ahead(window);
        }
        Some(())
    }

    /// To the neighbouring key.
    #[inline(always)]
    fn stride_keys<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        let index = stride.from(self.keys.index);
        if index >= self.keys.page.count() {
            return self.cross_to_keys(window, stride);
        }
        let record = self.come_to_entry(window, stride, self.keys, index)?;
        self.keys.index = index;
        if stride.forwards && index >= self.keys.near.count() {
            self.look_ahead(window);
        }
        Some(record)
    }

    /// The record at an entry of a leaf, if it is one that strides can go to: at once where keys have one value each.
    #[inline(always)]
    fn come_to_entry<'t>(
        &mut self,
        window: Window<'t>,
        stride: Stride,
        lane: Lane,
        index: u32,
    ) -> Option<Record<'t>> {
        if !self.has_values
            && let Some(octets) = lane.octets(window)
            && let Some(record) = lane.page.plain_entry::<V09>(octets, index)
        {
            self.lanes = Lanes::Keys;
            return Some(record);
        }
        self.enter_entry(window, stride, lane, index)
    }

    /// The record at an entry of a leaf, if it is one that strides can go to.
    #[inline(never)]
    fn enter_entry<'t>(
        &mut self,
        window: Window<'t>,
        stride: Stride,
        lane: Lane,
        index: u32,
    ) -> Option<Record<'t>> {
        let octets = lane.octets(window)?;
        let node = lane.page.leaf_entry::<V09>(octets, index)?;
        if node.flags.0 == TREE_OF_VALUES {
            let value = self.enter_tree(window, stride, lane, node.data)?;
            self.key_span = lane.span_of(octets, node.key);
            return Some((node.key, value));
        }
        if node.flags.0 != 0 {
            // The record of a database is for others to look at.
            let value = self.enter_sub_page(stride, lane, octets, node.data, node.flags)?;
            self.key_span = lane.span_of(octets, node.key);
            return Some((node.key, value));
        }
        self.lanes = Lanes::Keys;
        Some((node.key, node.data))
    }

    #[inline]
    fn enter_sub_page<'t>(
        &mut self,
        stride: Stride,
        lane: Lane,
        octets: &[u8],
        data: &'t [u8],
        flags: NodeFlags,
    ) -> Option<&'t [u8]> {
        let mut values = self.lane_of_sub_page(lane, octets, data, flags)?;
        values.index = stride.entrance(values.page);
        let value = values.page.leaf_key::<V09>(data, values.index)?;
        self.values = values;
        self.lanes = Lanes::SubPage;
        Some(value)
    }

    /// The values in a sub-page, which is the data of a node.
    #[inline]
    fn lane_of_sub_page(
        &self,
        lane: Lane,
        octets: &[u8],
        data: &[u8],
        flags: NodeFlags,
    ) -> Option<Lane> {
        if flags.0 != NodeFlags::DUPLICATES || !self.has_values {
            return None;
        }
        let page = Page::<V09>::parse_sub(data).ok()?.checked();
        if page.is_empty() || (page.kind() != PageKind::Leaf) != self.has_fixed_values {
            return None;
        }
        let (start, len) = lane.span_of(octets, data);
        Some(Lane {
            start,
            len,
            index: 0,
            page,
            near: page,
        })
    }

    /// To the neighbouring value, or over the edge of the values at hand.
    fn stride_values<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        let lane = self.values;
        let index = stride.from(lane.index);
        if index >= lane.page.count() {
            return self.stride_over_edge(window, stride);
        }
        let value = lane.page.leaf_key::<V09>(lane.octets(window)?, index)?;
        let key = self.key_at_hand(window)?;
        self.values.index = index;
        Some((key, value))
    }

    #[inline(always)]
    fn key_at_hand<'t>(&self, window: Window<'t>) -> Option<&'t [u8]> {
        let (start, len) = self.key_span;
        window.octets(start, len as usize)
    }

    fn stride_over_edge<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        if self.lanes == Lanes::SubPage {
            return match stride.among {
                Among::Values => None,
                Among::Records | Among::Keys => self.stride_keys(window, stride),
            };
        }
        let key = self.key_at_hand(window)?;
        let value = self.cross_to_values(window, stride.forwards)?;
        Some((key, value))
    }

    /// To the first or last entry of the neighbouring leaf of keys, if it hangs from the same branch.
    #[inline(never)]
    fn cross_to_keys<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        self.may_pass_leaf(window, stride.forwards)?;
        let beside = Beside::of(window, &self.path, PageKind::Leaf, stride.forwards)?;
        let index = stride.entrance(beside.lane.page);
        let record = self.come_to_entry(window, stride, beside.lane, index)?;
        self.leaves_passed += 1 + std::mem::take(&mut self.inner_leaves_passed);
        beside.go(&mut self.path);
        self.keys = beside.lane;
        self.keys.index = index;
        if stride.forwards {
            self.look_beyond(window, &beside.turn);
        } else {
            beside.expect_next(window, ALL_LINES);
        }
        Some(record)
    }

    /// To the first or last value of the neighbouring leaf of the values' tree, if it hangs from the same branch.
    fn cross_to_values<'t>(&mut self, window: Window<'t>, forwards: bool) -> Option<&'t [u8]> {
        if self.lanes != Lanes::Tree {
            return None;
        }
        self.may_pass_leaf(window, forwards)?;
        let (tree, path) = self.inner.as_deref_mut()?;
        let beside = Beside::of(window, path, tree.leaf, forwards)?;
        let mut lane = beside.lane;
        lane.index = if forwards { 0 } else { lane.page.count() - 1 };
        let octets = lane.octets(window)?;
        let value = lane.page.leaf_key::<V09>(octets, lane.index)?;
        beside.go(path);
        beside.expect_next(window, ALL_LINES);
        self.inner_leaves_passed += 1;
        self.values = lane;
        Some(value)
    }

    /// To the next leaf of the values' tree, if it hangs from the same branch; its values are handed out unseen.
    #[inline(always)]
    fn cross_to_next_block(&mut self, window: Window<'_>) -> Option<()> {
        self.may_pass_leaf(window, true)?;
        let (tree, path) = self.inner.as_deref_mut()?;
        let [above, leaf] = path.last_two_mut()?;
        let octets = window.page(above.pgno)?;
        let branch = Page::<V09>::parse(octets, above.pgno, PageKind::Branch).ok()?;
        let (branch, index) = (branch.checked(), above.index + 1);
        let pgno = branch.child::<V09>(octets, index as u32)?;
        let lane = Lane::over(window, pgno, tree.leaf)?;
        if let Some(next) = branch.child::<V09>(octets, index as u32 + 1)
            && let Some(next) = window.page(next)
        {
            prefetch(next);
            prefetch(&next[CACHE_LINE..]);
        }
        above.index = index;
        *leaf = Step { pgno, index: 0 };
        self.inner_leaves_passed += 1;
        self.values = lane;
        Some(())
    }

    /// Notes the direction; `None` if another leaf would be more than there are, as far as can be told without asking for
    /// the file's length.
    #[inline(always)]
    fn may_pass_leaf(&mut self, window: Window<'_>, forwards: bool) -> Option<()> {
        self.head(if forwards { Edge::Last } else { Edge::First });
        let passed = self.leaves_passed + self.inner_leaves_passed;
        (passed < window.pages()).then_some(())
    }
}

/// The leaf beside that which a way leads to, below the same branch.
struct Beside {
    lane: Lane,
    turn: Turn,
}

/// Where a branch has that leaf.
pub(super) struct Turn {
    pub(super) leaf: Pgno,
    /// The level of the branch, and its entry for this leaf.
    level: usize,
    index: usize,
    /// The leaf after it in the same direction, and the one after that.
    pub(super) next: Option<Pgno>,
    pub(super) after_next: Option<Pgno>,
}

impl Turn {
    #[inline(always)]
    pub(super) fn of(window: Window<'_>, path: &Path, forwards: bool) -> Option<Turn> {
        let level = path.len().checked_sub(2)?;
        let step = path.step(level)?;
        let octets = window.page(step.pgno)?;
        let branch = Page::<V09>::parse(octets, step.pgno, PageKind::Branch).ok()?;
        // There is no entry before the first.
        let beside = |index: usize| index.wrapping_add(if forwards { 1 } else { usize::MAX });
        let index = beside(step.index);
        Some(Turn {
            leaf: branch.child_if_sound(index)?,
            level,
            index,
            next: branch.child_if_sound(beside(index)),
            after_next: branch.child_if_sound(beside(beside(index))),
        })
    }
}

impl Beside {
    #[inline(always)]
    fn of(window: Window<'_>, path: &Path, kind: PageKind, forwards: bool) -> Option<Beside> {
        let turn = Turn::of(window, path, forwards)?;
        let lane = Lane::over(window, turn.leaf, kind)?;
        Some(Beside { lane, turn })
    }

    /// Leads the way there; to which entry is for the lane to know.
    #[inline(always)]
    fn go(&self, path: &mut Path) {
        if let Some(step) = path.step_mut(self.turn.level) {
            step.index = self.turn.index;
        }
        if let Some(step) = path.leaf_mut() {
            *step = Step {
                pgno: self.turn.leaf,
                index: 0,
            };
        }
    }

    /// Asks for lines of the leaf that comes next: the processor itself does not look ahead beyond the borders of pages.
    #[inline(always)]
    fn expect_next(&self, window: Window<'_>, lines: usize) {
        expect(self.turn.next.and_then(|next| window.page(next)), lines);
    }
}

/// Asks for the first lines of a page.
#[inline]
fn expect(octets: Option<&[u8]>, lines: usize) {
    if let Some(octets) = octets {
        octets.chunks(CACHE_LINE).take(lines).for_each(prefetch);
    }
}
