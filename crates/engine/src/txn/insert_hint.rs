//! The insert hint: sequential inserts reuse the path of the previous insert.
//!
//! A path from the root costs a search in one page per level. Sorted loads and logs store each key
//! next to the one before, so the writer looks at that leaf first. Random keys miss, and a failed
//! try costs two comparisons and a page. So the hint is tried rarely after some misses.

use fulgurite_format::{Page, PageKind, PageMut, layout};

use super::snapshot::Sealed;
use super::trees::{InsertHint, Trees};
use super::write::WriteTxn;
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::space::{PageView, WriterPages};
use crate::tree::{self, Pages, Path, Tree};
use crate::{Error, KeyOrder};

impl WriteTxn<'_> {
    /// As [`tree::seek`], but looks at the leaf of the record stored last before it goes down from
    /// the root.
    #[inline(always)]
    pub(super) fn seek_from_hint(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
        key: &[u8],
    ) -> Result<bool, BoxedError> {
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
    ) -> Result<Option<bool>, BoxedError> {
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
    #[inline]
    pub(super) fn append_at_hint(
        &mut self,
        database: Database,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, BoxedError> {
        if !self.trees.get_mut().knows_last_leaf(database) {
            return Ok(false);
        }
        self.append_if_alone(database, key, value)
    }

    #[inline(never)]
    fn append_if_alone(
        &mut self,
        database: Database,
        key: &[u8],
        value: &[u8],
    ) -> Result<bool, BoxedError> {
        self.check_alive()?;
        if self.has_cursors() {
            return Ok(false);
        }
        let trees = self.trees.get_mut();
        Ok(append_to_last_leaf(trees, &mut self.pages, database, key, value).is_some())
    }

    /// As [`tree::last`], without going down if the record stored last is in the last leaf.
    pub(super) fn last_from_hint(
        &mut self,
        database: Database,
        tree: &Tree,
        path: &mut Path,
    ) -> Result<bool, BoxedError> {
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

/// Stores a record behind all others if the last leaf is known and has room. Returns the hint to
/// it; `None` with nothing changed otherwise. The transaction is alive, and has no cursor to keep
/// in step.
pub(super) fn append_to_last_leaf<'t>(
    trees: &'t mut Trees,
    pages: &mut WriterPages<'_>,
    database: Database,
    key: &[u8],
    value: &[u8],
) -> Option<&'t InsertHint> {
    let (open, hint) = trees.last_leaf(database)?;
    let page_size = pages.page_size();
    let fits = layout::leaf_node_len(key.len(), value.len()) <= layout::node_max(page_size)
        && (1..=layout::key_max(page_size)).contains(&key.len());
    let tree = &mut open.tree;
    if !fits || pages.is_full() || tree.has_duplicates() {
        return None;
    }
    let leaf = hint.path.leaf_mut()?;
    let bytes = pages.private_page(leaf.pgno)?;
    let page = Page::parse(bytes, leaf.pgno, PageKind::Leaf).ok()?;
    let count = page.len();
    let last = page.key(count.wrapping_sub(1)).ok()?;
    let of_its_size = tree.order != KeyOrder::Integer || last.len() == key.len();
    if !of_its_size || tree.order.compare(key, last).is_le() {
        return None;
    }
    let checked = page.header();
    if !PageMut::from_header(bytes, checked).insert_record(count, key, value) {
        return None;
    }
    debug_assert!(count > 0, "the last leaf has entries");
    leaf.index = count;
    tree.record.entries = tree.record.entries.saturating_add(1);
    open.changed = true;
    Some(hint)
}

/// Returns true if a path takes the last entry of every branch.
pub(super) fn is_last_leaf(pages: PageView<'_>, path: &Path) -> Result<bool, BoxedError> {
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
