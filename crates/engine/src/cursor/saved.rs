//! Arriving and parking: a place notes its record before the tree changes or the snapshot goes, and finds its way again.

use super::position::{AtValue, CursorPosition, Deleted, Edge, State};
use super::{Move, Record};
use crate::Error;
use crate::space::PageView;
use crate::tree::{self, Pages, Path, Tree};
use crate::value::ValueAt;

impl CursorPosition {
    /// Stands on a key, but on none of its values if they are several: where a search for another key ends.
    pub(super) fn unset_values(&mut self) {
        if self.state == State::On && self.value != AtValue::One {
            self.value = AtValue::Unset;
        }
    }

    /// As [`CursorPosition::stand_on_path`], after the record it stood on was deleted: who was at the end stays there.
    pub(crate) fn stand_on_path_after_deletion(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        path: Path,
    ) -> Result<(), Error> {
        let at_end = self.at_end;
        self.stand_on_path(pages, tree, path)?;
        self.at_end = at_end;
        Ok(())
    }

    /// Notes key and value, because the tree is about to change.
    pub(crate) fn save_position(&mut self, pages: PageView<'_>, tree: &Tree) -> Result<(), Error> {
        self.leave_fast();
        self.forget_leaf();
        if self.is_saved || self.state != State::On {
            return Ok(());
        }
        let Some(leaf) = self.path.leaf() else {
            return Ok(());
        };
        let node = pages.leaf_node(leaf)?;
        self.key.clear();
        self.key.extend_from_slice(node.key);
        self.value_bytes.clear();
        if tree.has_duplicates()
            && let Some((_, value)) = self.current(pages, tree)?
        {
            self.value_bytes.extend_from_slice(value);
        }
        self.is_saved = true;
        Ok(())
    }

    /// Notes a record that was just stored as the one it stands on.
    pub(crate) fn save_position_at(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.forget_flags();
        self.forget_leaf();
        self.state = State::On;
        self.value = AtValue::One;
        self.key.clear();
        self.key.extend_from_slice(key);
        self.value_bytes.clear();
        self.value_bytes
            .extend_from_slice(value.unwrap_or_default());
        self.is_saved = true;
    }

    /// Stands on the record that a way leads to, of a key that has one value.
    pub(crate) fn stand_on_single_value(&mut self, path: &Path) {
        self.forget_flags();
        self.forget_leaf();
        self.state = State::On;
        self.value = AtValue::One;
        self.is_saved = false;
        self.path.clone_from(path);
    }

    /// Finds the way again.
    #[inline]
    pub(crate) fn restore_position(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), Error> {
        if self.is_saved {
            self.find_way(pages, tree)?;
        }
        Ok(())
    }

    /// Moves a place that knows its way. Even a refused move ends the wait on a deleted record's successor.
    #[inline]
    pub(crate) fn go_or_clear_deleted<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        step: Move<'_>,
    ) -> Result<Option<Record<'t>>, Error> {
        let moved = self.go(pages, tree, step);
        if moved.is_err() {
            self.clear_deleted();
        }
        moved
    }

    /// Ends strides, and finds the way again in a later snapshot. If the record is gone, the next step forwards goes to its
    /// successor.
    #[inline]
    pub(crate) fn resume(&mut self, pages: PageView<'_>, tree: &Tree) -> Result<(), Error> {
        self.leave_fast();
        self.has_values = tree.has_duplicates();
        self.has_fixed_values = tree.has_fixed_values();
        if self.is_saved && !self.find_way(pages, tree)? {
            self.deleted = if self.path.is_empty() || self.value_bytes.is_empty() {
                Deleted::Key
            } else {
                Deleted::Value
            };
        }
        Ok(())
    }

    /// Goes to the record that was noted, or its successor; tells which.
    fn find_way(&mut self, pages: PageView<'_>, tree: &Tree) -> Result<bool, Error> {
        self.is_saved = false;
        self.forget_leaf();
        self.leaves_passed = 0;
        let exact = tree::seek(pages, tree, &self.key, &mut self.path)?;
        let (behind, value) = (self.behind_values, self.value);
        self.settle(pages, tree, exact)?;
        if !exact || !tree.has_duplicates() {
            self.value_bytes.clear();
            return Ok(exact);
        }
        if behind {
            self.go_behind_values(pages, tree)?;
            return Ok(true);
        }
        if value == AtValue::Unset {
            self.unset_values();
            return Ok(true);
        }
        let value = std::mem::take(&mut self.value_bytes);
        let exact = self.enter_stored_value(pages, tree, &value)?;
        self.value_bytes = value;
        Ok(exact)
    }

    /// Notes what the header of the leaf says, so that steps within the leaf need not look at it until the tree changes.
    pub(crate) fn cache_leaf_header(&mut self, pages: PageView<'_>, tree: &Tree) {
        self.has_values = tree.has_duplicates();
        if self.state == State::On
            && let Some(leaf) = self.path.leaf()
            && leaf.pgno != self.leaf.0
            && let Ok(page) = pages.tree_page(leaf.pgno, tree.leaf)
        {
            self.leaf = (leaf.pgno, page.header());
        }
    }

    /// Goes behind the last value of the key.
    pub(crate) fn go_behind_values(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), Error> {
        self.enter_key(pages, tree, Edge::Last)?;
        self.behind_values = self.value != AtValue::One;
        Ok(())
    }

    /// Goes to a value that the key has, or behind the last; tells which. An order of the program's own is not asked: it
    /// may compare nothing but what the program is passing at the moment.
    pub(crate) fn enter_stored_value(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        value: &[u8],
    ) -> Result<bool, Error> {
        if !tree.value_order.is_custom() {
            return self.enter_value(pages, tree, value);
        }
        self.enter_key(pages, tree, Edge::First)?;
        loop {
            if let Some((_, found)) = self.current(pages, tree)?
                && found == value
            {
                return Ok(true);
            }
            if !self.step_value(pages, tree, Edge::Last)? {
                self.behind_values = self.value != AtValue::One;
                return Ok(false);
            }
        }
    }

    /// The value after the one it stands on, of the same key.
    pub(crate) fn following_value(
        &self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut next = self.clone();
        if !next.step_value(pages, tree, Edge::Last)? {
            return Ok(None);
        }
        Ok(next.current(pages, tree)?.map(|(_, value)| value.to_vec()))
    }

    /// Which of the values of its key it stands on.
    pub(crate) fn value_at(&self) -> Option<ValueAt> {
        match (self.value, &self.inner) {
            (AtValue::One, _) => Some(ValueAt::One),
            (AtValue::Page(index), _) => Some(ValueAt::Page(index)),
            (AtValue::Tree, Some(inner)) => Some(ValueAt::Tree(inner.0, Box::new(inner.1.clone()))),
            (AtValue::Tree, None) | (AtValue::Unset, _) => None,
        }
    }

    pub(crate) const fn path(&self) -> &Path {
        &self.path
    }

    /// The way to the key, for whoever changes the tree there: it is to lead to the place afterwards.
    pub(crate) const fn path_mut(&mut self) -> &mut Path {
        &mut self.path
    }

    /// Notes the key it stands on, without being parked.
    pub(crate) fn save_key(&mut self, pages: PageView<'_>) -> Result<(), Error> {
        if let Some(leaf) = self.path.leaf() {
            let node = pages.leaf_node(leaf)?;
            self.key.clear();
            self.key.extend_from_slice(node.key);
        }
        Ok(())
    }

    /// Makes the way lead to where the noted key is, or would be.
    pub(crate) fn seek_saved_key(&mut self, pages: PageView<'_>, tree: &Tree) -> Result<(), Error> {
        tree::seek(pages, tree, &self.key, &mut self.path).map(|_| ())
    }

    /// Stands on what comes after a record that was deleted, to whose place the way leads.
    pub(crate) fn stand_on_successor(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), Error> {
        let at_end = self.at_end;
        self.forget_flags();
        self.forget_leaf();
        self.settle(pages, tree, false)?;
        self.at_end = at_end;
        self.mark_deleted(true);
        self.cache_leaf_header(pages, tree);
        Ok(())
    }

    /// Stands on the first value of the key a way leads to, or of the next key if it leads behind a leaf's last.
    pub(crate) fn stand_on_path(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        path: Path,
    ) -> Result<(), Error> {
        self.forget_flags();
        self.forget_leaf();
        self.is_saved = false;
        self.path = path;
        self.settle(pages, tree, false)
    }
}
