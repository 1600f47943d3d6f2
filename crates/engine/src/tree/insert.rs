//! Putting entries into pages, and splitting pages that are full.

use alloc::vec::Vec;
use fulgurite_format::{Malformed, NodeValue, PageKind, PageMut, Pgno};

use super::items::{balanced_cut, entries_min, entries_of, fill, new_entry, separator};
use super::{Pages, PagesMut, Path, Step, Tree};
use crate::Error;
use crate::boxed_error::BoxedError;

/// Inserts an entry at the place the path leads to; all pages on it are private. In an empty tree
/// the path is empty and the first page is made.
///
/// Returns the position of the entry, and the path leads there. Returns `None` if a split moved the
/// entry; the path is then invalid.
pub(crate) fn insert<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, BoxedError> {
    debug_assert!(!key.is_empty(), "entries of leaves have keys");
    debug_assert_eq!(path.is_empty(), tree.record.root.is_none());
    if path.is_empty() {
        let root = pages.allocate(1)?;
        let _ = PageMut::initialise(pages.page_mut(root)?, root, tree.leaf);
        tree.record.root = root;
        tree.record.depth = 1;
        count(&mut tree.record.leaf_pages);
        path.push(Step {
            pgno: root,
            index: 0,
        })?;
    }
    let level = path.len() - 1;
    let placed = insert_at(pages, tree, path, level, key, value)?;
    tree.record.entries = tree.record.entries.saturating_add(1);
    Ok(placed)
}

/// One page more. The counts of a tree record may be wrong from the start.
fn count(pages: &mut u64) {
    *pages = pages.saturating_add(1);
}

/// Replaces the node of the entry the path leads to, of any size. The pages on the path are
/// private.
pub(crate) fn replace<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, BoxedError> {
    debug_assert!(!tree.record.root.is_none() || path.is_empty());
    debug_assert!(!key.is_empty(), "entries of leaves have keys");
    let Some(leaf) = path.leaf() else {
        return insert(pages, tree, path, key, value);
    };
    pages
        .sound_page_mut(leaf.pgno, tree.leaf)?
        .remove(leaf.index)
        .map_err(Error::at(leaf.pgno))?;
    insert_at(pages, tree, path, path.len() - 1, key, value)
}

/// Inserts an entry at `path[level]`, splitting as far up as needed. Returns its place if nothing
/// was split.
pub(super) fn insert_at<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    level: usize,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, BoxedError> {
    debug_assert!(level < path.len(), "the path has the page");
    let Some(step) = path.step(level) else {
        return Ok(None);
    };
    let kind = tree.kind_at(level);
    let fitted = PageMut::parse(pages.page_mut(step.pgno)?, step.pgno, kind)
        .and_then(|mut page| page.insert(step.index, key, value))
        .map_err(Error::at(step.pgno))?;
    if fitted {
        return Ok(Some(step));
    }
    split(pages, tree, path, level, key, value)
}

/// Splits the page at `path[level]` around a new entry and tells the level above. Returns the
/// entry's place, with the path leading there, if it went behind all others and no branch was
/// split.
fn split<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    level: usize,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, BoxedError> {
    debug_assert!(level < path.len(), "the path has the page");
    let Some(step) = path.step(level) else {
        return Ok(None);
    };
    let kind = tree.kind_at(level);
    let goes_behind = is_append(pages.view(), tree, path, level)?;
    let (right, separator) = if goes_behind {
        start_leaf(pages, tree, step, key, value)?
    } else {
        share(pages, tree, step, kind, key, value)?
    };
    match kind {
        PageKind::Branch => count(&mut tree.record.branch_pages),
        PageKind::Leaf | PageKind::Packed(_) => count(&mut tree.record.leaf_pages),
    }
    let parent = match level.checked_sub(1) {
        Some(parent) => parent,
        None => {
            grow_root(pages, tree, path, step.pgno)?;
            0
        }
    };
    if let Some(above) = path.step_mut(parent) {
        above.index += 1;
    }
    let above = insert_at(
        pages,
        tree,
        path,
        parent,
        &separator,
        NodeValue::Child(right),
    )?;
    if goes_behind
        && above.is_some()
        && let Some(leaf) = path.leaf_mut()
    {
        // It is alone on its leaf.
        *leaf = Step {
            pgno: right,
            index: 0,
        };
        return Ok(Some(*leaf));
    }
    Ok(None)
}

/// Puts an entry behind all others on its own leaf. The full leaf stays as it is: ascending loads
/// fill pages to the brim and write each of them once.
fn start_leaf<P: PagesMut>(
    pages: &mut P,
    tree: &Tree,
    left: Step,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<(Pgno, Vec<u8>), BoxedError> {
    debug_assert!(tree.leaf.is_leaf());
    let separator = {
        let page = pages.view().tree_page(left.pgno, tree.leaf)?;
        let below = page
            .key(page.len().saturating_sub(1))
            .map_err(Error::at(left.pgno))?;
        tree.order.separator(below, key).to_vec()
    };
    let right = pages.allocate(1)?;
    let fits = PageMut::initialise(pages.page_mut(right)?, right, tree.leaf)
        .insert(0, key, value)
        .map_err(Error::at(right))?;
    debug_assert!(fits, "a page has room for an entry");
    Ok((right, separator))
}

/// Shares the entries of a full page, and a new one, with a page to its right. A branch that grows
/// at its end keeps all it can.
fn share<P: PagesMut>(
    pages: &mut P,
    tree: &Tree,
    left: Step,
    kind: PageKind,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<(Pgno, Vec<u8>), BoxedError> {
    debug_assert!(left.pgno >= Pgno::FIRST_DATA);
    debug_assert_eq!(kind.is_leaf(), kind == tree.leaf);
    let copy = pages.view().page(left.pgno)?.to_vec();
    let page =
        fulgurite_format::Page::parse(&copy, left.pgno, kind).map_err(Error::at(left.pgno))?;
    let new = new_entry(kind, key, value);
    let mut entries = entries_of(&page, 1).map_err(Error::at(left.pgno))?;
    if left.index > entries.len() {
        return Err(Error::at(left.pgno)(Malformed::Node(left.index)));
    }
    entries.insert(left.index, &new);
    let least = entries_min(kind);
    let grows_at_end = kind == PageKind::Branch && left.index + 1 == entries.len();
    let cut = if grows_at_end && entries.len() > 2 * least {
        Some(entries.len() - least)
    } else {
        balanced_cut(&entries, kind, copy.len())
    };
    let cut = cut.ok_or_else(|| Error::at(left.pgno)(Malformed::NodeSum))?;
    debug_assert!(0 < cut && cut < entries.len(), "both pages get entries");
    let (head, tail) = entries.split_at_checked(cut).unwrap_or_default();
    let right = pages.allocate(1)?;
    fill(pages, right, kind, tail)?;
    fill(pages, left.pgno, kind, head)?;
    Ok((right, separator(tree, kind, head, tail).to_vec()))
}

/// Puts a new root above the old one.
fn grow_root<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    old: Pgno,
) -> Result<(), BoxedError> {
    debug_assert!(tree.record.root == old, "the old root becomes a child");
    let root = pages.allocate(1)?;
    PageMut::initialise(pages.page_mut(root)?, root, PageKind::Branch)
        .insert(0, b"", NodeValue::Child(old))
        .map_err(Error::at(root))?;
    path.push_root(Step {
        pgno: root,
        index: 0,
    })?;
    tree.record.root = root;
    tree.record.depth += 1;
    debug_assert_eq!(path.len(), usize::from(tree.record.depth));
    count(&mut tree.record.branch_pages);
    Ok(())
}

/// Returns true if the place at `level` is behind the last entry of the whole tree's last leaf.
fn is_append<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &Path,
    level: usize,
) -> Result<bool, BoxedError> {
    debug_assert!(level < path.len());
    if !tree.kind_at(level).is_leaf() {
        return Ok(false);
    }
    for above in (0..=level).rev() {
        let Some(step) = path.step(above) else { break };
        let entries = pages.tree_page(step.pgno, tree.kind_at(above))?.len();
        let behind = usize::from(above != level);
        if step.index + behind != entries {
            return Ok(false);
        }
    }
    Ok(true)
}
