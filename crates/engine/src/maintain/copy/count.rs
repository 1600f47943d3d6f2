//! The number of pages that a compact copy will have. Its meta page comes first and has to say it.

use fulgurite_format::{META_PAGES, Malformed, Meta, NodeFlags, Page, Pgno, TreeRecord};

use super::page_numbers::PageNumbers;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::maintain::free_list::free_page_count;
use crate::maintain::walk::{
    References, RunReference, TreePage, TreeRole, TreeVisitor, visit_tree,
};
use crate::space::PageView;
use crate::tree::Pages as _;

/// Returns the number of pages of all trees of a snapshot except the free list's.
///
/// The free list knows what remains, and the tree records count their pages. If they agree both are
/// right. If not, because pages have leaked or an old library counted otherwise, every page is
/// visited.
pub(super) fn tree_page_count(pages: PageView<'_>, meta: &Meta) -> Result<u64, BoxedError> {
    // A copy does not need the free list. If it is damaged, the trees may still be whole.
    let not_free = pages_not_free(pages, meta).ok();
    let main = recorded_pages(&meta.main);
    match not_free {
        Some(count) if count == main => Ok(count),
        Some(count) if main.checked_add(named_tree_pages(pages, meta)?) == Some(count) => Ok(count),
        _ => visited_pages(pages, meta),
    }
}

/// Returns the number of pages outside the free list, its tree and the meta pages.
fn pages_not_free(pages: PageView<'_>, meta: &Meta) -> Result<u64, BoxedError> {
    let free = free_page_count(pages, &meta.free, meta_page(meta))?;
    let others = META_PAGES
        .saturating_add(recorded_pages(&meta.free))
        .saturating_add(free);
    (meta.last.0 + 1)
        .checked_sub(others)
        .ok_or_else(|| Error::at(meta.free.root)(Malformed::TreeRecord))
}

/// Returns the number of pages of the named databases, by their records.
fn named_tree_pages(pages: PageView<'_>, meta: &Meta) -> Result<u64, BoxedError> {
    let mut visitor = NamedTreePages {
        pages,
        visited: 0,
        sum: 0,
    };
    visit_tree(
        pages,
        &meta.main,
        TreeRole::Main,
        meta_page(meta),
        &mut visitor,
    )?;
    Ok(visitor.sum)
}

/// Returns the number of pages of all trees by visiting them.
fn visited_pages(pages: PageView<'_>, meta: &Meta) -> Result<u64, BoxedError> {
    let mut visitor = PageCount(PageNumbers::new(pages));
    visit_tree(
        pages,
        &meta.main,
        TreeRole::Main,
        meta_page(meta),
        &mut visitor,
    )?;
    Ok(visitor.0.taken())
}

fn recorded_pages(tree: &TreeRecord) -> u64 {
    tree.branch_pages
        .saturating_add(tree.leaf_pages)
        .saturating_add(tree.overflow_pages)
}

fn meta_page(meta: &Meta) -> Pgno {
    Pgno(meta.txnid.0 % META_PAGES)
}

struct NamedTreePages<'p> {
    pages: PageView<'p>,
    visited: u64,
    sum: u64,
}

impl TreeVisitor for NamedTreePages<'_> {
    fn references(&self) -> References {
        References::Ignored
    }

    fn enter(&mut self, page: &TreePage) -> Result<(), BoxedError> {
        self.visited += 1;
        if self.pages.are_fewer_than(self.visited) {
            return Err(Error::at(page.pgno)(Malformed::Cycle));
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &TreePage, entries: &Page<'_>) -> Result<(), BoxedError> {
        for index in 0..entries.len() {
            let node = entries.leaf(index).map_err(Error::at(leaf.pgno))?;
            if node.flags.0 == NodeFlags::SUB_TREE {
                let record = TreeRecord::read(node.data);
                let record = record.ok_or_else(|| Error::at(leaf.pgno)(Malformed::TreeRecord))?;
                self.sum = self.sum.saturating_add(recorded_pages(&record));
            }
        }
        Ok(())
    }
}

struct PageCount<'p>(PageNumbers<'p>);

impl TreeVisitor for PageCount<'_> {
    fn references(&self) -> References {
        References::CheckedInDuplicates
    }

    fn enter(&mut self, _page: &TreePage) -> Result<(), BoxedError> {
        self.0.take(1).map(|_| ())
    }

    fn run(&mut self, run: &RunReference) -> Result<(), BoxedError> {
        self.0.take(run.count).map(|_| ())
    }
}
