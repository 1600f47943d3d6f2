//! The compact copy: tree pages in key order, numbered anew, children before their parent.

use alloc::vec::Vec;
use fulgurite_os::platform::io::Write;

use fulgurite_format::{
    DatabaseFlags, META_PAGES, Malformed, Meta, PageKind, PageMut, Pgno, TreeRecord, Txnid,
    copy_used, write_overflow_header,
};

use super::count;
use super::page_buffer::PageBuffer;
use super::page_numbers::PageNumbers;
use crate::boxed_error::BoxedError;
use crate::maintain::walk::{
    References, RunReference, TreePage, TreeRole, TreeVisitor, visit_tree,
};
use crate::memory::copy_into;
use crate::space::PageView;
use crate::tree::Pages;
use crate::txn::Sealed;
use crate::{Error, ReadTxn};

/// Writes a file that holds the trees of the snapshot and nothing else.
pub(super) fn copy(txn: &ReadTxn<'_>, meta: &Meta, to: &mut dyn Write) -> Result<(), BoxedError> {
    let pages = txn.pages();
    let fresh = txn.environment().fresh_meta(meta);
    let mut output = PageBuffer::new(to, pages.page_size())?;
    let expected = count::tree_page_count(pages, meta)?;
    // The root of the main tree is written last, so its number follows from the count.
    let root = match expected {
        0 => Pgno::NONE,
        count => Pgno(META_PAGES - 1 + count),
    };
    for pgno in 0..META_PAGES {
        // A copy of an empty environment is a new file: neither meta page has a transaction.
        let has_contents = !root.is_none() || meta.main.flags != DatabaseFlags(0);
        let page = if pgno == 1 && has_contents {
            Meta {
                main: TreeRecord { root, ..meta.main },
                last: Pgno(META_PAGES - 1 + expected),
                txnid: Txnid(1),
                ..fresh
            }
        } else {
            fresh
        };
        copy_into(output.page()?, &page.to_page(Pgno(pgno)));
    }
    let mut visitor = CompactCopy {
        pages,
        output,
        numbers: PageNumbers::new(pages),
        open_pages: Vec::new(),
        unused_lists: Vec::new(),
        root: Pgno::NONE,
    };
    let meta_page = Pgno(meta.txnid.0 % META_PAGES);
    visit_tree(pages, &meta.main, TreeRole::Main, meta_page, &mut visitor)?;
    debug_assert!(
        visitor.open_pages.is_empty(),
        "a page was entered and not written"
    );
    if visitor.root != root {
        // The counts agreed with the free list and yet were wrong: the file contradicts itself.
        return Err(Error::Corrupted {
            page: meta_page,
            what: Malformed::TreeRecord,
        }
        .into());
    }
    visitor.output.flush()
}

/// An entry of an open page, and the new number of the page or run that it refers to.
type Renumbered = (usize, Pgno);

/// Writes each page after all pages below it, with the new numbers of those in it.
struct CompactCopy<'p, 'w> {
    pages: PageView<'p>,
    output: PageBuffer<'w>,
    numbers: PageNumbers<'p>,
    /// For each page that is entered and not yet written, its references that are.
    open_pages: Vec<Vec<Renumbered>>,
    /// Lists of finished pages, kept for their allocations.
    unused_lists: Vec<Vec<Renumbered>>,
    /// The new number of the page written last; at the end, of the root of the main tree.
    root: Pgno,
}

impl TreeVisitor for CompactCopy<'_, '_> {
    fn references(&self) -> References {
        References::CheckedInDuplicates
    }

    fn enter(&mut self, _page: &TreePage) -> Result<(), BoxedError> {
        let list = self.unused_lists.pop().unwrap_or_default();
        self.open_pages.push(list);
        Ok(())
    }

    fn run(&mut self, run: &RunReference) -> Result<(), BoxedError> {
        let new = self.numbers.take(run.count)?;
        let page_size = self.pages.page_size();
        let len = usize::try_from(run.count)
            .unwrap_or(usize::MAX)
            .saturating_mul(page_size);
        let bytes = self.pages.run(run.first, len)?;
        let (head, rest) = bytes
            .split_at_checked(page_size)
            .ok_or(Error::BeyondEnd(run.first))?;
        let copy = self.output.page()?;
        copy_into(copy, head);
        write_overflow_header(copy, new, run.count as u32);
        if !rest.is_empty() {
            self.output.pages(rest)?;
        }
        self.refer_from_open_page(run.index, new);
        Ok(())
    }

    fn leave(&mut self, page: &TreePage) -> Result<(), BoxedError> {
        let mut references = self.open_pages.pop().unwrap_or_default();
        debug_assert!(
            references.is_sorted_by_key(|(index, _)| *index),
            "entries are visited in order"
        );
        let new = self.numbers.take(1)?;
        let copy = self.output.page()?;
        copy_used(self.pages.page(page.pgno)?, copy, new);
        if page.levels > 1 {
            let mut copy =
                PageMut::parse(copy, new, PageKind::Branch).map_err(Error::at(page.pgno))?;
            for (index, child) in references.drain(..) {
                copy.set_child(index, child).map_err(Error::at(page.pgno))?;
            }
        } else {
            for (index, to) in references.drain(..) {
                let data = PageMut::parse(copy, new, PageKind::Leaf)
                    .and_then(|copy| copy.into_data(index))
                    .map_err(Error::at(page.pgno))?;
                // A page number is all that an overflow value has in the leaf. It is also the last
                // word of a tree record.
                if let Some(word) = data.last_chunk_mut() {
                    *word = to.0.to_le_bytes();
                }
            }
        }
        self.unused_lists.push(references);
        self.root = new;
        self.refer_from_open_page(page.index, new);
        Ok(())
    }
}

impl CompactCopy<'_, '_> {
    /// Notes the new number of what entry `index` of the innermost open page refers to.
    fn refer_from_open_page(&mut self, index: usize, new: Pgno) {
        if let Some(references) = self.open_pages.last_mut() {
            references.push((index, new));
        }
    }
}
