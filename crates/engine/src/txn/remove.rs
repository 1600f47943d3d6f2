//! Removing records, and moving cursors.

use alloc::vec::Vec;
use fulgurite_format::NodeFlags;

use super::put::check_plain;
use super::snapshot::Sealed;
use super::write::WriteTxn;
use super::write_cursor::WriteCursor;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::cursor::{CursorId, CursorPosition, DeletedRecord, Move, Record};
use crate::opened::Database;
use crate::tree::{self, Pages, Path, Tree};
use crate::value::{self, Removal};

impl<'env> WriteTxn<'env> {
    /// Removes a key and all its values; `false` if there is none.
    /// # Errors
    /// [`Error::WrongKind`] if it names a database, see [`WriteTxn::drop_database`]; any other ends
    /// the transaction.
    pub fn delete(&mut self, database: Database, key: &[u8]) -> Result<bool, Error> {
        let mut path = Path::new();
        self.check_changeable(database)?;
        // In place, because a tree in a result is copied several times.
        let mut tree = match self.trees.get_mut().get(database) {
            Some(open) => open.tree,
            None => self.load_tree(database)?,
        };
        if !self.has_key(&tree, key, &mut path)? {
            return Ok(false);
        }
        if !self.has_cursors() {
            self.remove_key(database, &mut tree, &mut path)?;
            return Ok(true);
        }
        self.delete_tracked(database, tree, path, None)
            .map_err(Error::from)
    }

    /// Removes one value of a key; `false` if the key does not have it. Without duplicates the
    /// value is not looked at.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn delete_pair(
        &mut self,
        database: Database,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, Error> {
        let mut path = Path::new();
        self.check_changeable(database)?;
        let tree = self.tree(database)?;
        if !self.has_key(&tree, key, &mut path)? {
            return Ok(false);
        }
        if !tree.has_duplicates() {
            return self.delete(database, key);
        }
        self.check_plain_record(database, &path)?;
        let Some(leaf) = path.leaf() else {
            return Ok(false);
        };
        let (at, exact) = value::seek_value(self.pages(), &tree, leaf, value)?;
        if !exact {
            return Ok(false);
        }
        if self.has_cursors() {
            return self
                .delete_tracked(database, tree, path, Some(value))
                .map_err(Error::from);
        }
        self.remove_one(database, tree, &mut path, at)?;
        Ok(true)
    }

    /// Opens a cursor that is kept in step with all changes of the transaction.
    /// # Errors
    /// As [`crate::Snapshot::cursor`].
    pub fn open_cursor(&mut self, database: Database) -> Result<CursorId, Error> {
        self.check_alive()?;
        self.tree(database)?;
        Ok(self.cursors.open(database))
    }

    /// Closes a cursor; nothing happens if it is closed already.
    pub fn close_cursor(&mut self, id: CursorId) {
        self.cursors.close(id);
    }

    /// Lends a cursor for moves and changes.
    /// # Errors
    /// [`Error::CursorClosed`], [`Error::TransactionFailed`].
    pub fn at(&mut self, id: CursorId) -> Result<WriteCursor<'_, 'env>, Error> {
        self.check_alive()?;
        if !self.cursors.is_open(id) {
            return Err(Error::CursorClosed);
        }
        Ok(WriteCursor::new(self, id, false))
    }

    /// Opens a cursor that can change its record; closed when dropped.
    /// # Errors
    /// As [`crate::Snapshot::cursor`].
    pub fn cursor_mut(&mut self, database: Database) -> Result<WriteCursor<'_, 'env>, Error> {
        let id = self.open_cursor(database)?;
        Ok(WriteCursor::new(self, id, true))
    }

    /// Moves a cursor.
    pub(crate) fn move_cursor(
        &self,
        id: CursorId,
        step: Move<'_>,
    ) -> Result<Option<Record<'_>>, BoxedError> {
        self.with_position(id, |txn, place| {
            let pages = txn.pages();
            txn.with_tree(place.database(), |tree| {
                place.restore_position(pages, tree)?;
                place.go_or_clear_deleted(pages, tree, step)
            })
        })
    }

    /// Moves a cursor to the next record if that is in the same leaf and keys have one value each.
    /// Returns `None`, and changes nothing, otherwise; [`WriteTxn::step_cursor`] then does it.
    #[must_use]
    pub fn next_in_leaf(&self, id: CursorId) -> Option<Record<'_>> {
        self.check_alive().ok()?;
        self.cursors.step_within(id, self.pages())
    }

    /// Moves a cursor to a neighbour; cheaper than [`WriteCursor::go`] of [`WriteTxn::at`].
    /// # Errors
    /// As [`WriteCursor::go`].
    pub fn step_cursor(&self, id: CursorId, step: Move<'_>) -> Result<Option<Record<'_>>, Error> {
        self.check_alive()?;
        self.with_position(id, |txn, place| {
            let pages = txn.pages();
            txn.with_tree(place.database(), |tree| {
                place.restore_position(pages, tree)?;
                let moved = place.go_or_clear_deleted(pages, tree, step);
                // Until the tree changes, steps within the leaf look at its nodes alone.
                place.cache_leaf_header(pages, tree);
                moved
            })
        })
        .map_err(Error::from)
    }

    /// Works on a cursor's place.
    pub(crate) fn with_position<'t, T: 't>(
        &'t self,
        id: CursorId,
        work: impl FnOnce(&'t WriteTxn<'env>, &mut CursorPosition) -> Result<T, BoxedError>,
    ) -> Result<T, BoxedError> {
        let mut place = self.cursors.take(id)?;
        let result = work(self, &mut place);
        self.cursors.put_back(id, place);
        result
    }

    /// Asks a cursor's place something; a closed cursor has no properties.
    pub(crate) fn inspect_position(
        &self,
        id: CursorId,
        ask: impl FnOnce(&CursorPosition) -> bool,
    ) -> bool {
        self.with_position(id, |_, place| Ok(ask(place)))
            .unwrap_or(false)
    }

    /// Returns true if a cursor's database holds fixed-size duplicates.
    pub(crate) fn has_fixed_values(&self, id: CursorId) -> Result<bool, BoxedError> {
        self.with_position(id, |txn, place| {
            Ok(txn.tree(place.database())?.has_fixed_values())
        })
    }

    /// Removes the record at a cursor.
    pub(crate) fn delete_at(&mut self, id: CursorId, all_values: bool) -> Result<bool, BoxedError> {
        self.check_alive()?;
        let mut place = self.cursors.take(id)?;
        let result = self.delete_through(&mut place, all_values);
        self.cursors.put_back(id, place);
        result
    }

    fn delete_through(
        &mut self,
        place: &mut CursorPosition,
        all_values: bool,
    ) -> Result<bool, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        let database = place.database();
        let mut tree = self.tree(database)?;
        let is_alone = !self.has_cursors();
        place.restore_position(self.pages(), &tree)?;
        let current = place.go(self.pages(), &tree, Move::Current)?;
        if is_alone && !tree.has_duplicates() && current.is_some() {
            return self.delete_alone(place, tree);
        }
        let (key, value) = match current {
            Some((key, value)) => {
                let one_of_several = tree.has_duplicates() && !all_values;
                (key.to_vec(), one_of_several.then(|| value.to_vec()))
            }
            // Behind the last value of a key there is still the key.
            None if all_values && place.has_key() => {
                let key = value::key_at(self.pages(), &tree, place.path())?;
                (key.to_vec(), None)
            }
            None => return Ok(false),
        };
        self.check_plain_record(database, place.path())?;
        // A custom order must not be called with data of the database, so this is found out before.
        let follower = match &value {
            Some(_) if tree.value_order.is_custom() => {
                Some(place.following_value(self.pages(), &tree)?)
            }
            _ => None,
        };
        self.save_other_positions(database)?;
        let mut path = place.path().clone();
        let (whole_key, good) = match &value {
            None => (true, self.remove_key(database, &mut tree, &mut path)?),
            Some(_) => {
                let at = place.value_at().ok_or(Error::CursorUnset)?;
                match self.remove_one(database, tree, &mut path, at)? {
                    Removal::Key(good) => (true, good),
                    Removal::Value(good) => (false, good),
                }
            }
        };
        if !good {
            let tree = self.tree(database)?;
            tree::seek(self.pages(), &tree, &key, &mut path)?;
        }
        debug_assert!(!key.is_empty(), "a record has a key");
        let lost = value.as_deref().filter(|_| !whole_key);
        self.stand_on_successor(place, path, lost, follower)?;
        let gone = DeletedRecord {
            key: &key,
            value: value.as_deref().filter(|_| !whole_key),
        };
        self.move_other_cursors(&gone, place)?;
        Ok(true)
    }

    /// Removes the record at a cursor position, in a tree of keys with one value each. No other
    /// cursor may have to be kept in step.
    fn delete_alone(
        &mut self,
        place: &mut CursorPosition,
        mut tree: Tree,
    ) -> Result<bool, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!tree.has_duplicates() && !self.has_cursors());
        let database = place.database();
        place.save_key(self.pages())?;
        let good = self.remove_key(database, &mut tree, place.path_mut())?;
        let pages = tree::PagesMut::view(&self.pages);
        if !good {
            place.seek_saved_key(pages, &tree)?;
        }
        debug_assert!(!self.failed);
        place.stand_on_successor(pages, &tree)?;
        Ok(true)
    }

    /// Moves the other cursors on a deleted record to the position `place`. In an empty tree
    /// nothing is anywhere.
    pub(super) fn move_other_cursors(
        &mut self,
        gone: &DeletedRecord<'_>,
        place: &CursorPosition,
    ) -> Result<(), BoxedError> {
        if !self.has_cursors() {
            return Ok(());
        }
        let tree = self.tree(place.database())?;
        if tree.record.root.is_none() {
            self.cursors.reset(place.database());
            return Ok(());
        }
        // They find their own way to it.
        let mut there = place.clone();
        there.save_position(self.pages(), &tree)?;
        self.cursors.follow(gone, &there);
        Ok(())
    }

    /// Moves the position of a deleted record to its successor, the next key or the next value.
    /// `follower` names that value if it was asked for.
    fn stand_on_successor(
        &self,
        place: &mut CursorPosition,
        path: Path,
        lost: Option<&[u8]>,
        follower: Option<Option<Vec<u8>>>,
    ) -> Result<(), BoxedError> {
        let tree = self.tree(place.database())?;
        place.stand_on_path_after_deletion(self.pages(), &tree, path)?;
        match (lost, follower) {
            (None, _) => {}
            (Some(value), None) => {
                place.enter_value(self.pages(), &tree, value)?;
            }
            (Some(_), Some(None)) => place.go_behind_values(self.pages(), &tree)?,
            (Some(_), Some(Some(value))) => {
                place.enter_stored_value(self.pages(), &tree, &value)?;
            }
        }
        place.mark_deleted(lost.is_none());
        Ok(())
    }

    fn delete_tracked(
        &mut self,
        database: Database,
        tree: Tree,
        path: Path,
        value: Option<&[u8]>,
    ) -> Result<bool, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        let mut place = CursorPosition::new(database);
        place.stand_on_path(self.pages(), &tree, path)?;
        if let Some(value) = value {
            place.enter_value(self.pages(), &tree, value)?;
        }
        self.delete_through(&mut place, value.is_none())
    }

    /// Goes to the entry of a key. Returns true if there is one.
    #[inline(always)]
    fn has_key(&self, tree: &Tree, key: &[u8], path: &mut Path) -> Result<bool, BoxedError> {
        if key.is_empty() || !tree::seek(self.pages(), tree, key, path)? {
            return Ok(false);
        }
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        Ok(true)
    }

    /// Removes the entry a path leads to, with all values; returns true if the path is still valid.
    /// Refuses to remove the record of a named database.
    pub(super) fn remove_key(
        &mut self,
        database: Database,
        tree: &mut Tree,
        path: &mut Path,
    ) -> Result<bool, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        self.failed = true;
        self.pages.spill_if_full()?;
        if tree.has_duplicates() {
            let good = value::remove_values(&mut self.pages, tree, path)?;
            self.trees.get_mut().change_record(database, tree);
            self.failed = false;
            return Ok(good);
        }
        let removed = tree::remove_plain(&mut self.pages, tree, path)?;
        self.trees.get_mut().change_record(database, tree);
        self.failed = false;
        match removed {
            Some(good) => Ok(good),
            None => self.remove_special(database, tree, path),
        }
    }

    /// As [`WriteTxn::remove_key`], of an entry with a value outside its leaf, or of a named
    /// database. The path is private by now: as in the original, the attempt counts as a change.
    #[cold]
    #[inline(never)]
    fn remove_special(
        &mut self,
        database: Database,
        tree: &mut Tree,
        path: &mut Path,
    ) -> Result<bool, BoxedError> {
        let view = self.pages();
        let leaf = tree::leaf_of(path, tree)?;
        let node = view.leaf_node(leaf)?;
        check_plain(database, &node)?;
        let run = (node.flags.0 == NodeFlags::OVERFLOW)
            .then(|| value::run_of(view, leaf.pgno, &node))
            .transpose()?;
        self.failed = true;
        value::release_value(&mut self.pages, &mut tree.record, run)?;
        let good = tree::remove(&mut self.pages, tree, path)?;
        self.trees.get_mut().change_record(database, tree);
        self.failed = false;
        Ok(good)
    }

    fn remove_one(
        &mut self,
        database: Database,
        tree: Tree,
        path: &mut Path,
        at: value::ValueAt,
    ) -> Result<Removal, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        debug_assert!(tree.has_duplicates());
        self.guarded(|txn| {
            let mut tree = tree;
            txn.pages.spill_if_full()?;
            let removed = value::remove_value(&mut txn.pages, &mut tree, path, at)?;
            txn.set_tree(database, tree);
            Ok(removed)
        })
    }
}
