//! Storing records.

use alloc::string::String;
use fulgurite_format::{LeafNode, NodeFlags, layout};

use super::put_flags::{Put, PutFlags, Reservation};
use super::snapshot::Sealed;
use super::write::WriteTxn;
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::tree::{self, Pages, Path, Tree};
use crate::value::{self, Removal, ValueAt};
use crate::{Error, KeyOrder};

/// The outcome of a put, inside the engine.
pub(super) enum PutOutcome {
    /// Stored; the path may still be valid, and then leads to the record's entry.
    Stored(bool),
    Exists,
}

impl WriteTxn<'_> {
    /// Stores a value under a key: in place of any it had, or with duplicates next to them.
    /// # Errors
    /// [`Error::KeyLength`], [`Error::IntegerKey`], [`Error::ValueLength`],
    /// [`Error::DuplicateLength`], [`Error::FixedSize`], [`Error::WrongKind`] change nothing; any
    /// other error ends the transaction.
    pub fn put(&mut self, database: Database, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.put_with(database, key, value, PutFlags::NONE)
            .map(|_| ())
    }

    /// Stores a value under a key that has none; `false` if it has one, which stays.
    /// # Errors
    /// As [`WriteTxn::put`].
    pub fn insert(&mut self, database: Database, key: &[u8], value: &[u8]) -> Result<bool, Error> {
        let put = self.put_with(database, key, value, PutFlags::NO_OVERWRITE)?;
        Ok(put == Put::Stored)
    }

    /// Stores a value under a key greater than all others. Fills pages to the brim: the way to load
    /// sorted data.
    /// # Errors
    /// [`Error::AppendOrder`] changes nothing; otherwise as [`WriteTxn::put`].
    pub fn append(&mut self, database: Database, key: &[u8], value: &[u8]) -> Result<(), Error> {
        match self.put_with(database, key, value, PutFlags::APPEND)? {
            Put::Stored => Ok(()),
            Put::Exists(_) => Err(Error::AppendOrder),
        }
    }

    /// Stores a value under a key as the flags allow.
    /// # Errors
    /// As [`WriteTxn::put`]; [`Error::Flags`] for [`PutFlags::CURRENT`], which needs a cursor.
    pub fn put_with(
        &mut self,
        database: Database,
        key: &[u8],
        value: &[u8],
        flags: PutFlags,
    ) -> Result<Put<'_>, Error> {
        if !flags.has(PutFlags::CURRENT) && self.append_at_hint(database, key, value)? {
            return Ok(Put::Stored);
        }
        let mut path = Path::new();
        match self.put_in(database, &mut path, key, value, flags)? {
            PutOutcome::Stored(_) => Ok(Put::Stored),
            PutOutcome::Exists => Ok(Put::Exists(self.existing(database, &path)?)),
        }
    }

    /// Gives a key room for a value of `len` bytes, in place of its old value. The caller fills it.
    /// Unfilled bytes are undefined.
    /// # Errors
    /// As [`WriteTxn::put`]; [`Error::HasDuplicates`].
    pub fn reserve(
        &mut self,
        database: Database,
        key: &[u8],
        len: usize,
    ) -> Result<&mut [u8], Error> {
        self.reserve_in(database, &mut Path::new(), key, len, PutFlags::NONE)?
            .ok_or(Error::Flags)
    }

    /// As [`WriteTxn::reserve`], if the flags allow it.
    /// # Errors
    /// As [`WriteTxn::reserve`].
    pub fn reserve_with(
        &mut self,
        database: Database,
        key: &[u8],
        len: usize,
        flags: PutFlags,
    ) -> Result<Reservation<'_>, Error> {
        let mut path = Path::new();
        let tree = self.checked_tree(database, key, len)?;
        match self.find_position(database, &tree, &mut path, key, flags)? {
            Some(exact) => {
                let room = self.make_room(database, tree, &mut path, exact, key, len)?;
                Ok(Reservation::Empty(room))
            }
            None => Ok(Reservation::Exists(self.existing(database, &path)?)),
        }
    }

    /// Replaces a value of a key by another, which may sort elsewhere or be equal.
    pub(super) fn replace_value(
        &mut self,
        database: Database,
        tree: Tree,
        path: &mut Path,
        key: &[u8],
        at: ValueAt,
        value: &[u8],
    ) -> Result<(), BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        debug_assert!(tree.has_duplicates());
        let leaf = tree::leaf_of(path, &tree)?;
        let node = self.pages().leaf_node(leaf)?;
        // A key's only value may give way to one of any size.
        if value::count_of(self.pages(), &tree, leaf.pgno, &node)? > 1 {
            value::check_size(self.pages(), &tree, leaf, value)?;
        }
        self.guarded(|txn| {
            let mut tree = tree;
            txn.pages.spill_if_full()?;
            let removed = value::remove_value(&mut txn.pages, &mut tree, path, at)?;
            let exact = tree::seek(txn.pages(), &tree, key, path)?;
            match removed {
                Removal::Value(_) if exact => {
                    let leaf = tree::leaf_of(path, &tree)?;
                    let (at, _) = value::seek_value(txn.pages(), &tree, leaf, value)?;
                    value::add_value(&mut txn.pages, &mut tree, path, at, key, value)?;
                }
                _ => {
                    tree::touch_path(&mut txn.pages, &mut tree, path)?;
                    value::insert_first_value(&mut txn.pages, &mut tree, path, key, value)?;
                }
            }
            txn.set_tree(database, tree);
            Ok(())
        })
    }

    pub(super) fn put_in(
        &mut self,
        database: Database,
        path: &mut Path,
        key: &[u8],
        value: &[u8],
        flags: PutFlags,
    ) -> Result<PutOutcome, BoxedError> {
        self.check_changeable(database)?;
        // In place, because a tree in a result is copied several times.
        let mut tree = match self.trees.get_mut().get(database) {
            Some(open) => open.tree,
            None => self.load_tree(database)?,
        };
        self.check_record(&tree, key, value.len())?;
        if flags.is_none() && tree.is_plain() {
            // The common case, in fewer steps.
            let exact = self.seek_from_hint(database, &tree, path, key)?;
            self.save_other_positions(database)?;
            if self.store_in_leaf(database, &mut tree, path, exact, key, value)? {
                return Ok(PutOutcome::Stored(true));
            }
            if exact {
                // The leaf is private by now: as in the original, the attempt counts as a change.
                self.check_plain_record(database, path)?;
            }
            let stored = self.store(database, &mut tree, path, exact, key, value);
            return stored.map(PutOutcome::Stored);
        }
        if tree.has_duplicates() {
            self.check_value(&tree, value)?;
        }
        let Some(exact) = self.find_position(database, &tree, path, key, flags)? else {
            return Ok(PutOutcome::Exists);
        };
        if exact && tree.has_duplicates() {
            // A key that is equal in a custom order replaces the bytes of the old one.
            let is_plain = !tree.order.is_custom() && !tree.value_order.is_custom();
            if flags.is_none() && !tree.has_fixed_values() && is_plain {
                self.save_other_positions(database)?;
                return self.add_common(database, &mut tree, path, key, value);
            }
            return self.add_duplicate(database, tree, path, (key, value), flags);
        }
        self.save_other_positions(database)?;
        self.store(database, &mut tree, path, exact, key, value)
            .map(PutOutcome::Stored)
    }

    /// Stores a record if only its leaf is involved. Otherwise it makes the path private, and
    /// returns `false`.
    #[inline(always)]
    fn store_in_leaf(
        &mut self,
        database: Database,
        tree: &mut Tree,
        path: &mut Path,
        exact: bool,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, BoxedError> {
        debug_assert!(!self.failed, "a failed transaction makes no change");
        self.failed = true;
        self.pages.spill_if_full()?;
        let done = value::store_in_leaf(&mut self.pages, tree, path, exact, key, value)?;
        if !path.is_empty() {
            self.trees.get_mut().change_at(database, tree, path);
        }
        self.failed = false;
        Ok(done)
    }

    /// Adds a value to a key that has some.
    fn add_duplicate(
        &mut self,
        database: Database,
        tree: Tree,
        path: &mut Path,
        (key, value): (&[u8], &[u8]),
        flags: PutFlags,
    ) -> Result<PutOutcome, BoxedError> {
        debug_assert!(!value.is_empty(), "a duplicate is a key");
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(tree.has_duplicates() && !path.is_empty());
        let leaf = tree::leaf_of(path, &tree)?;
        let (at, exact) = if flags.has(PutFlags::APPEND_DUP) {
            let (at, last) = value::last_value(self.pages(), &tree, leaf)?;
            if tree.value_order.compare(value, last).is_le() {
                self.touch(database, tree, path)?;
                return Ok(PutOutcome::Exists);
            }
            (behind(at), false)
        } else {
            value::seek_value(self.pages(), &tree, leaf, value)?
        };
        if exact && flags.has(PutFlags::NO_DUP_DATA) {
            self.touch(database, tree, path)?;
            return Ok(PutOutcome::Exists);
        }
        if exact && tree.value_order.has_equals(value.len()) {
            // Equal in such an order is not the same.
            self.save_other_positions(database)?;
            self.replace_value(database, tree, path, key, at, value)?;
            return Ok(PutOutcome::Stored(false));
        }
        // A part of a packed value may be equal to it.
        let may_differ = !exact || tree.value_order == KeyOrder::PackedInteger;
        if may_differ && let Err(error) = value::check_size(self.pages(), &tree, leaf, value) {
            // As in the original, the attempt counts as a change.
            self.touch(database, tree, path)?;
            return Err(error);
        }
        self.save_other_positions(database)?;
        self.guarded(|txn| {
            let mut tree = tree;
            txn.pages.spill_if_full()?;
            let good = if exact {
                // Nothing to store, but it counts as a change.
                tree::touch_path(&mut txn.pages, &mut tree, path)?;
                true
            } else {
                value::add_value(&mut txn.pages, &mut tree, path, at, key, value)?
            };
            if good {
                txn.trees.get_mut().change_at(database, &tree, path);
            } else {
                txn.set_tree(database, tree);
            }
            Ok(PutOutcome::Stored(good))
        })
    }

    /// Adds a value to a key that has some, in the common case.
    fn add_common(
        &mut self,
        database: Database,
        tree: &mut Tree,
        path: &mut Path,
        key: &[u8],
        value: &[u8],
    ) -> Result<PutOutcome, BoxedError> {
        self.failed = true;
        self.pages.spill_if_full()?;
        let good = value::add_if_absent(&mut self.pages, tree, path, key, value)?;
        if good {
            self.trees.get_mut().change_at(database, tree, path);
        } else {
            self.trees.get_mut().change_record(database, tree);
        }
        self.failed = false;
        Ok(PutOutcome::Stored(good))
    }

    /// Finds the place for a key: whether it is there, or `None` if the flags forbid to store it.
    pub(super) fn find_position(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
        key: &[u8],
        flags: PutFlags,
    ) -> Result<Option<bool>, BoxedError> {
        if flags.has(PutFlags::CURRENT) {
            return Err(Error::Flags.into());
        }
        if flags.has(PutFlags::APPEND) {
            return Ok(self.find_end(database, tree, path, key)?.then_some(false));
        }
        let exact = self.seek_from_hint(database, tree, path, key)?;
        let Some(leaf) = path.leaf() else {
            return Ok(Some(exact));
        };
        if exact && flags.has(PutFlags::NO_OVERWRITE) {
            return Ok(None);
        }
        if exact {
            // Where keys have several values, no record describes a database.
            if !tree.has_duplicates()
                && let Err(error) = self.check_plain_record(database, path)
            {
                // As in the original, the attempt counts as a change.
                self.touch(database, *tree, path)?;
                return Err(error);
            }
        } else if tree.order == KeyOrder::Integer {
            let page = self.pages().tree_page(leaf.pgno, tree.leaf)?;
            let near = page
                .key(leaf.index.saturating_sub(1))
                .map_err(Error::at(leaf.pgno))?;
            check_same_size(tree, near, key)?;
        }
        Ok(Some(exact))
    }

    fn touch(
        &mut self,
        database: Database,
        mut tree: Tree,
        path: &mut Path,
    ) -> Result<(), BoxedError> {
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        debug_assert!(!self.failed, "a failed transaction makes no change");
        self.save_other_positions(database)?;
        self.guarded(|txn| {
            txn.pages.spill_if_full()?;
            tree::touch_path(&mut txn.pages, &mut tree, path)?;
            txn.set_tree(database, tree);
            Ok(())
        })
    }

    /// Goes behind the last key; `false`, and on it, if it is not smaller than this one.
    fn find_end(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
        key: &[u8],
    ) -> Result<bool, BoxedError> {
        if !self.last_from_hint(database, tree, path)? {
            return Ok(true);
        }
        let last = value::key_at(self.pages(), tree, path)?;
        check_same_size(tree, last, key)?;
        if tree.order.compare(key, last).is_le() {
            return Ok(false);
        }
        if let Some(leaf) = path.leaf_mut() {
            leaf.index += 1;
        }
        Ok(true)
    }

    /// The first value of the entry a path leads to.
    pub(super) fn existing(&self, database: Database, path: &Path) -> Result<&[u8], BoxedError> {
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        let tree = self.tree(database)?;
        let leaf = tree::leaf_of(path, &tree)?;
        let node = self.pages().leaf_node(leaf)?;
        if tree.has_duplicates() {
            return value::first_value(self.pages(), &tree, leaf.pgno, &node);
        }
        value::value_of(self.pages(), leaf.pgno, &node)
    }

    /// Refuses to touch the record of a named database as if it were a plain one.
    pub(super) fn check_plain_record(
        &self,
        database: Database,
        path: &Path,
    ) -> Result<(), BoxedError> {
        debug_assert!(!path.is_empty(), "the path leads to an entry");
        // Only the main tree holds records that describe databases.
        let Some(leaf) = path.leaf().filter(|_| database == Database::MAIN) else {
            return Ok(());
        };
        check_plain(database, &self.pages().leaf_node(leaf)?)
    }

    /// Returns the tree of a database, after checks of a record to be stored there.
    pub(super) fn checked_tree(
        &mut self,
        database: Database,
        key: &[u8],
        len: usize,
    ) -> Result<Tree, BoxedError> {
        self.check_changeable(database)?;
        let tree = self.tree(database)?;
        self.check_record(&tree, key, len)?;
        Ok(tree)
    }

    /// Fails unless the transaction may change a database.
    #[inline(always)]
    pub(super) fn check_changeable(&self, database: Database) -> Result<(), BoxedError> {
        self.check_alive()?;
        debug_assert!(self.lock.is_some(), "the right to write is held");
        if database == Database::FREE_LIST {
            return Err(Error::ReadOnly.into());
        }
        Ok(())
    }

    /// Checks a key and a value's length, of a record that is stored next.
    #[inline(always)]
    fn check_record(&mut self, tree: &Tree, key: &[u8], len: usize) -> Result<(), BoxedError> {
        let max = layout::key_max(self.page_size());
        if key.is_empty() || key.len() > max || u32::try_from(len).is_err() {
            return Err(wrong_length(key, max, len).into());
        }
        check_key(tree.order, key)?;
        self.pages.will_store();
        Ok(())
    }

    /// Checks a value that is a key of an inner tree.
    #[inline(always)]
    pub(super) fn check_value(&self, tree: &Tree, value: &[u8]) -> Result<(), BoxedError> {
        debug_assert!(tree.has_duplicates());
        let max = layout::key_max(self.page_size());
        if value.is_empty() || value.len() > max {
            return Err(Error::DuplicateLength {
                len: value.len(),
                max,
            }
            .into());
        }
        Ok(())
    }

    /// Stores a record at its place; returns true if the path is still valid.
    pub(super) fn store(
        &mut self,
        database: Database,
        tree: &mut Tree,
        path: &mut Path,
        exact: bool,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, BoxedError> {
        debug_assert!(self.lock.is_some(), "the right to write is held");
        debug_assert!(!self.failed, "a failed transaction makes no change");
        debug_assert!(!key.is_empty());
        self.failed = true;
        self.pages.spill_if_full()?;
        let good = if tree.has_duplicates() {
            tree::touch_path(&mut self.pages, tree, path)?;
            value::insert_first_value(&mut self.pages, tree, path, key, value)?.is_some()
        } else {
            value::store_value(&mut self.pages, tree, path, exact, key, value)?
        };
        if good {
            self.trees.get_mut().change_at(database, tree, path);
        } else {
            self.trees.get_mut().change_record(database, tree);
        }
        self.failed = false;
        Ok(good)
    }

    fn reserve_in(
        &mut self,
        database: Database,
        path: &mut Path,
        key: &[u8],
        len: usize,
        flags: PutFlags,
    ) -> Result<Option<&mut [u8]>, BoxedError> {
        let tree = self.checked_tree(database, key, len)?;
        match self.find_position(database, &tree, path, key, flags)? {
            Some(exact) => self
                .make_room(database, tree, path, exact, key, len)
                .map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn make_room(
        &mut self,
        database: Database,
        mut tree: Tree,
        path: &mut Path,
        exact: bool,
        key: &[u8],
        len: usize,
    ) -> Result<&mut [u8], BoxedError> {
        if tree.has_duplicates() {
            return Err(Error::HasDuplicates.into());
        }
        self.save_other_positions(database)?;
        self.failed = true;
        self.pages.spill_if_full()?;
        debug_assert!(!tree.has_duplicates());
        debug_assert!(!key.is_empty(), "a record has a key");
        let room = value::place_value(&mut self.pages, &mut tree, path, exact, key, len)?;
        self.trees.get_mut().change(database, tree);
        self.failed = false;
        Ok(room)
    }
}

/// Refuses to touch the record of a named database as if it were a plain one.
#[inline]
pub(super) fn check_plain(database: Database, node: &LeafNode<'_>) -> Result<(), BoxedError> {
    if database == Database::MAIN && node.flags.0 == NodeFlags::SUB_TREE {
        let name = String::from_utf8_lossy(node.key).into_owned();
        return Err(Error::WrongKind(name).into());
    }
    Ok(())
}

/// Names the length that is wrong: of the key, or else of the value.
#[cold]
fn wrong_length(key: &[u8], max: usize, len: usize) -> Error {
    if key.is_empty() || key.len() > max {
        return Error::KeyLength {
            len: key.len(),
            max,
        };
    }
    Error::ValueLength(len)
}

/// One behind a value.
fn behind(at: ValueAt) -> ValueAt {
    match at {
        ValueAt::One => ValueAt::One,
        ValueAt::Page(index) => ValueAt::Page(index + 1),
        ValueAt::Tree(inner, mut path) => {
            if let Some(leaf) = path.leaf_mut() {
                leaf.index += 1;
            }
            ValueAt::Tree(inner, path)
        }
    }
}

/// All integer keys of a database have one size.
fn check_same_size(tree: &Tree, present: &[u8], key: &[u8]) -> Result<(), BoxedError> {
    debug_assert!(!key.is_empty(), "a record has a key");
    if tree.order != KeyOrder::Integer || present.len() == key.len() {
        return Ok(());
    }
    Err(Error::IntegerKey {
        len: key.len(),
        wanted: if present.len() == 4 {
            "4 bytes"
        } else {
            "8 bytes"
        },
    }
    .into())
}

/// Fails if a key has no place in this order.
fn check_key(order: KeyOrder, key: &[u8]) -> Result<(), BoxedError> {
    debug_assert!(!key.is_empty(), "a record has a key");
    match (order, key.len()) {
        (KeyOrder::Integer, len) if len != 4 && len != 8 => Err(Error::IntegerKey {
            len,
            wanted: "4 or 8 bytes",
        }
        .into()),
        _ => Ok(()),
    }
}
