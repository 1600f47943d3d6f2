//! The insert hint: sequential inserts reuse the path of the previous insert.
//!
//! A path from the root costs a search in one page per level. Sorted loads and logs store each key
//! next to the one before, so the writer looks at that leaf first. Random keys miss, and a failed
//! try costs two comparisons and a page. So the hint is tried rarely after some misses.

use fulgurite_format::{PageKind, PageMut, layout};

use super::snapshot::Sealed;
use super::write::WriteTxn;
use crate::opened::Database;
use crate::space::PageView;
use crate::tree::{self, Pages, Path, Tree};
use crate::{Error, KeyOrder};

impl WriteTxn<'_> {
    /// As [`tree::seek`], but looks at the leaf of the record stored last before it goes down from
    /// the root.
    pub(super) fn seek_from_hint(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
        key: &[u8],
    ) -> Result<bool, Error> {
        let trees = self.trees.get_mut();
        if trees.tries_hint()
            && let Some(exact) = self.seek_at_hint(database, tree, path, key)?
        {
            return Ok(exact);
        }
        self.trees.get_mut().note_hint_use(false);
        tree::seek(self.pages(), tree, key, path)
    }

    /// As [`tree::seek`], but looks only at the leaf of the record stored last. Returns `None` if
    /// the key is elsewhere.
    #[inline(never)]
    fn seek_at_hint(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
        key: &[u8],
    ) -> Result<Option<bool>, Error> {
        let pages = tree::PagesMut::view(&self.pages);
        let trees = self.trees.get_mut();
        if let Some(hint) = trees.insert_hint(database)
            && let Some(leaf) = hint.path.leaf_mut()
        {
            let page = pages.tree_page(leaf.pgno, tree.leaf)?;
            let key_of = |index| page.key(index).map_err(Error::at(leaf.pgno));
            let last = page.len().saturating_sub(1);
            let order = tree.order.compare(key, key_of(last)?);
            let found = if order.is_gt() {
                leaf.index = last;
                hint.is_last = hint.is_last || is_last_leaf(pages, &hint.path)?;
                hint.is_last.then_some((last + 1, false))
            } else if tree.order.compare(key, key_of(0)?).is_ge() {
                let found = tree::lower_bound(&page, tree.order, key);
                Some(found.map_err(Error::at(leaf.pgno))?)
            } else {
                None
            };
            if let Some((index, exact)) = found {
                path.clone_from(&hint.path);
                if let Some(leaf) = path.leaf_mut() {
                    leaf.index = index;
                }
                debug_assert!(index <= page.len());
                trees.note_hint_use(true);
                return Ok(Some(exact));
            }
        }
        Ok(None)
    }

    /// Stores a record behind all others if only the last leaf is involved. Otherwise it changes
    /// nothing and returns `false`.
    pub(super) fn append_at_hint(
        &mut self,
        database: Database,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, Error> {
        if !self.trees.get_mut().knows_last_leaf(database) {
            return Ok(false);
        }
        self.check_alive()?;
        let page_size = self.page_size();
        let fits = layout::leaf_node_len(key.len(), value.len()) <= layout::node_max(page_size)
            && (1..=layout::key_max(page_size)).contains(&key.len());
        if !fits || self.has_cursors() || self.pages.is_full() {
            return Ok(false);
        }
        let Some((open, hint)) = self.trees.get_mut().last_leaf(database) else {
            return Ok(false);
        };
        let tree = &mut open.tree;
        let Some(leaf) = hint.path.leaf_mut().filter(|_| !tree.has_duplicates()) else {
            return Ok(false);
        };
        let Some(bytes) = self.pages.private_page(leaf.pgno) else {
            return Ok(false);
        };
        let Ok(mut page) = PageMut::parse(bytes, leaf.pgno, PageKind::Leaf) else {
            return Ok(false);
        };
        let count = page.view().len();
        let Ok(last) = page.view().key(count.wrapping_sub(1)) else {
            return Ok(false);
        };
        let of_its_size = tree.order != KeyOrder::Integer || last.len() == key.len();
        if !of_its_size || tree.order.compare(key, last).is_le() {
            return Ok(false);
        }
        if page.insert_record(count, key, value) {
            debug_assert!(count > 0, "the last leaf has entries");
            leaf.index = count;
            tree.record.entries = tree.record.entries.saturating_add(1);
            open.changed = true;
            return Ok(true);
        }
        Ok(false)
    }

    /// As [`tree::last`], without going down if the record stored last is in the last leaf.
    pub(super) fn last_from_hint(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
    ) -> Result<bool, Error> {
        let pages = tree::PagesMut::view(&self.pages);
        if let Some(hint) = self.trees.get_mut().insert_hint(database)
            && let Some(leaf) = hint.path.leaf_mut()
        {
            leaf.index = pages
                .tree_page(leaf.pgno, tree.leaf)?
                .len()
                .saturating_sub(1);
            hint.is_last = hint.is_last || is_last_leaf(pages, &hint.path)?;
            if hint.is_last {
                path.clone_from(&hint.path);
                return Ok(true);
            }
        }
        tree::last(self.pages(), tree, path)
    }
}

/// Returns true if a path takes the last entry of every branch.
pub(super) fn is_last_leaf(pages: PageView<'_>, path: &Path) -> Result<bool, Error> {
    debug_assert!(!path.is_empty(), "the path leads to a leaf");
    for level in 0..path.len().saturating_sub(1) {
        let Some(step) = path.step(level) else { break };
        let page = pages.tree_page(step.pgno, fulgurite_format::PageKind::Branch)?;
        if step.index + 1 != page.len() {
            return Ok(false);
        }
    }
    Ok(true)
}
