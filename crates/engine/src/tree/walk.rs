//! From an entry to its neighbours.

use fulgurite_format::{PageKind, Pgno};

use fulgurite_os::prefetch_first_lines;

use super::search::child_at;
use super::{Pages, Path, Step, Tree};
use crate::Error;
use crate::boxed_error::BoxedError;

/// How a step along the leaves went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafStep {
    /// To an entry of the same leaf.
    Within,
    /// To an entry of a neighbouring leaf.
    Across,
    /// There is no entry that way; the place is unchanged.
    AtEnd,
}

/// Goes to the first entry; `false` in an empty tree.
pub(crate) fn first<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    path.clear();
    descend(pages, tree, path, tree.record.root, Edge::First)
}

/// Goes to the last entry; `false` in an empty tree.
pub(crate) fn last<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    path.clear();
    descend(pages, tree, path, tree.record.root, Edge::Last)
}

/// Goes one entry forwards.
pub(crate) fn next<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<LeafStep, BoxedError> {
    let Some(leaf) = path.leaf_mut() else {
        return Ok(LeafStep::AtEnd);
    };
    if leaf.index + 1 < pages.tree_page_inlined(leaf.pgno, tree.leaf)?.len() {
        leaf.index += 1;
        return Ok(LeafStep::Within);
    }
    across(pages, tree, path, Edge::First)
}

/// Goes one entry backwards.
pub(crate) fn previous<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<LeafStep, BoxedError> {
    let Some(leaf) = path.leaf_mut() else {
        return Ok(LeafStep::AtEnd);
    };
    if leaf.index > 0 {
        leaf.index -= 1;
        return Ok(LeafStep::Within);
    }
    across(pages, tree, path, Edge::Last)
}

/// The end of a subtree to go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    First,
    Last,
}

/// Goes to the neighbouring leaf, entering it at `edge`.
fn across<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
    edge: Edge,
) -> Result<LeafStep, BoxedError> {
    for level in (0..path.len().saturating_sub(1)).rev() {
        let Some(step) = path.step(level) else { break };
        let page = pages.tree_page(step.pgno, PageKind::Branch)?;
        let index = match edge {
            Edge::First => Some(step.index + 1).filter(|&index| index < page.len()),
            Edge::Last => step.index.checked_sub(1),
        };
        let Some(index) = index else { continue };
        let child = child_at(pages, &page, step.pgno, index)?;
        if let Some(step) = path.step_mut(level) {
            step.index = index;
        }
        path.truncate(level + 1);
        debug_assert!(path.len() == level + 1);
        descend(pages, tree, path, child, edge)?;
        return Ok(LeafStep::Across);
    }
    Ok(LeafStep::AtEnd)
}

/// Extends the path from `pgno` down to the leaf entry at its edge.
fn descend<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
    mut pgno: Pgno,
    edge: Edge,
) -> Result<bool, BoxedError> {
    if pgno.is_none() {
        return Ok(false);
    }
    loop {
        let kind = tree.kind_at(path.len());
        let page = pages.tree_page(pgno, kind)?;
        let Some(last) = page.len().checked_sub(1) else {
            return Err(Error::Corrupted {
                page: pgno,
                what: fulgurite_format::Malformed::TooFewEntries(0),
            }
            .into());
        };
        let index = if edge == Edge::First { 0 } else { last };
        path.push(Step { pgno, index })?;
        if kind.is_leaf() {
            return Ok(true);
        }
        pgno = child_at(pages, &page, pgno, index)?;
    }
}

/// Goes to the first entry of the next leaf; `false` behind the last leaf.
pub(crate) fn next_leaf<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    Ok(across(pages, tree, path, Edge::First)? == LeafStep::Across)
}

/// Goes to the last entry of the previous leaf; `false` before the first leaf.
pub(crate) fn previous_leaf<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    Ok(across(pages, tree, path, Edge::Last)? == LeafStep::Across)
}

/// The leaf after that which a path leads to, if both are below one branch.
pub(crate) fn leaf_after<'p, P: Pages<'p>>(pages: P, path: &Path) -> Option<Pgno> {
    sibling(pages, path, |index| index.checked_add(1))
}

/// Returns the next two leaves behind a path's leaf, as far as they are below the same branch.
pub(crate) fn leaves_after<'p, P: Pages<'p>>(pages: P, path: &Path) -> [Option<Pgno>; 2] {
    let step = path.len().checked_sub(2).and_then(|level| path.step(level));
    let Some(step) = step else {
        return [None; 2];
    };
    let Ok(branch) = pages.tree_page(step.pgno, PageKind::Branch) else {
        return [None; 2];
    };
    let after = |count| branch.child_if_sound(step.index.checked_add(count)?);
    [after(1), after(2)]
}

/// The leaf before that which a path leads to, if both are below one branch.
pub(crate) fn leaf_before<'p, P: Pages<'p>>(pages: P, path: &Path) -> Option<Pgno> {
    sibling(pages, path, |index| index.checked_sub(1))
}

/// Prefetches the first lines of a leaf that the walk reads next. The processor does not prefetch
/// across page borders.
pub(crate) fn prefetch_leaf<'p, P: Pages<'p>>(pages: P, leaf: Option<Pgno>, lines: usize) {
    debug_assert!(lines > 0);
    if let Some(Ok(bytes)) = leaf.map(|leaf| pages.page(leaf)) {
        prefetch_first_lines(bytes, lines);
    }
}

fn sibling<'p, P: Pages<'p>>(
    pages: P,
    path: &Path,
    beside: fn(usize) -> Option<usize>,
) -> Option<Pgno> {
    let step = path.step(path.len().checked_sub(2)?)?;
    let page = pages.tree_page(step.pgno, PageKind::Branch).ok()?;
    let index = beside(step.index).filter(|index| *index < page.len())?;
    child_at(pages, &page, step.pgno, index).ok()
}

/// Makes a place one behind a leaf's last entry that of the next entry; `false` if there is none.
pub(crate) fn settle<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    let Some(leaf) = path.leaf() else {
        return Ok(false);
    };
    if leaf.index < pages.tree_page(leaf.pgno, tree.leaf)?.len() {
        return Ok(true);
    }
    Ok(across(pages, tree, path, Edge::First)? == LeafStep::Across)
}
