//! Saved positions: the record is copied before the tree changes or the snapshot ends, and found
//! again later.

use super::position::{AtValue, CursorPosition, Deleted, Edge, State};
use super::{Move, Record};
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::{self, Pages, Path, Tree};
use crate::value::ValueAt;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl CursorPosition {
    /// Keeps the key and unsets the value, if the key has several. A search for another key ends
    /// so.
    pub(super) fn unset_values(&mut self) {
        if self.state == State::On && self.value != AtValue::One {
            self.value = AtValue::Unset;
        }
    }

    /// As [`CursorPosition::stand_on_path`], after the record was deleted. A cursor at the end
    /// stays there.
    pub(crate) fn stand_on_path_after_deletion(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        path: Path,
    ) -> Result<(), BoxedError> {
        let at_end = self.at_end;
        self.stand_on_path(pages, tree, path)?;
        self.at_end = at_end;
        Ok(())
    }

    /// Copies key and value, because the tree is about to change.
    pub(crate) fn save_position(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), BoxedError> {
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

    /// Saves the position on a record that was just stored.
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

    /// Goes to the record that a path leads to, of a key with one value.
    pub(crate) fn stand_on_single_value(&mut self, path: &Path) {
        self.forget_flags();
        self.forget_leaf();
        self.state = State::On;
        self.value = AtValue::One;
        self.is_saved = false;
        self.path.clone_from(path);
    }

    /// Finds the path of a saved position again.
    #[inline]
    pub(crate) fn restore_position(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), BoxedError> {
        if self.is_saved {
            self.restore_path(pages, tree)?;
        }
        Ok(())
    }

    /// Moves a position that has its path. Even a refused move forgets a deleted record.
    #[inline]
    pub(crate) fn go_or_clear_deleted<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        step: Move<'_>,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let moved = self.go(pages, tree, step);
        if moved.is_err() {
            self.clear_deleted();
        }
        moved
    }

    /// Leaves fast mode, and finds the path again in a later snapshot. If the record is gone, the
    /// next step forward goes to its successor.
    #[inline]
    pub(crate) fn resume(&mut self, pages: PageView<'_>, tree: &Tree) -> Result<(), BoxedError> {
        self.leave_fast();
        self.has_values = tree.has_duplicates();
        self.has_fixed_values = tree.has_fixed_values();
        if self.is_saved && !self.restore_path(pages, tree)? {
            self.deleted = if self.path.is_empty() || self.value_bytes.is_empty() {
                Deleted::Key
            } else {
                Deleted::Value
            };
        }
        Ok(())
    }

    /// Goes to the saved record or its successor. Returns true if the record exists.
    fn restore_path(&mut self, pages: PageView<'_>, tree: &Tree) -> Result<bool, BoxedError> {
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
        let value = core::mem::take(&mut self.value_bytes);
        let exact = self.enter_stored_value(pages, tree, &value)?;
        self.value_bytes = value;
        Ok(exact)
    }

    /// Caches the header of the leaf. Steps within the leaf reuse it until the tree changes.
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

    /// Goes past the last value of the key.
    pub(crate) fn go_behind_values(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), BoxedError> {
        self.enter_key(pages, tree, Edge::Last)?;
        self.behind_values = self.value != AtValue::One;
        Ok(())
    }

    /// Goes to a value of the key, or past the last one. Returns true if the value exists.
    ///
    /// It does not call an order of the program: that may compare only the data of the program's
    /// current call.
    pub(crate) fn enter_stored_value(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        value: &[u8],
    ) -> Result<bool, BoxedError> {
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

    /// Returns the value after the current one, of the same key.
    pub(crate) fn following_value(
        &self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<Option<Vec<u8>>, BoxedError> {
        let mut next = self.clone();
        if !next.step_value(pages, tree, Edge::Last)? {
            return Ok(None);
        }
        Ok(next.current(pages, tree)?.map(|(_, value)| value.to_vec()))
    }

    /// Returns which value of its key is current.
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

    /// Lends the path to the key to code that changes the tree there. Afterwards it must lead to
    /// the position.
    pub(crate) const fn path_mut(&mut self) -> &mut Path {
        &mut self.path
    }

    /// Copies the current key, without saving the position.
    pub(crate) fn save_key(&mut self, pages: PageView<'_>) -> Result<(), BoxedError> {
        if let Some(leaf) = self.path.leaf() {
            let node = pages.leaf_node(leaf)?;
            self.key.clear();
            self.key.extend_from_slice(node.key);
        }
        Ok(())
    }

    /// Makes the path lead to the copied key, or to where it would be.
    pub(crate) fn seek_saved_key(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), BoxedError> {
        tree::seek(pages, tree, &self.key, &mut self.path).map(|_| ())
    }

    /// Goes to the record after a deleted one. The path leads to where that was.
    pub(crate) fn stand_on_successor(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<(), BoxedError> {
        let at_end = self.at_end;
        self.forget_flags();
        self.forget_leaf();
        self.settle(pages, tree, false)?;
        self.at_end = at_end;
        self.mark_deleted(true);
        self.cache_leaf_header(pages, tree);
        Ok(())
    }

    /// Goes to the first value of the key a path leads to. If the path is past a leaf's last entry,
    /// goes to the next key.
    pub(crate) fn stand_on_path(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        path: Path,
    ) -> Result<(), BoxedError> {
        self.forget_flags();
        self.forget_leaf();
        self.is_saved = false;
        self.path = path;
        self.settle(pages, tree, false)
    }
}
