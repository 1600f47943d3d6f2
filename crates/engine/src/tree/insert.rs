//! Putting entries into pages, and splitting pages that are full.

use fulgurite_format::{NodeValue, PageKind, PageMut, Pgno};

use super::items::{Item, balanced_cut, entries_min, fill, items_of};
use super::{Pages, PagesMut, Path, Step, Tree};
use crate::Error;

/// Inserts an entry at the place the way leads to; all pages on it are private. In an empty tree the way is empty and
/// the first page is made.
///
/// Returns where the entry is, unless a split moved it. The way is of no use afterwards.
pub(crate) fn insert<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, Error> {
    if path.is_empty() {
        let root = pages.allocate(1)?;
        let _ = PageMut::<P::Format>::initialise(pages.page_mut(root)?, root, PageKind::Leaf);
        tree.record.root = root;
        tree.record.depth = 1;
        tree.record.leaf_pages += 1;
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

/// Replaces the node of the entry the way leads to, whatever the sizes; the pages on the way are private.
pub(crate) fn replace<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, Error> {
    let Some(leaf) = path.leaf() else {
        return insert(pages, tree, path, key, value);
    };
    PageMut::<P::Format>::parse(pages.page_mut(leaf.pgno)?, leaf.pgno, PageKind::Leaf)
        .and_then(|mut page| page.remove(leaf.index))
        .map_err(Error::at(leaf.pgno))?;
    insert_at(pages, tree, path, path.len() - 1, key, value)
}

/// Inserts an entry at `path[level]`, splitting as far up as needed. Returns its place if nothing was split.
pub(super) fn insert_at<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    level: usize,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, Error> {
    let Some(step) = path.step(level) else {
        return Ok(None);
    };
    let kind = tree.kind_at(level);
    let fitted = PageMut::<P::Format>::parse(pages.page_mut(step.pgno)?, step.pgno, kind)
        .and_then(|mut page| page.insert(step.index, key, value))
        .map_err(Error::at(step.pgno))?;
    if fitted {
        return Ok(Some(step));
    }
    split(pages, tree, path, level, key, value)?;
    Ok(None)
}

/// Splits the page at `path[level]` around a new entry and tells the level above.
fn split<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    level: usize,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<(), Error> {
    let Some(step) = path.step(level) else {
        return Ok(());
    };
    let kind = tree.kind_at(level);
    let append = is_rightmost(pages.view(), tree, path, level)?;
    let copy = pages.view().page(step.pgno)?.to_vec();
    let page = fulgurite_format::Page::<P::Format>::parse(&copy, step.pgno, kind)
        .map_err(Error::at(step.pgno))?;
    let mut items = items_of(&page).map_err(Error::at(step.pgno))?;
    items.insert(step.index, Item::New { key, value });
    // Ascending loads fill pages to the brim; everything else shares evenly.
    let appended = append && step.index + 1 == items.len() && items.len() > 2 * entries_min(kind);
    let cut = if appended {
        Some(items.len() - entries_min(kind))
    } else {
        balanced_cut::<P::Format>(&items, kind, copy.len())
    };
    let cut = cut.ok_or(Error::Corrupted {
        page: step.pgno,
        what: fulgurite_format::Malformed::NodeSum,
    })?;
    let (left, right) = items.split_at(cut);
    let separator = right.first().map_or(&b""[..], Item::key);

    let right_pgno = pages.allocate(1)?;
    fill(pages, right_pgno, kind, right)?;
    fill(pages, step.pgno, kind, left)?;
    match kind {
        PageKind::Branch => tree.record.branch_pages += 1,
        PageKind::Leaf => tree.record.leaf_pages += 1,
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
    insert_at(
        pages,
        tree,
        path,
        parent,
        separator,
        NodeValue::Child(right_pgno),
    )?;
    Ok(())
}

/// Puts a new root above the old one.
fn grow_root<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    old: Pgno,
) -> Result<(), Error> {
    let root = pages.allocate(1)?;
    PageMut::<P::Format>::initialise(pages.page_mut(root)?, root, PageKind::Branch)
        .insert(0, b"", NodeValue::Child(old))
        .map_err(Error::at(root))?;
    path.push_root(Step {
        pgno: root,
        index: 0,
    })?;
    tree.record.root = root;
    tree.record.depth += 1;
    tree.record.branch_pages += 1;
    Ok(())
}

/// Whether the way to `level` keeps to the last entry of every page above.
fn is_rightmost<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &Path,
    level: usize,
) -> Result<bool, Error> {
    for above in 0..level {
        let Some(step) = path.step(above) else { break };
        if step.index + 1 != pages.tree_page(step.pgno, tree.kind_at(above))?.len() {
            return Ok(false);
        }
    }
    Ok(true)
}
