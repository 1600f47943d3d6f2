//! Steps to a neighbour in the current page. Most steps of a walk need no search, no tree and no
//! error.
//!
//! ```text
//!   keys    | k1 | k2 | k3 | k4 |      the entries of a leaf
//!                  '--> | v1 | v2 | v3 |      values: those of k2's sub-page, or of a leaf of its tree
//! ```
//!
//! A [`PageCursor`] has the offset of a page in the map, its checked header and the current entry.
//! Fast steps read nothing else but the nodes they pass. In fast mode the path is stale; call
//! [`CursorPosition::leave_fast`] before reading it.
//!
//! A fast step that returns `None` has changed nothing. Then [`CursorPosition::go`] steps, or
//! reports why it cannot.

use fulgurite_format::{NodeFlags, Page, PageHeader, PageKind};
use fulgurite_os::{CACHE_LINE, prefetch};

use super::fast::{FastMode, FastState, PageCursor, PrefetchState};
use super::position::{AtValue, Deleted, Edge, State, TREE_OF_VALUES};
use super::sibling::SiblingLeaf;
use super::{CursorPosition, Record};
use crate::opened::Window;
use crate::tree::Step;

/// A step to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastStep {
    /// True for the next neighbour, false for the previous one.
    pub forwards: bool,
    /// The kind of neighbour.
    pub unit: StepUnit,
}

/// The target of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepUnit {
    /// The next or previous record.
    Records,
    /// The next or previous value of the same key.
    Values,
    /// The next key, at its first value, or the previous key, at its last value.
    Keys,
}

/// Cache lines of a leaf that a backward walk prefetches: all.
const ALL_LINES: usize = usize::MAX;

impl FastStep {
    /// Returns the index of an entry's neighbour. Beyond the first or last entry it is out of
    /// range.
    #[inline(always)]
    const fn from(self, index: u32) -> u32 {
        index.wrapping_add(if self.forwards { 1 } else { u32::MAX })
    }

    /// Returns the index of the entry at which the step enters a page.
    #[inline(always)]
    pub(super) fn first_index(self, page: PageHeader) -> u32 {
        if self.forwards { 0 } else { page.count() - 1 }
    }
}

impl CursorPosition {
    /// Steps within the current page, to a record with one value or to a value of the current key.
    ///
    /// On `None` nothing has changed.
    #[inline(always)]
    pub(crate) fn fast_step_within<'t>(
        &mut self,
        window: Window<'t>,
        step: FastStep,
    ) -> Option<Record<'t>> {
        match (self.fast.mode, step.unit) {
            (FastMode::SubPage | FastMode::Tree, StepUnit::Records | StepUnit::Values) => {
                let page_cursor = self.fast.values;
                let index = step.from(page_cursor.index);
                let value = page_cursor
                    .near
                    .leaf_key(page_cursor.bytes(window)?, index)?;
                let key = self.current_key(window)?;
                self.fast.values.index = index;
                Some((key, value))
            }
            (FastMode::Keys, StepUnit::Records)
            | (FastMode::Keys | FastMode::SubPage | FastMode::Tree, StepUnit::Keys) => {
                let page_cursor = self.fast.keys;
                let index = step.from(page_cursor.index);
                let record = page_cursor
                    .near
                    .plain_entry(page_cursor.bytes(window)?, index)?;
                self.fast.keys.index = index;
                self.fast.mode = FastMode::Keys;
                Some(record)
            }
            (FastMode::Keys, StepUnit::Values) | (FastMode::Off, _) => None,
        }
    }

    /// Steps where the fast path can: also into a sub-page or a value tree, and to the sibling
    /// leaf.
    pub(crate) fn fast_step<'t>(
        &mut self,
        window: Window<'t>,
        step: FastStep,
    ) -> Option<Record<'t>> {
        if self.fast.mode == FastMode::Off {
            self.enter_fast(window)?;
        }
        match (self.fast.mode, step.unit) {
            (FastMode::SubPage | FastMode::Tree, StepUnit::Records | StepUnit::Values) => {
                self.step_value_fast(window, step)
            }
            (FastMode::Keys, StepUnit::Records)
            | (FastMode::Keys | FastMode::SubPage | FastMode::Tree, StepUnit::Keys) => {
                self.step_key(window, step)
            }
            (FastMode::Keys, StepUnit::Values) | (FastMode::Off, _) => None,
        }
    }

    /// Returns true if the cursor is known to be on its key's last value in this direction.
    pub(crate) fn is_at_last_value(&self, window: Window<'_>, forwards: bool) -> bool {
        let step = FastStep {
            forwards,
            unit: StepUnit::Values,
        };
        let is_at_edge = step.from(self.fast.values.index) >= self.fast.values.page.count();
        match self.fast.mode {
            FastMode::Keys => self.has_values,
            FastMode::SubPage => is_at_edge,
            FastMode::Tree => is_at_edge && self.is_in_last_leaf(window, forwards).unwrap_or(false),
            FastMode::Off => false,
        }
    }

    /// Returns true if no branch above the leaf of values has an entry in this direction. `None` if
    /// a branch cannot be read.
    fn is_in_last_leaf(&self, window: Window<'_>, forwards: bool) -> Option<bool> {
        let (_, path) = self.inner.as_deref()?;
        for level in 0..path.len().checked_sub(1)? {
            let step = path.step(level)?;
            let bytes = window.page(step.pgno)?;
            let branch = Page::parse(bytes, step.pgno, PageKind::Branch).ok()?;
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

    /// Returns true if [`CursorPosition::is_at_last_value`], of values of one size.
    pub(crate) fn is_at_last_block(&self, window: Window<'_>) -> bool {
        self.has_fixed_values && self.is_at_last_value(window, true)
    }

    /// Returns all fixed-size values of the current page, and goes to the last of them.
    #[inline(always)]
    pub(crate) fn fast_block<'t>(&mut self, window: Window<'t>) -> Option<Record<'t>> {
        if self.fast.mode == FastMode::Off {
            self.enter_fast(window)?;
        }
        self.block_of_page(window)
    }

    #[inline(always)]
    fn block_of_page<'t>(&mut self, window: Window<'t>) -> Option<Record<'t>> {
        let is_among_many = matches!(self.fast.mode, FastMode::SubPage | FastMode::Tree);
        let page_cursor = self.fast.values;
        if !is_among_many || page_cursor.index >= page_cursor.page.count() {
            return None;
        }
        let items = page_cursor.page.packed_items(page_cursor.bytes(window)?)?;
        let key = self.current_key(window)?;
        self.fast.values.index = page_cursor.page.count() - 1;
        Some((key, items))
    }

    /// As [`CursorPosition::fast_block`], for the page of the next value.
    #[inline(always)]
    pub(crate) fn fast_next_block<'t>(&mut self, window: Window<'t>) -> Option<Record<'t>> {
        if self.fast.mode == FastMode::Off {
            self.enter_fast(window)?;
        }
        if self.fast.mode == FastMode::Tree
            && self.has_fixed_values
            && self.fast.values.index + 1 >= self.fast.values.page.count()
        {
            self.cross_to_next_block(window)?;
        } else if self.fast.values.index + 1 >= self.fast.values.page.count() {
            return None;
        }
        self.block_of_page(window)
    }

    /// Stores the position of the fast path in the paths, and leaves fast mode.
    #[inline]
    pub(crate) fn leave_fast(&mut self) {
        if self.fast.mode != FastMode::Off {
            self.store_fast_position();
        }
    }

    fn store_fast_position(&mut self) {
        if let Some(step) = self.path.leaf_mut() {
            step.index = self.fast.keys.index as usize;
        }
        let index = self.fast.values.index as usize;
        match core::mem::replace(&mut self.fast.mode, FastMode::Off) {
            FastMode::Off => {}
            FastMode::Keys => self.value = AtValue::One,
            FastMode::SubPage => self.value = AtValue::Page(index),
            FastMode::Tree => {
                self.value = AtValue::Tree;
                if let Some((_, path)) = self.inner.as_deref_mut()
                    && let Some(step) = path.leaf_mut()
                {
                    step.index = index;
                }
            }
        }
    }

    /// Reads the pages that the paths lead to, and enters fast mode.
    fn enter_fast(&mut self, window: Window<'_>) -> Option<()> {
        // At the end, records stored since must stay invisible. Only the slow path handles that.
        if self.state != State::On
            || self.deleted != Deleted::No
            || self.is_saved
            || self.behind_values
            || self.at_end
        {
            return None;
        }
        let leaf = self.path.leaf()?;
        let mut keys = PageCursor::over(window, leaf.pgno, PageKind::Leaf)?;
        keys.index = u32::try_from(leaf.index).ok()?;
        let (lanes, mut values) = match self.value {
            AtValue::One => (FastMode::Keys, PageCursor::NONE),
            AtValue::Page(index) => {
                let bytes = keys.bytes(window)?;
                let node = keys.page.leaf_entry(bytes, keys.index)?;
                let mut values =
                    self.page_cursor_of_sub_page(&keys, bytes, node.data, node.flags)?;
                values.index = u32::try_from(index).ok()?;
                self.fast.key_span = keys.span_of(bytes, node.key);
                (FastMode::SubPage, values)
            }
            AtValue::Tree => {
                let bytes = keys.bytes(window)?;
                let key = keys.page.leaf_key(bytes, keys.index)?;
                let (tree, path) = self.inner.as_deref()?;
                let leaf = path.leaf()?;
                let mut values = PageCursor::over(window, leaf.pgno, tree.leaf)?;
                values.index = u32::try_from(leaf.index).ok()?;
                self.fast.key_span = keys.span_of(bytes, key);
                (FastMode::Tree, values)
            }
            AtValue::Unset => return None,
        };
        values.index = values.index.min(values.page.count());
        let begins = keys.start != self.fast.keys.start && lanes == FastMode::Keys;
        self.fast.keys = keys;
        self.fast.values = values;
        self.fast.mode = lanes;
        self.fast.branch = FastState::NO_BRANCH;
        if begins {
            // Prefetch from here on: the walk did not enter this leaf at its first entry, so
            // nothing prefetched it.
            self.fast.keys.begin_prefetch(window, &self.path);
        }
        Some(())
    }

    /// Steps to the neighbouring key.
    #[inline(always)]
    fn step_key<'t>(&mut self, window: Window<'t>, step: FastStep) -> Option<Record<'t>> {
        let before = self.fast.keys.index;
        let index = step.from(before);
        if index >= self.fast.keys.page.count() {
            return self.cross_to_keys(window, step);
        }
        self.fast.keys.index = index;
        // First, so that the record is returned as it comes.
        if step.forwards && index >= self.fast.keys.near.count() {
            self.fast.keys.prefetch_more(window, &self.path);
        }
        let record = self.enter_key_fast(window, step);
        if record.is_none() {
            self.fast.keys.index = before;
        }
        record
    }

    /// Returns the record of the current key, and enters its values. Without duplicates, this is
    /// one look at the node.
    #[inline(always)]
    fn enter_key_fast<'t>(&mut self, window: Window<'t>, step: FastStep) -> Option<Record<'t>> {
        let keys = &self.fast.keys;
        if !self.has_values
            && let Some(bytes) = keys.bytes(window)
            && let Some(record) = keys.page.plain_entry(bytes, keys.index)
        {
            self.fast.mode = FastMode::Keys;
            return Some(record);
        }
        self.enter_any_key(window, step)
    }

    /// As [`CursorPosition::enter_key_fast`], of any key that the fast path can enter.
    #[inline(never)]
    fn enter_any_key<'t>(&mut self, window: Window<'t>, step: FastStep) -> Option<Record<'t>> {
        let keys = &self.fast.keys;
        let bytes = keys.bytes(window)?;
        let node = keys.page.leaf_entry(bytes, keys.index)?;
        if node.flags.0 == 0 {
            self.fast.mode = FastMode::Keys;
            return Some((node.key, node.data));
        }
        let key_span = keys.span_of(bytes, node.key);
        let value = if node.flags.0 == TREE_OF_VALUES {
            self.enter_tree(window, step, node.data)?
        } else {
            // Flags of a named database or of an overflow value fail here: the slow path reads
            // those.
            self.enter_sub_page(step, bytes, node.data, node.flags)?
        };
        self.fast.key_span = key_span;
        Some((node.key, value))
    }

    #[inline]
    fn enter_sub_page<'t>(
        &mut self,
        step: FastStep,
        bytes: &[u8],
        data: &'t [u8],
        flags: NodeFlags,
    ) -> Option<&'t [u8]> {
        let mut values = self.page_cursor_of_sub_page(&self.fast.keys, bytes, data, flags)?;
        values.index = step.first_index(values.page);
        let value = values.page.leaf_key(data, values.index)?;
        self.fast.values = values;
        self.fast.mode = FastMode::SubPage;
        Some(value)
    }

    /// Enters the values in a sub-page, which is the data of a node.
    #[inline]
    fn page_cursor_of_sub_page(
        &self,
        keys: &PageCursor,
        bytes: &[u8],
        data: &[u8],
        flags: NodeFlags,
    ) -> Option<PageCursor> {
        if flags.0 != NodeFlags::DUPLICATES || !self.has_values {
            return None;
        }
        let page = PageHeader::of_sub_page(data)?;
        if page.is_empty() || (page.kind() != PageKind::Leaf) != self.has_fixed_values {
            return None;
        }
        let (start, len) = keys.span_of(bytes, data);
        Some(PageCursor {
            start,
            len,
            index: 0,
            page,
            near: page,
            prefetch: PrefetchState::Nothing,
        })
    }

    /// Steps to the neighbouring value, or beyond the values of the current page.
    fn step_value_fast<'t>(&mut self, window: Window<'t>, step: FastStep) -> Option<Record<'t>> {
        let page_cursor = self.fast.values;
        let index = step.from(page_cursor.index);
        if index >= page_cursor.page.count() {
            return self.cross_value_edge(window, step);
        }
        let value = page_cursor
            .page
            .leaf_key(page_cursor.bytes(window)?, index)?;
        let key = self.current_key(window)?;
        self.fast.values.index = index;
        if index >= page_cursor.near.count() {
            self.prefetch_values(window, step.forwards);
        }
        Some((key, value))
    }

    /// Prefetches more on a walk forwards. A walk backwards has the whole page near.
    #[inline(never)]
    fn prefetch_values(&mut self, window: Window<'_>, forwards: bool) {
        let values = &mut self.fast.values;
        match self.inner.as_deref() {
            Some((_, path)) if forwards => values.prefetch_more(window, path),
            _ => values.near = values.page,
        }
    }

    #[inline(always)]
    fn current_key<'t>(&self, window: Window<'t>) -> Option<&'t [u8]> {
        let (start, len) = self.fast.key_span;
        window.bytes(start, len as usize)
    }

    fn cross_value_edge<'t>(&mut self, window: Window<'t>, step: FastStep) -> Option<Record<'t>> {
        if self.fast.mode == FastMode::SubPage {
            return match step.unit {
                StepUnit::Values => None,
                StepUnit::Records | StepUnit::Keys => self.step_key(window, step),
            };
        }
        let key = self.current_key(window)?;
        let value = self.cross_to_values(window, step.forwards)?;
        Some((key, value))
    }

    /// Steps to the sibling leaf of keys, if it is below the same branch.
    #[inline(never)]
    fn cross_to_keys<'t>(&mut self, window: Window<'t>, step: FastStep) -> Option<Record<'t>> {
        self.check_leaf_count(window, step.forwards)?;
        let sibling = SiblingLeaf::of(window, &self.path, PageKind::Leaf, step.forwards)?;
        let before = self.fast.keys;
        self.fast.keys = sibling.page_cursor;
        self.fast.keys.index = step.first_index(sibling.page_cursor.page);
        let Some(record) = self.enter_key_fast(window, step) else {
            self.fast.keys = before;
            return None;
        };
        self.leaves_passed += 1 + core::mem::take(&mut self.inner_leaves_passed);
        sibling.go(&mut self.path);
        if step.forwards {
            self.fast
                .keys
                .prefetch_after_crossing(window, &sibling.link);
        } else {
            sibling.expect_next(window, ALL_LINES);
        }
        Some(record)
    }

    /// Steps to the sibling leaf of values, if it is below the same branch.
    fn cross_to_values<'t>(&mut self, window: Window<'t>, forwards: bool) -> Option<&'t [u8]> {
        if self.fast.mode != FastMode::Tree {
            return None;
        }
        self.check_leaf_count(window, forwards)?;
        let (tree, path) = self.inner.as_deref_mut()?;
        let sibling = SiblingLeaf::of(window, path, tree.leaf, forwards)?;
        let mut page_cursor = sibling.page_cursor;
        page_cursor.index = if forwards {
            0
        } else {
            page_cursor.page.count() - 1
        };
        let bytes = page_cursor.bytes(window)?;
        let value = page_cursor.page.leaf_key(bytes, page_cursor.index)?;
        sibling.go(path);
        if forwards {
            page_cursor.prefetch_after_crossing(window, &sibling.link);
        } else {
            sibling.expect_next(window, ALL_LINES);
        }
        self.inner_leaves_passed += 1;
        self.fast.values = page_cursor;
        Some(value)
    }

    /// Goes to the next leaf of the value tree, if it is below the same branch. It does not read
    /// the values.
    #[inline(always)]
    fn cross_to_next_block(&mut self, window: Window<'_>) -> Option<()> {
        self.check_leaf_count(window, true)?;
        let (tree, path) = self.inner.as_deref_mut()?;
        let [above, leaf] = path.last_two_mut()?;
        let bytes = window.page(above.pgno)?;
        if self.fast.branch.0 != above.pgno {
            let branch = Page::parse(bytes, above.pgno, PageKind::Branch).ok()?;
            self.fast.branch = (above.pgno, branch.header());
        }
        let (branch, index) = (self.fast.branch.1, above.index + 1);
        let pgno = branch.child(bytes, index as u32)?;
        let page_cursor = PageCursor::over(window, pgno, tree.leaf)?;
        if let Some(next) = branch.child(bytes, index as u32 + 1)
            && let Some(next) = window.page(next)
        {
            prefetch(next);
            prefetch(next.get(CACHE_LINE..).unwrap_or(next));
        }
        above.index = index;
        *leaf = Step { pgno, index: 0 };
        self.inner_leaves_passed += 1;
        self.fast.values = page_cursor;
        Some(())
    }

    /// Records the direction. Returns `None` if the walk has passed as many leaves as the map has
    /// pages.
    ///
    /// This bound ends walks in a damaged tree. The file length is not asked for here; the slow
    /// path does that.
    #[inline(always)]
    fn check_leaf_count(&mut self, window: Window<'_>, forwards: bool) -> Option<()> {
        self.set_heading(if forwards { Edge::Last } else { Edge::First });
        let passed = self.leaves_passed + self.inner_leaves_passed;
        (passed < window.pages()).then_some(())
    }
}
