//! Storing through a cursor: where it is before, and where afterwards.

use super::insert_hint::append_to_last_leaf;
use super::put::PutOutcome;
use super::put_flags::{Put, PutFlags, Reservation};
use super::snapshot::Sealed;
use super::write::WriteTxn;
use crate::boxed_error::BoxedError;
use crate::cursor::{CursorId, CursorPosition, DeletedRecord};
use crate::tree::{self, Path, Tree};
use crate::{Error, value};

impl WriteTxn<'_> {
    /// Stores a record through a cursor and goes to it; cheaper than
    /// [`crate::WriteCursor::put_with`] of [`WriteTxn::at`].
    /// # Errors
    /// As [`crate::WriteCursor::put_with`]; [`Error::CursorClosed`].
    pub fn put_at(
        &mut self,
        id: CursorId,
        key: &[u8],
        value: &[u8],
        flags: PutFlags,
    ) -> Result<Put<'_>, Error> {
        self.check_alive()?;
        if !flags.has(PutFlags::CURRENT) && self.append_through(id, key, value) {
            return Ok(Put::Stored);
        }
        let mut place = self.cursors.take(id)?;
        let outcome = if flags.has(PutFlags::CURRENT) {
            self.put_current(&mut place, key, value, flags)
        } else {
            self.put_through(&mut place, key, value, flags)
        };
        if matches!(outcome, Ok(PutOutcome::Stored(_))) {
            place.clear_deleted();
        }
        let hint = matches!(outcome, Ok(PutOutcome::Exists)).then(|| place.path().clone());
        let database = place.database();
        self.cursors.put_back(id, place);
        outcome?;
        match hint {
            None => Ok(Put::Stored),
            Some(path) => Ok(Put::Exists(self.existing(database, &path)?)),
        }
    }

    /// Gives a key room for a value and goes to it; cheaper than
    /// [`crate::WriteCursor::reserve_with`] of [`WriteTxn::at`].
    /// # Errors
    /// As [`crate::WriteCursor::reserve_with`]; [`Error::CursorClosed`].
    pub fn reserve_at(
        &mut self,
        id: CursorId,
        key: &[u8],
        len: usize,
        flags: PutFlags,
    ) -> Result<Reservation<'_>, Error> {
        self.check_alive()?;
        let mut place = self.cursors.take(id)?;
        let database = place.database();
        let mut path = Path::new();
        let found = self.reserve_place(&mut place, &mut path, key, len, flags);
        if matches!(found, Ok((_, Some(_)))) {
            place.clear_deleted();
            place.save_position_at(key, None);
        }
        self.cursors.put_back(id, place);
        match found? {
            (tree, Some(exact)) => {
                let room = self.make_room(database, tree, &mut path, exact, key, len)?;
                Ok(Reservation::Empty(room))
            }
            (_, None) => Ok(Reservation::Exists(self.existing(database, &path)?)),
        }
    }

    fn reserve_place(
        &mut self,
        place: &mut CursorPosition,
        path: &mut Path,
        key: &[u8],
        len: usize,
        flags: PutFlags,
    ) -> Result<(Tree, Option<bool>), BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(path.is_empty(), "the position gives the path");
        let database = place.database();
        let tree = self.checked_tree(database, key, len)?;
        if tree.has_duplicates() {
            return Err(Error::HasDuplicates.into());
        }
        if flags.has(PutFlags::CURRENT) {
            self.check_current(place, &tree, key)?;
            *path = place.path().clone();
            return Ok((tree, Some(true)));
        }
        let found = self.find_position(database, &tree, path, key, flags);
        let was_deleted = place.is_key_deleted();
        let is_other_kind = matches!(&found, Err(failed) if failed.is_wrong_kind());
        if is_other_kind || matches!(found, Ok(None)) {
            place.stand_on_path(self.pages(), &tree, path.clone())?;
        }
        if matches!(found, Ok(None)) {
            if flags.has(PutFlags::APPEND) {
                place.go(self.pages(), &tree, crate::Move::Last)?;
            }
            if was_deleted {
                place.mark_deleted(true);
            }
        }
        Ok((tree, found?))
    }

    /// Stores a record behind all others and goes to it. Returns `false`, with nothing changed, if
    /// that involves other pages than the last leaf, or other cursors.
    #[inline]
    fn append_through(&mut self, id: CursorId, key: &[u8], value: &[u8]) -> bool {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        let Some(place) = self.cursors.only(id) else {
            return false;
        };
        let (trees, database) = (self.trees.get_mut(), place.database());
        match append_to_last_leaf(trees, &mut self.pages, database, key, value) {
            Some(hint) => {
                place.stand_on_single_value(&hint.path);
                true
            }
            None => false,
        }
    }

    fn put_through(
        &mut self,
        place: &mut CursorPosition,
        key: &[u8],
        value: &[u8],
        flags: PutFlags,
    ) -> Result<PutOutcome, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!flags.has(PutFlags::CURRENT));
        let database = place.database();
        let mut path = Path::new();
        let outcome = self.put_in(database, &mut path, key, value, flags);
        if matches!(&outcome, Err(failed) if failed.is_wrong_kind()) {
            place.stand_on_path(self.pages(), &self.tree(database)?, path)?;
            return outcome;
        }
        let outcome = outcome?;
        let tree = self.tree(database)?;
        match outcome {
            PutOutcome::Stored(true) if !tree.has_duplicates() => {
                place.stand_on_path(self.pages(), &tree, path)?;
            }
            PutOutcome::Stored(_) => place.save_position_at(key, Some(value)),
            PutOutcome::Exists => {
                let was_deleted = place.is_key_deleted();
                place.stand_on_path(self.pages(), &tree, path)?;
                let pair = tree.has_duplicates()
                    && !flags.has(PutFlags::NO_OVERWRITE)
                    && !flags.has(PutFlags::APPEND);
                if pair && flags.has(PutFlags::APPEND_DUP) {
                    place.go(self.pages(), &tree, crate::Move::LastDup)?;
                } else if pair {
                    place.enter_value(self.pages(), &tree, value)?;
                } else if flags.has(PutFlags::APPEND) {
                    place.go(self.pages(), &tree, crate::Move::Last)?;
                }
                if was_deleted {
                    place.mark_deleted(true);
                }
            }
        }
        Ok(outcome)
    }

    /// Replaces the record under the cursor.
    fn put_current(
        &mut self,
        place: &mut CursorPosition,
        key: &[u8],
        value: &[u8],
        flags: PutFlags,
    ) -> Result<PutOutcome, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(flags.has(PutFlags::CURRENT));
        let database = place.database();
        let mut tree = self.checked_tree(database, key, value.len())?;
        if tree.has_duplicates() {
            self.check_value(&tree, value)?;
        }
        self.check_current(place, &tree, key)?;
        if !tree.has_duplicates() {
            self.save_other_positions(database)?;
            let mut path = place.path().clone();
            let good = self.store(database, &mut tree, &mut path, true, key, value)?;
            if good {
                place.stand_on_path(self.pages(), &self.tree(database)?, path)?;
            } else {
                place.save_position_at(key, None);
            }
            return Ok(PutOutcome::Stored(good));
        }
        if flags.has(PutFlags::NO_DUP_DATA) && !place.is_single() {
            return Err(Error::Flags.into());
        }
        let Some((own, old)) = place.current(self.pages(), &tree)? else {
            return Err(Error::CursorUnset.into());
        };
        let (own, old) = (own.to_vec(), old.to_vec());
        let mut path = place.path().clone();
        let leaf = tree::leaf_of(&path, &tree)?;
        let same = tree.value_order.compare(value, &old).is_eq();
        if !same && value::seek_value(self.pages(), &tree, leaf, value)?.1 {
            place.enter_value(self.pages(), &tree, value)?;
            return Ok(PutOutcome::Exists);
        }
        let at = place.value_at().ok_or(Error::CursorUnset)?;
        self.save_other_positions(database)?;
        self.replace_value(database, tree, &mut path, &own, at, value)?;
        place.save_position_at(&own, Some(value));
        let gone = DeletedRecord {
            key: &own,
            value: Some(&old),
        };
        self.cursors.follow(&gone, place);
        Ok(PutOutcome::Stored(false))
    }

    /// Makes sure that a cursor is on a record that this key may replace.
    fn check_current(
        &mut self,
        place: &mut CursorPosition,
        tree: &Tree,
        key: &[u8],
    ) -> Result<(), BoxedError> {
        debug_assert!(!self.failed);
        place.restore_position(self.pages(), tree)?;
        let Some((own, _)) = place.current(self.pages(), tree)? else {
            return Err(Error::CursorUnset.into());
        };
        if tree.order.compare(key, own).is_ne() {
            return Err(Error::CursorKey.into());
        }
        self.check_plain_record(place.database(), place.path())
    }
}
