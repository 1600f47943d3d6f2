//! Cursors for reading.

use super::{Move, Place, Record};
use crate::Error;
use crate::space::PageView;
use crate::tree::Tree;

/// A place in a database. Moving returns the record moved to; keys and values live as long as the transaction is
/// borrowed, not only until the next move.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    pages: PageView<'t>,
    tree: Tree,
    place: Place,
}

impl<'t> Cursor<'t> {
    pub(crate) const fn new(pages: PageView<'t>, tree: Tree, place: Place) -> Cursor<'t> {
        Cursor { pages, tree, place }
    }

    /// Makes any move.
    /// # Errors
    /// [`Error::Corrupted`], [`Error::BeyondEnd`], as all moves; [`Error::CursorUnset`] for moves that need a record
    /// to start from, [`Error::NoDuplicates`] for those that need several values to a key.
    pub fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'t>>, Error> {
        self.place.go(self.pages, &self.tree, step)
    }

    /// Goes to the first record.
    /// # Errors
    /// [`Error::Corrupted`], [`Error::BeyondEnd`]; so do all moves.
    pub fn first(&mut self) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::First)
    }

    /// Goes to the last record.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn last(&mut self) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::Last)
    }

    /// Goes to the next record. At the last one it returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    #[expect(
        clippy::should_implement_trait,
        reason = "a cursor goes both ways and can fail; it is no iterator"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record<'t>>, Error> {
        self.place.next(self.pages, &self.tree)
    }

    /// Goes to the previous record. At the first one it returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn prev(&mut self) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::Prev)
    }

    /// Goes to the record with this key. If there is none it returns `None` and stands before its successor.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::Key(key))
    }

    /// Goes to the first record whose key is not smaller; `None`, behind the last record, if there is none.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek_range(&mut self, key: &[u8]) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::KeyOrAfter(key))
    }

    /// The record the cursor stands on.
    /// # Errors
    /// As [`Cursor::first`].
    #[inline]
    pub fn current(&self) -> Result<Option<Record<'t>>, Error> {
        self.place.current(self.pages, &self.tree)
    }

    /// How many values the current key has; `None` behind the last record.
    /// # Errors
    /// [`Error::NoDuplicates`], [`Error::CursorUnset`].
    pub fn count(&mut self) -> Result<Option<u64>, Error> {
        self.place.count(self.pages, &self.tree)
    }

    /// The place without the transaction.
    #[must_use]
    pub fn into_place(self) -> Place {
        self.place
    }
}

/// A [`Place`] lent to a transaction for a move.
#[derive(Debug)]
pub struct PlacedCursor<'t, 'p> {
    pages: PageView<'t>,
    tree: Tree,
    place: &'p mut Place,
}

impl<'t, 'p> PlacedCursor<'t, 'p> {
    pub(crate) const fn new(pages: PageView<'t>, tree: Tree, place: &'p mut Place) -> Self {
        PlacedCursor { pages, tree, place }
    }

    /// Makes any move.
    /// # Errors
    /// As [`Cursor::go`].
    #[inline]
    pub fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'t>>, Error> {
        if step == Move::Next {
            return self.place.next(self.pages, &self.tree);
        }
        self.place.go(self.pages, &self.tree, step)
    }

    /// How many values the current key has; `None` behind the last record.
    /// # Errors
    /// As [`Cursor::count`].
    pub fn count(&mut self) -> Result<Option<u64>, Error> {
        self.place.count(self.pages, &self.tree)
    }

    /// Whether the last move went to the end: of the database, or of the values of the key.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.place.is_at_end()
    }

    /// Whether the cursor stands on a key with one value.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.place.is_single()
    }
}
