//! Storing many values of one key at a time.

use fulgurite_format::PageMut;

use super::put_flags::{Put, PutFlags};
use super::snapshot::Sealed;
use super::write::WriteTxn;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::cursor::CursorId;
use crate::opened::Database;
use crate::space::{PageView, WriterPages};
use crate::tree::{self, Pages, PagesMut, Path, Tree};
use crate::value::{self, ValueAt};

/// Number of values stored singly before the next attempt to store all others together.
const PAUSE: usize = 16;

impl WriteTxn<'_> {
    /// Stores items of one size under one key, as a cursor. Returns how many were stored before one
    /// that the flags forbid, and if that is all.
    pub(crate) fn put_many_at(
        &mut self,
        id: CursorId,
        key: &[u8],
        items: &[u8],
        item_len: usize,
        mut flags: PutFlags,
    ) -> Result<(usize, bool), BoxedError> {
        debug_assert!(item_len > 0, "items have a size");
        let mut stored = 0;
        let mut rest = items;
        // A key that has few values has no tree of them, and may get one soon.
        let mut pause = 0;
        while let Some((item, behind)) = rest.split_at_checked(item_len) {
            match self.put_at(id, key, item, flags)? {
                Put::Stored => stored += 1,
                Put::Exists(_) => return Ok((stored, false)),
            }
            // These are about the key, which exists from the first item on.
            flags = flags.without(PutFlags::NO_OVERWRITE | PutFlags::APPEND);
            rest = behind;
            if pause > 0 {
                pause -= 1;
            } else if flags.is_none() {
                let more = self.put_more(id, key, rest, item_len)?;
                stored += more;
                pause = if more == 0 { PAUSE } else { 0 };
                rest = rest.get(more * item_len..).unwrap_or_default();
            }
        }
        Ok((stored, true))
    }

    /// Stores further values of a key that has a tree of them: all, as a rule.
    fn put_more(
        &mut self,
        id: CursorId,
        key: &[u8],
        items: &[u8],
        item_len: usize,
    ) -> Result<usize, BoxedError> {
        debug_assert!(item_len > 0, "items have a size");
        let count = items.len() / item_len;
        debug_assert!(count * item_len <= items.len());
        let mut place = self.cursors.take(id)?;
        // Other cursors would have to be kept in step, and an order of the program's own asked
        // through the edge.
        let stored = if count == 0 || self.has_cursors() {
            Ok(0)
        } else {
            self.put_in_tree(place.database(), key, items.chunks_exact(item_len))
        };
        if let Ok(more) = stored
            && more > 0
        {
            place.save_position_at(key, items.get((more - 1) * item_len..more * item_len));
            place.clear_deleted();
        }
        self.cursors.put_back(id, place);
        stored
    }

    fn put_in_tree<'i>(
        &mut self,
        database: Database,
        key: &[u8],
        items: impl ExactSizeIterator<Item = &'i [u8]>,
    ) -> Result<usize, BoxedError> {
        debug_assert!(!key.is_empty(), "values belong to a key");
        debug_assert!(items.len() > 0);
        let tree = self.tree(database)?;
        if tree.order.is_custom() {
            return Ok(0);
        }
        let mut path = Path::new();
        if !self.seek_from_hint(database, &tree, &mut path, key)? {
            return Ok(0);
        }
        let leaf = tree::leaf_of(&path, &tree)?;
        // A value that is in none of the tree's places: only the tree is wanted.
        let ValueAt::Tree(inner, _) = value::last_value(self.pages(), &tree, leaf)?.0 else {
            return Ok(0);
        };
        // Each of these replaces its equal.
        if tree.value_order.has_equals(inner.leaf.item_len()) {
            return Ok(0);
        }
        let count = items.len();
        self.guarded(|txn| {
            let mut tree = tree;
            txn.pages.spill_if_full()?;
            tree::touch_path(&mut txn.pages, &mut tree, &mut path)?;
            let mut values = ManyValues {
                before: inner,
                inner,
                path: Path::new(),
                is_last: false,
            };
            for item in items {
                txn.pages.spill_if_full()?;
                values.put(&mut txn.pages, item)?;
            }
            let leaf = tree::leaf_of(&path, &tree)?;
            debug_assert!(values.inner.record.entries >= values.before.record.entries);
            value::store_inner(
                &mut txn.pages,
                &mut tree,
                leaf,
                &values.before.record,
                &values.inner.record,
            )?;
            txn.trees.get_mut().change_at(database, &tree, &path);
            Ok(count)
        })
    }
}

/// A key's tree of values while many are added.
struct ManyValues {
    /// As it was.
    before: Tree,
    inner: Tree,
    /// The way to the leaf of the last value, private from the root on; or nowhere.
    path: Path,
    /// True if that leaf is known to be the last.
    is_last: bool,
}

impl ManyValues {
    /// Adds a value, unless it is there.
    fn put(&mut self, pages: &mut WriterPages<'_>, item: &[u8]) -> Result<(), BoxedError> {
        debug_assert!(!item.is_empty(), "a value of a tree is a key");
        let exact = match self.seek_in_leaf(pages.view(), item)? {
            Some(exact) => exact,
            None => {
                let exact = tree::seek(pages.view(), &self.inner, item, &mut self.path)?;
                tree::touch_path(pages, &mut self.inner, &mut self.path)?;
                self.is_last = super::insert_hint::is_last_leaf(pages.view(), &self.path)?;
                exact
            }
        };
        if exact {
            return Ok(());
        }
        let leaf = tree::leaf_of(&self.path, &self.inner)?;
        let fitted = PageMut::parse(pages.page_mut(leaf.pgno)?, leaf.pgno, self.inner.leaf)
            .and_then(|mut page| page.insert(leaf.index, item, value::NO_VALUE))
            .map_err(Error::at(leaf.pgno))?;
        if fitted {
            self.inner.record.entries = self.inner.record.entries.saturating_add(1);
            return Ok(());
        }
        let placed = tree::insert(
            pages,
            &mut self.inner,
            &mut self.path,
            item,
            value::NO_VALUE,
        )?;
        debug_assert!(placed.is_none() || !self.path.is_empty());
        // An item that did not fit went behind all others, or the path is invalid now.
        self.is_last = placed.is_some();
        if !self.is_last {
            self.path.clear();
        }
        Ok(())
    }

    /// Goes to the position of a value if it is in the current leaf. Returns true if the value is
    /// there.
    fn seek_in_leaf(
        &mut self,
        pages: PageView<'_>,
        item: &[u8],
    ) -> Result<Option<bool>, BoxedError> {
        let Some(leaf) = self.path.leaf_mut() else {
            return Ok(None);
        };
        let page = pages.tree_page(leaf.pgno, self.inner.leaf)?;
        let key_of = |index| page.key(index).map_err(Error::at(leaf.pgno));
        let last = page.len().saturating_sub(1);
        let order = self.inner.order.compare(item, key_of(last)?);
        let (index, exact) = if order.is_gt() {
            if !self.is_last {
                return Ok(None);
            }
            (last + 1, false)
        } else if self.inner.order.compare(item, key_of(0)?).is_ge() {
            tree::lower_bound(&page, self.inner.order, item).map_err(Error::at(leaf.pgno))?
        } else {
            return Ok(None);
        };
        debug_assert!(index <= page.len());
        leaf.index = index;
        Ok(Some(exact))
    }
}
