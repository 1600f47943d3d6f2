//! Cursors for reading.

use fulgurite_format::{Page, PageKind, Pgno};

use super::{CursorPosition, Move, Record};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::{Pages, Tree};

/// A cursor in a database.
///
/// A move returns the record it goes to. Keys and values live as long as the transaction is
/// borrowed, not only until the next move.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    pages: PageView<'t>,
    tree: Tree,
    position: CursorPosition,
    /// The leaf of the last step, in a tree without duplicates. The page stays valid: it does not
    /// change while the transaction is borrowed.
    leaf: Page<'t>,
    leaf_pgno: Pgno,
}

impl<'t> Cursor<'t> {
    pub(crate) const fn new(
        pages: PageView<'t>,
        tree: Tree,
        position: CursorPosition,
    ) -> Cursor<'t> {
        Cursor {
            pages,
            tree,
            position,
            leaf: Page::empty(PageKind::Leaf),
            leaf_pgno: Pgno::NONE,
        }
    }

    /// Makes any move.
    /// # Errors
    /// [`Error::Corrupted`], [`Error::BeyondEnd`]. [`Error::CursorUnset`] for moves that need a
    /// current record. [`Error::NoDuplicates`] for moves between the values of a key.
    pub fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'t>>, Error> {
        self.pages.check_readable()?;
        self.position
            .go(self.pages, &self.tree, step)
            .map_err(Error::from)
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
        if let Some(step) = self.position.plain_step()
            && step.pgno == self.leaf_pgno
            && let Some(record) = self.leaf.plain_record(step.index + 1)
        {
            step.index += 1;
            return Ok(Some(record));
        }
        self.next_elsewhere().map_err(Error::from)
    }

    /// Steps out of the leaf, or within a leaf that no step was made in before.
    #[inline(never)]
    fn next_elsewhere(&mut self) -> Result<Option<Record<'t>>, BoxedError> {
        self.pages.check_readable()?;
        // The first step after a search: mostly the next record is in the same leaf.
        if !self.tree.has_duplicates()
            && let Some(step) = self.position.plain_step()
            && step.pgno != self.leaf_pgno
        {
            let leaf = self.pages.tree_page(step.pgno, PageKind::Leaf)?;
            if let Some(record) = leaf.plain_record(step.index + 1) {
                step.index += 1;
                (self.leaf, self.leaf_pgno) = (leaf, step.pgno);
                return Ok(Some(record));
            }
        }
        let record = self.position.next(self.pages, &self.tree)?;
        if !self.tree.has_duplicates()
            && let Some(step) = self.position.step()
            && step.pgno != self.leaf_pgno
        {
            self.leaf = self.pages.tree_page(step.pgno, PageKind::Leaf)?;
            self.leaf_pgno = step.pgno;
        }
        Ok(record)
    }

    /// Goes to the previous record. At the first one it returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn prev(&mut self) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::Prev)
    }

    /// Goes to the record with this key. Without one it returns `None` and goes before its
    /// successor.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::Key(key))
    }

    /// Goes to the first record whose key is not smaller. Without one it returns `None` and goes
    /// past the last record.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek_range(&mut self, key: &[u8]) -> Result<Option<Record<'t>>, Error> {
        self.go(Move::KeyOrAfter(key))
    }

    /// Returns the current record.
    /// # Errors
    /// As [`Cursor::first`].
    #[inline]
    pub fn current(&self) -> Result<Option<Record<'t>>, Error> {
        self.pages.check_readable()?;
        self.position
            .current(self.pages, &self.tree)
            .map_err(Error::from)
    }

    /// Counts the values of the current key; `None` past the last record.
    /// # Errors
    /// [`Error::NoDuplicates`], [`Error::CursorUnset`].
    pub fn count(&mut self) -> Result<Option<u64>, Error> {
        self.pages.check_readable()?;
        self.position
            .count(self.pages, &self.tree)
            .map_err(Error::from)
    }
}

/// A [`CursorPosition`] together with the transaction it moves in.
#[derive(Debug)]
pub struct PositionedCursor<'t, 'p> {
    pages: PageView<'t>,
    tree: Tree,
    position: &'p mut CursorPosition,
}

impl<'t, 'p> PositionedCursor<'t, 'p> {
    pub(crate) const fn new(
        pages: PageView<'t>,
        tree: Tree,
        position: &'p mut CursorPosition,
    ) -> Self {
        PositionedCursor {
            pages,
            tree,
            position,
        }
    }

    /// Makes any move.
    /// # Errors
    /// As [`Cursor::go`].
    #[inline]
    pub fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'t>>, Error> {
        self.pages.check_readable()?;
        if step == Move::Next {
            return self
                .position
                .next(self.pages, &self.tree)
                .map_err(Error::from);
        }
        self.position
            .go(self.pages, &self.tree, step)
            .map_err(Error::from)
    }

    /// Counts the values of the current key; `None` past the last record.
    /// # Errors
    /// As [`Cursor::count`].
    pub fn count(&mut self) -> Result<Option<u64>, Error> {
        self.pages.check_readable()?;
        self.position
            .count(self.pages, &self.tree)
            .map_err(Error::from)
    }

    /// Returns true if the last move went to the end of the database, or of the values of the key.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.position.is_at_end()
    }

    /// Returns true if the current key has one value.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.position.is_single()
    }
}
