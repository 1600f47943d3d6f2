//! The position of a cursor, and the moves that search.
//!
//! ```text
//!   Unset --- any move ---> On (key, value) <--- before the first, past the last: stays ---
//!                             |
//!                             '--- a search finds nothing greater, the last record is deleted ---> Behind
//! ```
//! A position has the path through the tree to its record. Before the tree changes, the position is
//! *saved*: it copies key and value. On its next use it finds its path again.

use alloc::boxed::Box;
use alloc::vec::Vec;
use fulgurite_format::{LeafNode, NodeFlags, Page, PageHeader, PageKind, Pgno};

use super::fast::{FastMode, FastState};
use super::{Move, Record};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::space::PageView;
use crate::tree::{self, Pages, Path, Step, Tree};
use crate::value::{self, ValueAt, Values};

/// The position of a cursor without its transaction. It outlives calls and transactions.
#[derive(Debug, Clone)]
pub struct CursorPosition {
    pub(super) database: Database,
    pub(super) state: State,
    pub(super) path: Path,
    pub(super) value: AtValue,
    /// The leaf read last, and its checked header. Valid until the position is saved.
    pub(super) leaf: (Pgno, PageHeader),
    /// True if keys may have several values, and if those have one size. The fast path reads these
    /// instead of the tree.
    pub(super) has_values: bool,
    pub(super) has_fixed_values: bool,
    pub(super) fast: FastState,
    /// The path in the tree of the key's values. Kept for its allocation.
    pub(super) inner: Option<Box<(Tree, Path)>>,
    /// True past the key's last value: there is a key, but no record.
    pub(super) behind_values: bool,
    /// True if the last move went to the end of the database, or tried to pass it.
    pub(super) at_end: bool,
    /// True if the last move went to the end of the key's values.
    pub(super) at_end_of_values: bool,
    /// Set if the record was deleted and the position is its successor. Then the next step forward
    /// stays.
    pub(super) deleted: Deleted,
    /// Leaves passed since the last search or turn, those of values too. More than there are pages
    /// means a cycle.
    pub(super) leaves_passed: u64,
    /// The leaves among them that hold values of the current key. Other keys may lead there again.
    pub(super) inner_leaves_passed: u64,
    /// The direction in which they were passed.
    pub(super) heading: Edge,
    /// The record, in place of the path, if `is_saved`.
    pub(super) key: Vec<u8>,
    pub(super) value_bytes: Vec<u8>,
    pub(super) is_saved: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No move was made yet.
    Unset,
    /// On a record.
    On,
    /// Past the last record.
    Behind,
}

/// The current value of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtValue {
    /// The only one.
    One,
    /// A value of the key's sub-page.
    Page(usize),
    /// A value of the key's tree, as `inner` says.
    Tree,
    /// None of several: a search for another key ended here.
    Unset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deleted {
    No,
    /// One of several values of the key.
    Value,
    /// The key's only value, or all its values.
    Key,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    First,
    Last,
}

impl CursorPosition {
    /// Makes an unset position in a database.
    #[must_use]
    pub fn new(database: Database) -> CursorPosition {
        CursorPosition {
            database,
            state: State::Unset,
            path: Path::new(),
            leaf: (Pgno::NONE, PageHeader::EMPTY),
            has_values: false,
            has_fixed_values: false,
            fast: FastState::OFF,
            value: AtValue::One,
            inner: None,
            behind_values: false,
            at_end: false,
            at_end_of_values: false,
            deleted: Deleted::No,
            leaves_passed: 0,
            inner_leaves_passed: 0,
            heading: Edge::Last,
            key: Vec::new(),
            value_bytes: Vec::new(),
            is_saved: false,
        }
    }

    /// Returns the database of the position.
    #[must_use]
    pub const fn database(&self) -> Database {
        self.database
    }

    /// Unsets the position.
    pub fn reset(&mut self) {
        self.fast.mode = FastMode::Off;
        self.state = State::Unset;
        self.is_saved = false;
        self.forget_flags();
        self.forget_leaf();
    }

    /// Forgets that a record was deleted here: the next step goes on.
    pub(crate) fn clear_deleted(&mut self) {
        self.deleted = Deleted::No;
    }

    /// Returns true if the last move went to the end of the database, or of the values of the key.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.at_end || self.at_end_of_values
    }

    /// Returns true if the position has a key, even past the key's last value.
    pub(crate) fn has_key(&self) -> bool {
        self.state == State::On
    }

    /// Returns true if the current key has one value.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        matches!(self.value, AtValue::One)
    }

    pub(crate) fn go<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        step: Move<'_>,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        match step {
            Move::First => self.edge(pages, tree, Edge::First),
            Move::Last => self.edge(pages, tree, Edge::Last),
            Move::Next => self.next(pages, tree),
            Move::Prev => self.previous(pages, tree),
            Move::NextKey => self.next_key(pages, tree),
            Move::PrevKey => self.previous_key(pages, tree),
            Move::NextDup => self.next_value(pages, tree),
            Move::PrevDup => self.previous_value(pages, tree),
            Move::FirstDup => self.value_edge(pages, tree, Edge::First),
            Move::LastDup => self.value_edge(pages, tree, Edge::Last),
            Move::Current => self.current_or_unset(pages, tree),
            Move::Key(key) => {
                let exact = self.search(pages, tree, key)?;
                if exact {
                    return self.current(pages, tree);
                }
                self.unset_values();
                Ok(None)
            }
            Move::KeyOrAfter(key) => {
                self.search(pages, tree, key)?;
                self.current(pages, tree)
            }
            Move::Pair(key, value) => self.pair(pages, tree, key, value, true),
            Move::PairOrAfter(key, value) => self.pair(pages, tree, key, value, false),
            Move::Block => self.block(pages, tree),
            Move::NextBlock => self.next_block(pages, tree),
            Move::PrevBlock => self.previous_block(pages, tree),
        }
    }

    /// Returns the current record.
    #[inline]
    pub(crate) fn current<'t>(
        &self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let Some(leaf) = self.path.leaf().filter(|_| self.state == State::On) else {
            return Ok(None);
        };
        let page = pages.tree_page(leaf.pgno, PageKind::Leaf)?;
        self.record(pages, tree, &page, leaf)
    }

    /// Counts the values of the key; `None` if there is no key.
    pub(crate) fn count(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
    ) -> Result<Option<u64>, BoxedError> {
        if !tree.has_duplicates() {
            return Err(Error::NoDuplicates.into());
        }
        match (self.state, self.path.leaf()) {
            (State::Unset, _) => Err(Error::CursorUnset.into()),
            (State::On, _) if self.value == AtValue::Unset => Err(Error::CursorUnset.into()),
            (State::On, Some(leaf)) => {
                self.at_end = false;
                let node = pages.leaf_node(leaf)?;
                value::count_of(pages, tree, leaf.pgno, &node).map(Some)
            }
            _ => Ok(None),
        }
    }

    #[inline]
    pub(super) fn record<'t>(
        &self,
        pages: PageView<'t>,
        tree: &Tree,
        page: &Page<'t>,
        leaf: Step,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        let node = page.leaf(leaf.index).map_err(Error::at(leaf.pgno))?;
        if !tree.has_duplicates() {
            let value = value::value_of(pages, leaf.pgno, &node)?;
            return Ok(Some((node.key, value)));
        }
        if self.behind_values {
            return Ok(None);
        }
        let value = match self.value {
            AtValue::One => node.data,
            AtValue::Page(index) => Page::parse_sub(node.data)
                .and_then(|values| values.key(index))
                .map_err(Error::at(leaf.pgno))?,
            AtValue::Tree => match &self.inner {
                Some(inner) => value::value_at(pages, &inner.0, &inner.1)?,
                None => return Ok(None),
            },
            AtValue::Unset => return Ok(None),
        };
        Ok(Some((node.key, value)))
    }

    pub(super) fn current_or_unset<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if self.state == State::Unset || self.value == AtValue::Unset {
            return Err(Error::CursorUnset.into());
        }
        self.deleted = Deleted::No;
        self.current(pages, tree)
    }

    pub(super) fn forget_leaf(&mut self) {
        self.leaf = (Pgno::NONE, PageHeader::EMPTY);
    }

    pub(super) fn forget_flags(&mut self) {
        self.at_end = false;
        self.at_end_of_values = false;
        self.deleted = Deleted::No;
        self.behind_values = false;
        self.leaves_passed = 0;
    }

    pub(super) fn edge<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        edge: Edge,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        self.forget_flags();
        let found = match edge {
            Edge::First => tree::first(pages, tree, &mut self.path)?,
            Edge::Last => tree::last(pages, tree, &mut self.path)?,
        };
        if !found {
            self.state = State::Unset;
            return Ok(None);
        }
        self.enter_key(pages, tree, edge)?;
        self.at_end = edge == Edge::Last;
        self.current(pages, tree)
    }

    /// Goes to the first or last value of the key that the path leads to.
    pub(super) fn enter_key(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        edge: Edge,
    ) -> Result<(), BoxedError> {
        self.state = State::On;
        self.behind_values = false;
        self.inner_leaves_passed = 0;
        self.value = AtValue::One;
        if !tree.has_duplicates() {
            return Ok(());
        }
        self.at_end_of_values = false;
        let Some(leaf) = self.path.leaf() else {
            return Ok(());
        };
        let node = pages.leaf_node(leaf)?;
        match value::values_of(pages, tree, leaf.pgno, &node)? {
            Values::One(_) => {}
            Values::Page(page) => {
                self.value = AtValue::Page(match edge {
                    Edge::First => 0,
                    Edge::Last => page.len() - 1,
                });
            }
            Values::Tree(values) => {
                self.value = AtValue::Tree;
                self.inner_leaves_passed = 1;
                let inner = self
                    .inner
                    .get_or_insert_with(|| Box::new((values, Path::new())));
                inner.0 = values;
                match edge {
                    Edge::First => tree::first(pages, &values, &mut inner.1)?,
                    Edge::Last => tree::last(pages, &values, &mut inner.1)?,
                };
            }
        }
        Ok(())
    }

    /// Goes to the key or its successor. Returns true if the key exists.
    pub(super) fn search(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        key: &[u8],
    ) -> Result<bool, BoxedError> {
        self.forget_flags();
        let exact = tree::seek(pages, tree, key, &mut self.path)?;
        self.settle(pages, tree, exact)?;
        Ok(exact)
    }

    /// Moves a position past a leaf's last entry, where a search or a deletion left it, to the next
    /// entry.
    pub(super) fn settle(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        exact: bool,
    ) -> Result<(), BoxedError> {
        if self.path.is_empty() {
            self.state = State::Unset;
        } else if exact || tree::settle(pages, tree, &mut self.path)? {
            self.enter_key(pages, tree, Edge::First)?;
        } else {
            self.state = State::Behind;
            // An earlier search may have left the value unset. Past the last record there are no
            // values to miss.
            self.value = AtValue::One;
        }
        Ok(())
    }

    pub(super) fn pair<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        key: &[u8],
        value: &[u8],
        exactly: bool,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if !tree.has_duplicates() {
            return Err(Error::NoDuplicates.into());
        }
        self.forget_flags();
        if !tree::seek(pages, tree, key, &mut self.path)? {
            self.settle(pages, tree, false)?;
            self.unset_values();
            return Ok(None);
        }
        let exact = match self.enter_value(pages, tree, value) {
            Ok(exact) => exact,
            Err(error) => {
                // The value cannot be one of this database, but its key was found.
                self.enter_key(pages, tree, Edge::First)?;
                return Err(error);
            }
        };
        if exact || !exactly {
            let found = self.current(pages, tree)?;
            // A single value is current whether it is the one searched for or not.
            return Ok(
                found.filter(|(_, found)| exact || tree.value_order.compare(value, found).is_le())
            );
        }
        Ok(None)
    }

    /// Goes to a value of the path's key, or to the value's successor, which may be none. Returns
    /// true if the value exists.
    pub(crate) fn enter_value(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        value: &[u8],
    ) -> Result<bool, BoxedError> {
        let Some(leaf) = self.path.leaf() else {
            return Ok(false);
        };
        let node = pages.leaf_node(leaf)?;
        if node.flags.0 == TREE_OF_VALUES && !value.is_empty() {
            return self.enter_value_of_tree(pages, tree, leaf, &node, value);
        }
        let (at, exact) = value::seek_value(pages, tree, leaf, value)?;
        self.state = State::On;
        self.behind_values = false;
        self.inner_leaves_passed = 0;
        match at {
            ValueAt::One => self.value = AtValue::One,
            ValueAt::Page(index) => {
                self.value = AtValue::Page(index);
                let node = pages.leaf_node(leaf)?;
                let count = value::count_of(pages, tree, leaf.pgno, &node)?;
                self.behind_values = index as u64 >= count;
            }
            ValueAt::Tree(values, mut path) => {
                self.value = AtValue::Tree;
                self.behind_values = !exact && !tree::settle(pages, &values, &mut path)?;
                self.inner = Some(Box::new((values, *path)));
            }
        }
        Ok(exact)
    }

    /// As [`CursorPosition::enter_value`] for values in a tree. It reuses the path that is
    /// allocated.
    fn enter_value_of_tree<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
        leaf: Step,
        node: &LeafNode<'t>,
        value: &[u8],
    ) -> Result<bool, BoxedError> {
        let Values::Tree(values) = value::values_of(pages, tree, leaf.pgno, node)? else {
            return Ok(false);
        };
        let (inner, path) = &mut **self
            .inner
            .get_or_insert_with(|| Box::new((values, Path::new())));
        *inner = values;
        self.value = AtValue::Unset;
        let exact = tree::seek(pages, inner, value, path)?;
        self.behind_values = !exact && !tree::settle(pages, inner, path)?;
        self.state = State::On;
        self.value = AtValue::Tree;
        self.inner_leaves_passed = 0;
        Ok(exact)
    }
}

/// The flags of a node whose values have their own tree.
pub(super) const TREE_OF_VALUES: u16 = NodeFlags::DUPLICATES | NodeFlags::SUB_TREE;
