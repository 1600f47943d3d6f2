//! Cursors of a write transaction, which can change the record at their position.

use super::{Put, PutFlags, Reservation, Sealed, WriteTxn};
use crate::Error;
use crate::cursor::{CursorId, CursorPosition, Move, Record};

/// A cursor of a write transaction, lent for moves and changes. The result of a move lives until
/// the next move.
///
/// All cursors of a transaction are kept in step with its changes. A cursor whose record is deleted
/// moves to the successor; other insertions move no cursor off its record.
#[derive(Debug)]
pub struct WriteCursor<'t, 'env> {
    txn: &'t mut WriteTxn<'env>,
    id: CursorId,
    closes: bool,
}

impl Drop for WriteCursor<'_, '_> {
    fn drop(&mut self) {
        if self.closes {
            self.txn.close_cursor(self.id);
        }
    }
}

impl<'t, 'env> WriteCursor<'t, 'env> {
    /// Lends a tracked cursor; `closes` if it is closed with this value.
    pub(crate) fn new(txn: &'t mut WriteTxn<'env>, id: CursorId, closes: bool) -> Self {
        debug_assert!(txn.cursors.is_open(id), "a lent cursor is open");
        WriteCursor { txn, id, closes }
    }

    /// Makes any move.
    /// # Errors
    /// As [`crate::Cursor::go`].
    pub fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'_>>, Error> {
        self.txn.move_cursor(self.id, step).map_err(Error::from)
    }

    /// Goes to the first record.
    /// # Errors
    /// As [`crate::Cursor::first`]; so do all moves.
    pub fn first(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::First)
    }

    /// Goes to the last record.
    /// # Errors
    /// As [`crate::Cursor::first`].
    pub fn last(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::Last)
    }

    /// Goes to the next record; after [`WriteCursor::delete`] to the deleted one's successor. At
    /// the last one it returns `None` and stays.
    /// # Errors
    /// As [`crate::Cursor::first`].
    #[expect(
        clippy::should_implement_trait,
        reason = "a cursor goes both ways and can fail; it is no iterator"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::Next)
    }

    /// Goes to the previous record. At the first one it returns `None` and stays.
    /// # Errors
    /// As [`crate::Cursor::first`].
    pub fn prev(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::Prev)
    }

    /// Goes to the first value of this key; `None`, before the key's successor, if there is none.
    /// # Errors
    /// As [`crate::Cursor::first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::Key(key))
    }

    /// Goes to the first record whose key is not smaller; `None` if there is none.
    /// # Errors
    /// As [`crate::Cursor::first`].
    pub fn seek_range(&mut self, key: &[u8]) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::KeyOrAfter(key))
    }

    /// Returns the record at the cursor; after a deletion, the successor of the deleted record.
    /// # Errors
    /// As [`crate::Cursor::first`]; [`Error::CursorUnset`] from a cursor that is nowhere.
    pub fn current(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(Move::Current)
    }

    /// How many values the current key has; `None` behind the last record.
    /// # Errors
    /// [`Error::NoDuplicates`], [`Error::CursorUnset`].
    pub fn count(&mut self) -> Result<Option<u64>, Error> {
        self.txn
            .with_position(self.id, |txn, place| {
                let pages = txn.pages();
                let tree = txn.tree(place.database())?;
                place.restore_position(pages, &tree)?;
                place.count(pages, &tree)
            })
            .map_err(Error::from)
    }

    /// Returns true if the last move went to the end: of the database, or of the values of the key.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.txn
            .inspect_position(self.id, CursorPosition::is_at_end)
    }

    /// Returns true if the cursor is on a key with one value.
    #[must_use]
    pub fn is_single(&self) -> bool {
        let single = self.txn.with_position(self.id, |txn, place| {
            let tree = Sealed::tree(txn, place.database())?;
            place.restore_position(Sealed::pages(txn), &tree)?;
            Ok(place.is_single())
        });
        single.unwrap_or(false)
    }

    /// Stores a record and goes to it; if the flags forbid it, goes to the record in the way.
    /// # Errors
    /// As [`WriteTxn::put_with`]. With [`PutFlags::CURRENT`] also [`Error::CursorUnset`], and
    /// [`Error::CursorKey`] if the key is not that of the record the cursor is on.
    pub fn put_with(
        &mut self,
        key: &[u8],
        value: &[u8],
        flags: PutFlags,
    ) -> Result<Put<'_>, Error> {
        self.txn.put_at(self.id, key, value, flags)
    }

    /// Stores a record, in place of any its key had or sibling it, and goes to it.
    /// # Errors
    /// As [`WriteTxn::put`].
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.put_with(key, value, PutFlags::NONE).map(|_| ())
    }

    /// Gives a key room for a value, as [`WriteTxn::reserve_with`], and goes to it.
    /// # Errors
    /// As [`WriteCursor::put_with`].
    pub fn reserve_with(
        &mut self,
        key: &[u8],
        len: usize,
        flags: PutFlags,
    ) -> Result<Reservation<'_>, Error> {
        self.txn.reserve_at(self.id, key, len, flags)
    }

    /// Stores many fixed-size values of one key, given back to back. Returns how many were stored
    /// before one that the flags forbid, and if that is all.
    /// # Errors
    /// [`Error::NoDuplicates`] unless the database holds fixed-size duplicates; as
    /// [`WriteTxn::put_with`].
    pub fn put_many(
        &mut self,
        key: &[u8],
        items: &[u8],
        item_len: usize,
        flags: PutFlags,
    ) -> Result<(usize, bool), Error> {
        if !self.txn.has_fixed_values(self.id)? {
            return Err(Error::NoDuplicates);
        }
        if item_len == 0 {
            return Err(Error::DuplicateLength { len: 0, max: 511 });
        }
        let (stored, is_all) = self.txn.put_many_at(self.id, key, items, item_len, flags)?;
        debug_assert!(
            stored * item_len <= items.len(),
            "only given items are stored"
        );
        Ok((stored, is_all))
    }

    /// Removes the record at the cursor, or its key with all values. Returns `false` if the cursor
    /// is behind the last record. The cursor then is on the successor, and [`WriteCursor::next`]
    /// goes there.
    /// # Errors
    /// [`Error::CursorUnset`]; otherwise as [`WriteTxn::delete`].
    pub fn delete_with(&mut self, all_values: bool) -> Result<bool, Error> {
        self.txn.delete_at(self.id, all_values).map_err(Error::from)
    }

    /// Removes the record the cursor is on; `false` if it is on none.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn delete(&mut self) -> Result<bool, Error> {
        match self.delete_with(false) {
            Err(Error::CursorUnset) => Ok(false),
            other => other,
        }
    }
}
