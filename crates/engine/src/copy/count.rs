//! How many pages a compact copy will have: its meta page, which comes first, has to say so.

use fulgurite_format::{
    FreeRecord, LeafNode, META_PAGES, Malformed, Meta, NodeFlags, PageKind, Pgno, TreeRecord,
};

use super::compact::count_by_walking;
use crate::space::PageView;
use crate::tree::Pages;
use crate::{Error, value};

/// Pages of all trees of a snapshot but the free list's.
///
/// The free list knows what remains, and the tree records count their pages. Where they agree both are right; where
/// not, because pages have leaked or an old library counted otherwise, every page is visited.
pub(super) fn tree_pages(pages: PageView<'_>, meta: &Meta) -> Result<u64, Error> {
    // A copy does not need the free list: if it is damaged, the trees may still be whole.
    let listed = pages_not_free(pages, meta).ok();
    let main = recorded(&meta.main);
    match listed {
        Some(count) if count == main => Ok(count),
        Some(count) if main.checked_add(recorded_by_name(pages, meta)?) == Some(count) => Ok(count),
        _ => count_by_walking(pages, meta),
    }
}

/// Pages that are neither meta pages nor the free list's nor on it.
fn pages_not_free(pages: PageView<'_>, meta: &Meta) -> Result<u64, Error> {
    let mut others = META_PAGES.saturating_add(recorded(&meta.free));
    let mut octets = 0u64;
    each_node(pages, &meta.free, &mut |leaf, node| {
        let list = value::value_of(pages, leaf, node)?;
        // Lists lie in pages of their own: many of them in the same ones would be read for ever.
        octets = octets.saturating_add(list.len() as u64);
        if pages.are_fewer_than(octets / pages.page_size() as u64) {
            return Err(Error::at(leaf)(Malformed::FreeRecord(
                "longer than the file",
            )));
        }
        let list = FreeRecord::parse(list, meta.last).map_err(Error::at(leaf))?;
        others = others.saturating_add(list.len() as u64);
        Ok(())
    })?;
    (meta.last.0 + 1)
        .checked_sub(others)
        .ok_or_else(|| Error::at(meta.free.root)(Malformed::TreeRecord))
}

/// Pages of the named databases, by their records.
fn recorded_by_name(pages: PageView<'_>, meta: &Meta) -> Result<u64, Error> {
    let mut sum = 0u64;
    each_node(pages, &meta.main, &mut |leaf, node| {
        if node.flags.0 == NodeFlags::SUB_TREE {
            let record = TreeRecord::read(node.data);
            let record = record.ok_or_else(|| Error::at(leaf)(Malformed::TreeRecord))?;
            sum = sum.saturating_add(recorded(&record));
        }
        Ok(())
    })?;
    Ok(sum)
}

fn recorded(tree: &TreeRecord) -> u64 {
    tree.branch_pages
        .saturating_add(tree.leaf_pages)
        .saturating_add(tree.overflow_pages)
}

/// Shows every leaf entry of a tree.
fn each_node<'p>(
    pages: PageView<'p>,
    tree: &TreeRecord,
    visit: &mut dyn FnMut(Pgno, &LeafNode<'p>) -> Result<(), Error>,
) -> Result<(), Error> {
    // The pages still to be seen, with their levels above nothing; the leftmost on top.
    let mut waiting = Vec::new();
    if !tree.root.is_none() {
        waiting.push((tree.root, tree.depth));
    }
    let mut seen = 0;
    while let Some((pgno, depth)) = waiting.pop() {
        pages.check_readable()?;
        seen += 1;
        if pages.are_fewer_than(seen) {
            return Err(Error::at(pgno)(Malformed::Cycle));
        }
        if depth > 1 {
            let page = pages.tree_page(pgno, PageKind::Branch)?;
            for index in (0..page.len()).rev() {
                waiting.push((page.child(index).map_err(Error::at(pgno))?, depth - 1));
            }
        } else {
            let page = pages.tree_page(pgno, PageKind::Leaf)?;
            for index in 0..page.len() {
                visit(pgno, &page.leaf(index).map_err(Error::at(pgno))?)?;
            }
        }
    }
    Ok(())
}
