//! Taking entries out of pages, and joining pages that have become too empty.

use alloc::vec::Vec;
use fulgurite_format::{Malformed, NodeValue, Page, PageKind, PageMut, Pgno, layout};

use super::insert::insert_at;
use super::items::{
    balanced_cut, entries_min, entries_of, fill, new_entry, separator as separator_of, total_len,
};
use super::path::step_of;
use super::{Pages, PagesMut, Path, Tree};
use crate::Error;
use crate::boxed_error::BoxedError;

/// Removes the leaf entry the path leads to; the pages on it are private. The caller releases
/// overflow pages of the value. Returns true if the path is still valid. It then leads to the
/// entry's successor, which may be one behind the leaf's last.
pub(crate) fn remove<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    debug_assert!(path.len() <= usize::from(tree.record.depth));
    let Some(level) = path.len().checked_sub(1) else {
        return Ok(false);
    };
    let rest = remove_at(pages, tree, path, level)?;
    tree.record.entries = tree.record.entries.saturating_sub(1);
    rebalance(pages, tree, path, level, rest)
}

/// As [`remove`], if the leaf has the whole value of the entry; makes the path private before. For
/// other entries it returns `None`, and changes nothing else. A hot path.
#[inline]
pub(crate) fn remove_plain<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
) -> Result<Option<bool>, BoxedError> {
    debug_assert!(!tree.has_duplicates(), "keys have one value each");
    super::touch_path(pages, tree, path)?;
    let leaf = step_of(path.leaf(), tree)?;
    let mut page = pages.sound_page_mut(leaf.pgno, PageKind::Leaf)?;
    let flags = page.view().node_flags(leaf.index);
    if flags.map_err(Error::at(leaf.pgno))?.0 != 0 {
        return Ok(None);
    }
    page.remove(leaf.index).map_err(Error::at(leaf.pgno))?;
    let rest = PageRest::of(&page);
    let stays = rest.is_enough(PageKind::Leaf, page.size());
    tree.record.entries = tree.record.entries.saturating_sub(1);
    let level = path.len() - 1;
    if stays && level > 0 {
        return Ok(Some(true));
    }
    rebalance(pages, tree, path, level, rest).map(Some)
}

/// The contents of a page from which an entry was removed.
#[derive(Debug, Clone, Copy)]
struct PageRest {
    entries: usize,
    /// Bytes that they take.
    used: usize,
}

impl PageRest {
    #[inline(always)]
    fn of(page: &PageMut<'_>) -> PageRest {
        let page = page.view();
        PageRest {
            entries: page.len(),
            used: page.used_space(),
        }
    }

    /// Returns true if a page that is no root stays as it is.
    #[inline(always)]
    const fn is_enough(self, kind: PageKind, page_size: usize) -> bool {
        self.entries >= entries_min(kind) && self.used >= page_size / 4
    }
}

/// Removes the entry at `path[level]`.
fn remove_at<P: PagesMut>(
    pages: &mut P,
    tree: &Tree,
    path: &Path,
    level: usize,
) -> Result<PageRest, BoxedError> {
    debug_assert!(level < path.len(), "the path has the page");
    let step = step_of(path.step(level), tree)?;
    let mut page = pages.sound_page_mut(step.pgno, tree.kind_at(level))?;
    page.remove(step.index).map_err(Error::at(step.pgno))?;
    Ok(PageRest::of(&page))
}

/// Repairs the page at `path[level]` if it is less than a quarter full. It merges the page with a
/// neighbour or shares entries with it. Tells whether there was nothing to do.
fn rebalance<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    level: usize,
    rest: PageRest,
) -> Result<bool, BoxedError> {
    debug_assert!(path.len() <= usize::from(tree.record.depth));
    debug_assert!(level < path.len(), "the path has the page");
    let Some(step) = path.step(level) else {
        return Ok(false);
    };
    let kind = tree.kind_at(level);
    let Some(above) = level.checked_sub(1) else {
        return shrink_root(pages, tree, step.pgno, kind, rest.entries);
    };
    if rest.is_enough(kind, pages.view().page_size()) {
        return Ok(true);
    }
    let Some(parent) = path.step(above) else {
        return Ok(false);
    };
    let siblings = pages.view().tree_page(parent.pgno, PageKind::Branch)?.len();
    if siblings < 2 {
        // Only the original's free list may have such branches: nothing to join with.
        if rest.entries == 0 {
            release_page(pages, tree, step.pgno, kind)?;
            let rest = remove_at(pages, tree, path, above)?;
            rebalance(pages, tree, path, above, rest)?;
            return Ok(false);
        }
        return Ok(true);
    }
    let right_index = if parent.index > 0 { parent.index } else { 1 };
    join(pages, tree, path, above, right_index)?;
    Ok(false)
}

/// Two neighbouring pages of one kind below one branch.
#[derive(Debug, Clone, Copy)]
struct Siblings {
    kind: PageKind,
    left: Pgno,
    right: Pgno,
    /// The level of the branch in the path.
    above: usize,
    /// The entry of the right page in the branch.
    right_index: usize,
}

/// Merges the children `right_index - 1` and `right_index` of the branch at `path[above]`, or
/// shares their entries.
fn join<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    above: usize,
    right_index: usize,
) -> Result<(), BoxedError> {
    debug_assert!(right_index > 0, "the left page comes before the right one");
    debug_assert!(above + 1 < path.len(), "the joined page is on the path");
    let Some(parent) = path.step(above) else {
        return Ok(());
    };
    let kind = tree.kind_at(above + 1);
    let siblings = Siblings {
        kind,
        left: touch_child(pages, parent.pgno, right_index - 1, kind)?,
        right: touch_child(pages, parent.pgno, right_index, kind)?,
        above,
        right_index,
    };
    let Siblings { left, right, .. } = siblings;
    if left == right {
        return Err(Error::Corrupted {
            page: parent.pgno,
            what: Malformed::Cycle,
        }
        .into());
    }
    let branch = pages.view().page(parent.pgno)?.to_vec();
    let separator = Page::parse(&branch, parent.pgno, PageKind::Branch)
        .and_then(|page| page.key(right_index))
        .map_err(Error::at(parent.pgno))?;
    let left_copy = pages.view().page(left)?.to_vec();
    let right_copy = pages.view().page(right)?.to_vec();
    let left_page = Page::parse(&left_copy, left, kind).map_err(Error::at(left))?;
    let right_page = Page::parse(&right_copy, right, kind).map_err(Error::at(right))?;

    let mut entries = entries_of(&left_page, right_page.len()).map_err(Error::at(left))?;
    let mut tail = entries_of(&right_page, 0).map_err(Error::at(right))?;
    let first;
    if kind == PageKind::Branch
        && let Some(keyless) = tail.first_mut()
    {
        // The right page's first entry gets back the key that the branch above has for it.
        let child = right_page.child(0).map_err(Error::at(right))?;
        first = new_entry(kind, separator, NodeValue::Child(child));
        *keyless = &first;
    }
    entries.append(&mut tail);
    if total_len(&entries, kind) + layout::HEADER_LEN <= left_copy.len() {
        return merge(pages, tree, path, siblings, &entries);
    }
    share_entries(pages, tree, path, siblings, &entries)
}

/// Puts all entries of both pages on the left one, and frees the right one.
fn merge<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    siblings: Siblings,
    entries: &[&[u8]],
) -> Result<(), BoxedError> {
    debug_assert!(siblings.left != siblings.right, "two pages are merged");
    let Siblings { kind, above, .. } = siblings;
    fill(pages, siblings.left, kind, entries)?;
    release_page(pages, tree, siblings.right, kind)?;
    if let Some(step) = path.step_mut(above) {
        step.index = siblings.right_index;
    }
    let rest = remove_at(pages, tree, path, above)?;
    rebalance(pages, tree, path, above, rest)?;
    Ok(())
}

/// Distributes the entries over both pages, and gives the right one its new separator.
fn share_entries<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    siblings: Siblings,
    entries: &[&[u8]],
) -> Result<(), BoxedError> {
    let Siblings { kind, above, .. } = siblings;
    let cut = balanced_cut(entries, kind, pages.view().page_size())
        .ok_or_else(|| Error::at(siblings.right)(Malformed::NodeSum))?;
    debug_assert!(0 < cut && cut < entries.len(), "both pages keep entries");
    let (head, tail) = entries.split_at_checked(cut).unwrap_or_default();
    let separator = separator_of(tree, kind, head, tail);
    fill(pages, siblings.left, kind, head)?;
    fill(pages, siblings.right, kind, tail)?;
    if let Some(step) = path.step_mut(above) {
        step.index = siblings.right_index;
    }
    remove_at(pages, tree, path, above)?;
    let child = NodeValue::Child(siblings.right);
    insert_at(pages, tree, path, above, separator, child)?;
    Ok(())
}

/// Makes a child private and repoints its parent, which is private already.
fn touch_child<P: PagesMut>(
    pages: &mut P,
    parent: Pgno,
    index: usize,
    kind: PageKind,
) -> Result<Pgno, BoxedError> {
    debug_assert!(parent >= Pgno::FIRST_DATA);
    let child = {
        let page = pages.view().tree_page(parent, PageKind::Branch)?;
        super::search::child_at(pages.view(), &page, parent, index)?
    };
    let touched = pages.touch(child, kind)?;
    if touched != child {
        PageMut::parse(pages.page_mut(parent)?, parent, PageKind::Branch)
            .and_then(|mut page| page.set_child(index, touched))
            .map_err(Error::at(parent))?;
    }
    Ok(touched)
}

/// A root leaf without entries goes; a root branch with one child gives way to it. Tells whether
/// neither was the case.
fn shrink_root<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    root: Pgno,
    kind: PageKind,
    entries: usize,
) -> Result<bool, BoxedError> {
    debug_assert!(tree.record.root == root);
    match (kind, entries) {
        (_, 0) => {
            release_page(pages, tree, root, kind)?;
            tree.record.root = Pgno::NONE;
            tree.record.depth = 0;
        }
        (PageKind::Branch, 1) => {
            let child = {
                let page = pages.view().tree_page(root, kind)?;
                super::search::child_at(pages.view(), &page, root, 0)?
            };
            release_page(pages, tree, root, kind)?;
            tree.record.root = child;
            tree.record.depth -= 1;
        }
        _ => return Ok(true),
    }
    Ok(false)
}

fn release_page<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    pgno: Pgno,
    kind: PageKind,
) -> Result<(), BoxedError> {
    debug_assert!(pgno >= Pgno::FIRST_DATA, "meta pages are never freed");
    let count = match kind {
        PageKind::Branch => &mut tree.record.branch_pages,
        PageKind::Leaf | PageKind::Packed(_) => &mut tree.record.leaf_pages,
    };
    *count = count.saturating_sub(1);
    pages.release(pgno, 1)
}

/// Gives up every page of a tree and leaves it empty. Touches each page once.
///
/// `collect` finds the values that the entries of a leaf store outside it; `release` gives one of
/// them up. The value module supplies both: this module knows pages only.
pub(crate) fn clear<P: PagesMut, V>(
    pages: &mut P,
    tree: &mut Tree,
    collect: impl Fn(&P, &Tree, Pgno, &mut Vec<V>) -> Result<(), BoxedError>,
    release: impl Fn(&mut P, V) -> Result<(), BoxedError>,
) -> Result<(), BoxedError> {
    let mut path = Path::new();
    let mut released: u64 = 0;
    let mut more = super::first(pages.view(), tree, &mut path)?;
    let mut outside = Vec::new();
    while more {
        let Some(leaf) = path.leaf() else { break };
        if tree.leaf == PageKind::Leaf {
            collect(pages, tree, leaf.pgno, &mut outside)?;
        }
        released += 1;
        // Pages of the file are counted where they are given up; private ones are gone from memory
        // once they are.
        if released > pages.view().last().0 {
            return Err(Error::Corrupted {
                page: leaf.pgno,
                what: Malformed::Cycle,
            }
            .into());
        }
        let depth = path.len();
        let finished = finished_levels(pages.view(), tree, &path)?;
        let done: Vec<Pgno> = (depth - finished..depth)
            .filter_map(|level| path.step(level))
            .map(|step| step.pgno)
            .collect();
        more = super::walk::next_leaf(pages.view(), tree, &mut path)?;
        for pgno in done {
            pages.release(pgno, 1)?;
        }
        for value in outside.drain(..) {
            release(pages, value)?;
        }
    }
    tree.record = fulgurite_format::TreeRecord {
        pad: tree.record.pad,
        ..fulgurite_format::TreeRecord::empty(tree.record.flags)
    };
    Ok(())
}

/// Returns how many pages at the end of the path have nothing further to the right. These are the
/// leaf, and each branch above it that the path leaves by its last entry.
fn finished_levels<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &Path,
) -> Result<usize, BoxedError> {
    let mut finished = 1;
    for level in (0..path.len().saturating_sub(1)).rev() {
        let Some(step) = path.step(level) else { break };
        if step.index + 1 < pages.tree_page(step.pgno, tree.kind_at(level))?.len() {
            break;
        }
        finished += 1;
    }
    debug_assert!(finished <= path.len());
    Ok(finished)
}
