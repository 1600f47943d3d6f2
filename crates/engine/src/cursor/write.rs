//! Cursors that change what they stand on.
//!
//! A change may move records between pages, so the cursor remembers the key it stands on and finds its way again;
//! that costs one descent and no bookkeeping in the tree.

use super::{Cursor, Record};
use crate::env::Database;
use crate::{Error, Snapshot, WriteTxn};

/// A cursor of the write transaction. It borrows the transaction: what a move returns lives until the next move or
/// change.
#[derive(Debug)]
pub struct WriteCursor<'t, 'env> {
    txn: &'t mut WriteTxn<'env>,
    database: Database,
    place: Place,
}

/// Where the cursor stands, by key.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Unset,
    On(Vec<u8>),
    /// On the place of a record that was deleted, or that a search did not find: between its neighbours.
    Before(Vec<u8>),
}

impl<'t, 'env> WriteCursor<'t, 'env> {
    pub(crate) const fn new(txn: &'t mut WriteTxn<'env>, database: Database) -> Self {
        WriteCursor {
            txn,
            database,
            place: Place::Unset,
        }
    }

    /// Goes to the first record.
    /// # Errors
    /// As [`Cursor::first`]; so do all moves.
    pub fn first(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(|cursor, _| cursor.first())
    }

    /// Goes to the last record.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn last(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(|cursor, _| cursor.last())
    }

    /// Goes to the next record; after [`WriteCursor::delete`] that is the deleted one's successor. At the last one it
    /// returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    #[expect(
        clippy::should_implement_trait,
        reason = "a cursor goes both ways and can fail; it is no iterator"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(|cursor, place| match place {
            Place::Unset => cursor.first(),
            Place::Before(key) => cursor.seek_range(key),
            Place::On(key) => match cursor.seek_range(key)? {
                Some((found, _)) if found == key.as_slice() => cursor.next(),
                other => Ok(other),
            },
        })
    }

    /// Goes to the previous record. At the first one it returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn prev(&mut self) -> Result<Option<Record<'_>>, Error> {
        self.go(|cursor, place| match place {
            Place::Unset => cursor.last(),
            Place::Before(key) | Place::On(key) => {
                cursor.seek_range(key)?;
                cursor.prev()
            }
        })
    }

    /// Goes to the record with this key; `None` if there is none.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<Option<Record<'_>>, Error> {
        self.place = Place::Before(key.to_vec());
        self.go(|cursor, _| cursor.seek(key))
    }

    /// Goes to the first record whose key is not smaller; `None` if there is none.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek_range(&mut self, key: &[u8]) -> Result<Option<Record<'_>>, Error> {
        self.place = Place::Before(key.to_vec());
        self.go(|cursor, _| cursor.seek_range(key))
    }

    /// The record the cursor stands on.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn current(&self) -> Result<Option<Record<'_>>, Error> {
        match &self.place {
            Place::On(key) => self.txn.cursor(self.database)?.seek(key),
            Place::Unset | Place::Before(_) => Ok(None),
        }
    }

    /// Removes the record the cursor stands on; `false` if it stands on none. The cursor then stands between its
    /// neighbours.
    /// # Errors
    /// As [`WriteTxn::delete`].
    pub fn delete(&mut self) -> Result<bool, Error> {
        let Place::On(key) = &self.place else {
            return Ok(false);
        };
        let mut cursor = self.txn.cursor(self.database)?;
        if cursor.seek(key)?.is_none() {
            return Ok(false);
        }
        let Some(mut path) = cursor.into_path() else {
            return Ok(false);
        };
        let key = key.clone();
        self.txn.remove_at(self.database, &mut path)?;
        self.place = Place::Before(key);
        Ok(true)
    }

    /// Stores a record, in place of any its key had, and goes to it.
    /// # Errors
    /// As [`WriteTxn::put`].
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.txn.put(self.database, key, value)?;
        self.place = Place::On(key.to_vec());
        Ok(())
    }

    fn go<F>(&mut self, step: F) -> Result<Option<Record<'_>>, Error>
    where
        F: for<'c> FnOnce(&mut Cursor<'c>, &Place) -> Result<Option<Record<'c>>, Error>,
    {
        let mut cursor = self.txn.cursor(self.database)?;
        let found = step(&mut cursor, &self.place)?;
        if let Some((key, _)) = found {
            self.place = Place::On(key.to_vec());
        }
        Ok(found)
    }
}
