//! Cursors for reading.

use fulgurite_format::{Malformed, Page, PageKind, V09};

use super::Record;
use crate::space::PageView;
use crate::tree::{self, Moved, Pages, Path, Step, Tree};
use crate::{Error, value};

/// Where a cursor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Nowhere yet: [`Cursor::next`] begins at the first record, [`Cursor::prev`] at the last.
    Unset,
    /// On a record.
    On,
    /// Behind the last record, after a search that found none.
    Behind,
}

/// A place in a database. Moving returns the record moved to; keys and values live as long as the transaction is
/// borrowed, not only until the next move.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    pages: PageView<'t>,
    tree: Tree,
    path: Path,
    position: Position,
    /// Leaves passed since the last search, forwards less backwards: more than the file has means a circle.
    leaves_passed: i64,
}

impl<'t> Cursor<'t> {
    pub(crate) const fn new(pages: PageView<'t>, tree: Tree) -> Cursor<'t> {
        Cursor {
            pages,
            tree,
            path: Path::new(),
            position: Position::Unset,
            leaves_passed: 0,
        }
    }

    /// Goes to the first record.
    /// # Errors
    /// [`Error::Corrupted`], [`Error::BeyondEnd`]; so do all moves.
    pub fn first(&mut self) -> Result<Option<Record<'t>>, Error> {
        let found = tree::first(self.pages, &self.tree, &mut self.path)?;
        self.arrive(found)
    }

    /// Goes to the last record.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn last(&mut self) -> Result<Option<Record<'t>>, Error> {
        let found = tree::last(self.pages, &self.tree, &mut self.path)?;
        self.arrive(found)
    }

    /// Goes to the next record. At the last one it returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    #[expect(
        clippy::should_implement_trait,
        reason = "a cursor goes both ways and can fail; it is no iterator"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'t>>, Error> {
        match self.position {
            Position::Unset => self.first(),
            Position::Behind => Ok(None),
            Position::On => self.step(1),
        }
    }

    /// Goes to the previous record. At the first one it returns `None` and stays.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn prev(&mut self) -> Result<Option<Record<'t>>, Error> {
        match self.position {
            Position::Unset | Position::Behind => self.last(),
            Position::On => self.step(-1),
        }
    }

    /// Goes to the record with this key. If there is none it returns `None` and stands before its successor.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<Option<Record<'t>>, Error> {
        let exact = self.search(key)?;
        if exact { self.current() } else { Ok(None) }
    }

    /// Goes to the first record whose key is not smaller; `None`, behind the last record, if there is none.
    /// # Errors
    /// As [`Cursor::first`].
    pub fn seek_range(&mut self, key: &[u8]) -> Result<Option<Record<'t>>, Error> {
        self.search(key)?;
        self.current()
    }

    /// The record the cursor stands on.
    /// # Errors
    /// As [`Cursor::first`].
    #[inline]
    pub fn current(&self) -> Result<Option<Record<'t>>, Error> {
        let Some(leaf) = self.path.leaf().filter(|_| self.position == Position::On) else {
            return Ok(None);
        };
        let page = self.pages.tree_page(leaf.pgno, PageKind::Leaf)?;
        self.record(&page, leaf).map(Some)
    }

    #[inline]
    fn record(&self, page: &Page<'t, V09>, leaf: Step) -> Result<Record<'t>, Error> {
        let node = page.leaf(leaf.index).map_err(Error::at(leaf.pgno))?;
        let value = value::value_of(self.pages, leaf.pgno, &node)?;
        Ok((node.key, value))
    }

    /// Goes one record on or back: within the leaf if it can, looking at nothing else.
    #[inline]
    fn step(&mut self, direction: i64) -> Result<Option<Record<'t>>, Error> {
        let Some(leaf) = self.path.leaf_mut() else {
            return Ok(None);
        };
        let page = self.pages.tree_page(leaf.pgno, PageKind::Leaf)?;
        let next = leaf.index.checked_add_signed(direction as isize);
        if let Some(next) = next.filter(|next| *next < page.len()) {
            leaf.index = next;
            let leaf = *leaf;
            return self.record(&page, leaf).map(Some);
        }
        let moved = if direction > 0 {
            tree::next(self.pages, &self.tree, &mut self.path)?
        } else {
            tree::previous(self.pages, &self.tree, &mut self.path)?
        };
        self.passed(moved, direction)
    }

    /// The way to the current record.
    pub(super) fn into_path(self) -> Option<Path> {
        (self.position == Position::On).then_some(self.path)
    }

    fn search(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.leaves_passed = 0;
        let exact = tree::seek(self.pages, &self.tree, key, &mut self.path)?;
        let found = exact || tree::settle(self.pages, &self.tree, &mut self.path)?;
        self.position = if found {
            Position::On
        } else {
            Position::Behind
        };
        Ok(exact)
    }

    fn arrive(&mut self, found: bool) -> Result<Option<Record<'t>>, Error> {
        self.leaves_passed = 0;
        self.position = if found { Position::On } else { Position::Unset };
        self.current()
    }

    fn passed(&mut self, moved: Moved, direction: i64) -> Result<Option<Record<'t>>, Error> {
        match moved {
            Moved::AtEnd => return Ok(None),
            Moved::Within => {}
            Moved::Across => {
                self.leaves_passed += direction;
                if self.leaves_passed.unsigned_abs() > self.pages.last().0 {
                    let page = self.path.leaf().map_or(self.pages.last(), |leaf| leaf.pgno);
                    return Err(Error::at(page)(Malformed::Cycle));
                }
            }
        }
        self.current()
    }
}
