//! Steps from a record to its neighbours, and between the values of a key.

use fulgurite_format::{Malformed, Page, PageKind};

use super::Record;
use super::position::{AtValue, CursorPosition, Deleted, Edge, State};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::{self, LeafStep, Pages, Path, Step, Tree};
use crate::value;

impl CursorPosition {
    #[inline]
    pub(crate) fn next<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let moves_on = self.state == State::On && self.deleted == Deleted::No && !self.at_end;
        if moves_on && !tree.has_duplicates() {
            return self.step_within(pages, tree);
        }
        self.next_with_values(pages, tree)
    }

    /// Steps one record forward. Within the leaf it reads nothing but the node.
    #[inline]
    pub(super) fn step_within<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let Some(leaf) = self.path.leaf_mut() else {
            return Ok(None);
        };
        let (pgno, checked) = self.leaf;
        let next = leaf.index + 1;
        if pgno != leaf.pgno || next >= checked.len() {
            return self.step_out(pages, tree);
        }
        leaf.index = next;
        let page = Page::from_header(pages.page(pgno)?, checked);
        if let Some(record) = page.plain_record(next) {
            return Ok(Some(record));
        }
        let node = page.leaf(next).map_err(Error::at(pgno))?;
        let value = value::value_of(pages, pgno, &node)?;
        Ok(Some((node.key, value)))
    }

    /// Steps one record forward within the cached leaf, where keys have one value each. On `None`
    /// nothing has changed.
    #[inline]
    pub(super) fn step_in_cached_leaf<'t>(&mut self, pages: PageView<'t>) -> Option<Record<'t>> {
        if self.state != State::On || self.at_end || self.is_saved || self.has_values {
            return None;
        }
        // After a deletion the position is already on the next record.
        let by = match self.deleted {
            Deleted::No => 1,
            Deleted::Key => 0,
            Deleted::Value => return None,
        };
        let leaf = self.path.leaf_mut()?;
        let (pgno, checked) = self.leaf;
        let next = leaf.index + by;
        if pgno != leaf.pgno || next >= checked.len() {
            return None;
        }
        let page = Page::from_header(pages.lend(pgno)?, checked);
        let record = page.plain_record(next)?;
        leaf.index = next;
        self.deleted = Deleted::No;
        Some(record)
    }

    /// Lends the current step of the path, for a step within the leaf. `None` where a step takes
    /// more than an increment.
    #[inline(always)]
    pub(super) fn plain_step(&mut self) -> Option<&mut Step> {
        if self.state == State::On && self.deleted == Deleted::No {
            self.path.leaf_mut()
        } else {
            None
        }
    }

    /// Returns the current step of the path.
    pub(super) fn step(&self) -> Option<Step> {
        self.path.leaf()
    }

    /// Steps one record forward into a leaf whose header is not cached.
    #[inline(never)]
    pub(super) fn step_out<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if self.is_saved {
            self.resume(pages, tree)?;
            return self.next_with_values(pages, tree);
        }
        let found = self.enter_adjacent_key::<true>(pages, tree)?;
        if let Some(leaf) = self.path.leaf() {
            if leaf.index == 0 && !self.leaf.0.is_none() {
                // The walk reached a second leaf step by step, so it will reach a third.
                tree::prefetch_leaf(pages, tree::leaf_after(pages, &self.path), usize::MAX);
            }
            let page = pages.tree_page(leaf.pgno, PageKind::Leaf)?;
            self.leaf = (leaf.pgno, page.header());
        }
        Ok(found)
    }

    pub(super) fn next_with_values<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        self.resume(pages, tree)?;
        match self.state {
            State::Unset => return self.edge(pages, tree, Edge::First),
            State::Behind => return Ok(None),
            State::On => {}
        }
        if self.is_stuck(pages, tree)? {
            return Ok(None);
        }
        match core::mem::replace(&mut self.deleted, Deleted::No) {
            Deleted::Key => return self.current(pages, tree),
            Deleted::Value if !self.behind_values => return self.current(pages, tree),
            _ => {}
        }
        if tree.has_duplicates() && self.step_value(pages, tree, Edge::Last)? {
            return self.current(pages, tree);
        }
        self.enter_adjacent_key::<true>(pages, tree)
    }

    /// Goes to the last record as a step backward does: from there the cursor may step forward
    /// again.
    pub(super) fn last_backwards<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let found = self.edge(pages, tree, Edge::Last)?;
        self.at_end = false;
        Ok(found)
    }

    /// Returns true if the cursor reached the end before and is on the last key of a leaf. Then
    /// steps forward lead nowhere, even if records were stored since. LMDB does the same.
    pub(super) fn is_stuck(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<bool, BoxedError> {
        let Some(leaf) = self.path.leaf().filter(|_| self.at_end) else {
            return Ok(false);
        };
        let stuck = leaf.index + 1 >= pages.tree_page(leaf.pgno, tree.leaf)?.len();
        if stuck {
            self.deleted = Deleted::No;
        }
        Ok(stuck)
    }

    pub(super) fn previous<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if self.state != State::On {
            return self.last_backwards(pages, tree);
        }
        self.at_end = false;
        self.deleted = Deleted::No;
        if tree.has_duplicates() && self.step_value(pages, tree, Edge::First)? {
            return self.current(pages, tree);
        }
        self.enter_adjacent_key::<false>(pages, tree)
    }

    pub(super) fn next_key<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        match self.state {
            State::Unset => return self.edge(pages, tree, Edge::First),
            State::Behind => return Ok(None),
            State::On => {}
        }
        if self.is_stuck(pages, tree)? {
            return Ok(None);
        }
        if core::mem::replace(&mut self.deleted, Deleted::No) == Deleted::Key {
            return self.current(pages, tree);
        }
        self.enter_adjacent_key::<true>(pages, tree)
    }

    pub(super) fn previous_key<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if self.state != State::On {
            return self.last_backwards(pages, tree);
        }
        self.at_end = false;
        let deleted = core::mem::replace(&mut self.deleted, Deleted::No);
        let found = self.enter_adjacent_key::<false>(pages, tree)?;
        if found.is_none() && deleted != Deleted::No && self.value != AtValue::One {
            // The cursor stays where the record was. The next step goes to the value after it.
            self.deleted = Deleted::Value;
        }
        Ok(found)
    }

    pub(super) fn next_value<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if !tree.has_duplicates() {
            // The record after a deleted one has another key.
            if self.deleted == Deleted::Key {
                self.deleted = Deleted::No;
                return Ok(None);
            }
            return self.next(pages, tree);
        }
        match self.state {
            State::Unset if self.deleted == Deleted::Key => {
                self.deleted = Deleted::No;
                return Ok(None);
            }
            State::Unset => return self.edge(pages, tree, Edge::First),
            State::Behind => return Ok(None),
            State::On => {}
        }
        if self.is_stuck(pages, tree)? {
            return Ok(None);
        }
        match core::mem::replace(&mut self.deleted, Deleted::No) {
            Deleted::Key => {
                // The successor's values have not been entered: the next step goes to the first of
                // them.
                if !self.is_single() {
                    self.deleted = Deleted::Value;
                }
                return Ok(None);
            }
            Deleted::Value => return self.current(pages, tree),
            Deleted::No => {}
        }
        if self.step_value(pages, tree, Edge::Last)? {
            return self.current(pages, tree);
        }
        Ok(None)
    }

    pub(super) fn previous_value<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if !tree.has_duplicates() {
            return self.previous(pages, tree);
        }
        if self.state != State::On {
            return self.last_backwards(pages, tree);
        }
        if core::mem::replace(&mut self.deleted, Deleted::No) == Deleted::Key {
            return Ok(None);
        }
        self.at_end = false;
        if self.step_value(pages, tree, Edge::First)? {
            return self.current(pages, tree);
        }
        Ok(None)
    }

    pub(super) fn value_edge<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        edge: Edge,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if self.state == State::Unset {
            return Err(Error::CursorUnset.into());
        }
        if !tree.has_duplicates() {
            return Err(Error::NoDuplicates.into());
        }
        if self.value == AtValue::Unset {
            return Err(Error::CursorUnset.into());
        }
        if self.state == State::Behind {
            return Ok(None);
        }
        self.deleted = Deleted::No;
        self.enter_key(pages, tree, edge)?;
        self.at_end_of_values = edge == Edge::Last;
        self.current(pages, tree)
    }

    /// Steps to the neighbouring value of the key. Returns false, with nothing changed, if there is
    /// none.
    pub(super) fn step_value(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        towards: Edge,
    ) -> Result<bool, BoxedError> {
        let behind = self.behind_values;
        let moved = match self.value {
            AtValue::One => false,
            AtValue::Page(index) => {
                let Some(leaf) = self.path.leaf() else {
                    return Ok(false);
                };
                let node = pages.leaf_node(leaf)?;
                let values = Page::parse_sub(node.data).map_err(Error::at(leaf.pgno))?;
                let to = match towards {
                    Edge::Last => index.checked_add(1).filter(|_| !behind),
                    Edge::First if behind => values.len().checked_sub(1),
                    Edge::First => index.checked_sub(1),
                };
                match to.filter(|to| *to < values.len()) {
                    Some(to) => {
                        self.value = AtValue::Page(to);
                        true
                    }
                    None => false,
                }
            }
            AtValue::Tree => match towards {
                Edge::Last if behind => false,
                Edge::First if behind => match self.inner.as_deref_mut() {
                    Some((values, path)) => tree::last(pages, values, path)?,
                    None => false,
                },
                Edge::Last => self.step_inner(pages, tree::next, Edge::Last)?,
                Edge::First => self.step_inner(pages, tree::previous, Edge::First)?,
            },
            AtValue::Unset => {
                let from = match towards {
                    Edge::Last => Edge::First,
                    Edge::First => Edge::Last,
                };
                self.enter_key(pages, tree, from)?;
                true
            }
        };
        if moved {
            self.behind_values = false;
        }
        Ok(moved)
    }

    pub(super) fn step_inner<'t>(
        &mut self,
        pages: PageView<'t>,
        step: fn(PageView<'t>, &Tree, &mut Path) -> Result<LeafStep, BoxedError>,
        heading: Edge,
    ) -> Result<bool, BoxedError> {
        let Some((values, path)) = self.inner.as_deref_mut() else {
            return Ok(false);
        };
        let moved = step(pages, values, path)?;
        if moved == LeafStep::Across {
            self.set_heading(heading);
            self.inner_leaves_passed += 1;
            self.check_cycle(pages)?;
        }
        Ok(moved != LeafStep::AtEnd)
    }

    /// After a turn the walk may pass the same leaves again, so counting restarts.
    #[inline]
    pub(super) fn set_heading(&mut self, heading: Edge) {
        if self.heading != heading {
            self.heading = heading;
            self.leaves_passed = 0;
            self.inner_leaves_passed = 0;
        }
    }

    /// Counts the leaves of the key that the step leaves, and of its leaf if it leaves that too.
    fn leave_key(
        &mut self,
        pages: PageView<'_>,
        moved: LeafStep,
        heading: Edge,
    ) -> Result<(), BoxedError> {
        self.set_heading(heading);
        self.leaves_passed += core::mem::take(&mut self.inner_leaves_passed);
        if moved == LeafStep::Across {
            self.leaves_passed += 1;
        }
        self.check_cycle(pages)
    }

    /// Fails if the walk has passed more leaves than there are pages: in one direction it meets
    /// each page once.
    #[inline]
    fn check_cycle(&self, pages: PageView<'_>) -> Result<(), BoxedError> {
        if !pages.are_fewer_than(self.leaves_passed + self.inner_leaves_passed) {
            return Ok(());
        }
        let page = self.path.leaf().map_or(pages.last(), |leaf| leaf.pgno);
        Err(Error::at(page)(Malformed::Cycle))
    }

    /// Goes to the adjacent key: to the first value of the next one, or the last of the previous.
    pub(super) fn enter_adjacent_key<'t, const FORWARD: bool>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let moved = if FORWARD {
            tree::next(pages, tree, &mut self.path)?
        } else {
            tree::previous(pages, tree, &mut self.path)?
        };
        if moved == LeafStep::AtEnd {
            // LMDB's end flag exists for the end of the database only, not for its beginning.
            self.at_end |= FORWARD;
            return Ok(None);
        }
        let (heading, entered) = if FORWARD {
            (Edge::Last, Edge::First)
        } else {
            (Edge::First, Edge::Last)
        };
        self.leave_key(pages, moved, heading)?;
        self.enter_key(pages, tree, entered)?;
        self.current(pages, tree)
    }
}
