//! The number of free pages that a snapshot records.

use fulgurite_format::{FreeRecord, Malformed, Page, Pgno, TreeRecord, layout};

use super::walk::{References, TreePage, TreeRole, TreeVisitor, visit_tree};
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Pages as _;
use crate::{Error, value};

/// Counts the pages on a free list, by reading all of it.
/// # Errors
/// [`Error::Corrupted`] for a damaged page or record.
pub(super) fn free_page_count(
    pages: PageView<'_>,
    free: &TreeRecord,
    holder: Pgno,
) -> Result<u64, BoxedError> {
    let mut count = FreePageCount {
        pages,
        page_count: 0,
        list_bytes: 0,
        tree_pages: 0,
    };
    visit_tree(pages, free, TreeRole::FreeList, holder, &mut count)?;
    Ok(count.page_count)
}

struct FreePageCount<'p> {
    pages: PageView<'p>,
    page_count: u64,
    list_bytes: u64,
    tree_pages: u64,
}

impl TreeVisitor for FreePageCount<'_> {
    fn references(&self) -> References {
        References::Ignored
    }

    fn enter(&mut self, page: &TreePage) -> Result<(), BoxedError> {
        self.tree_pages += 1;
        if self.pages.are_fewer_than(self.tree_pages) {
            return Err(Error::at(page.pgno)(Malformed::Cycle));
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &TreePage, entries: &Page<'_>) -> Result<(), BoxedError> {
        for index in 0..entries.len() {
            let node = entries.leaf(index).map_err(Error::at(leaf.pgno))?;
            let list = value::value_of(self.pages, leaf.pgno, &node)?;
            // Each list has its own pages. Without this bound, records that share one run could
            // make the count read the same pages without end.
            self.list_bytes = self.list_bytes.saturating_add(list.len() as u64);
            let pages = layout::whole_pages(self.list_bytes, self.pages.page_size());
            if self.pages.are_fewer_than(pages) {
                return Err(Error::at(leaf.pgno)(Malformed::FreeRecord(
                    "longer than the file",
                )));
            }
            let list = FreeRecord::parse(list, self.pages.last()).map_err(Error::at(leaf.pgno))?;
            self.page_count = self.page_count.saturating_add(list.len() as u64);
        }
        Ok(())
    }
}
