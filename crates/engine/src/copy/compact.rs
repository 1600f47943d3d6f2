//! The compact copy: every tree page by page in key order, numbered anew.

use std::io::Write;

use fulgurite_format::{
    DatabaseFlags, LeafNode, META_PAGES, Malformed, Meta, NodeFlags, PageKind, PageMut, Pgno,
    TREE_RECORD_LEN, TreeRecord, Txnid, copy_used, write_overflow_header,
};

use super::count;
use super::output::Output;
use crate::space::PageView;
use crate::tree::Pages;
use crate::txn::Sealed;
use crate::visit::{SUB_DATABASE, duplicate_leaf};
use crate::{Error, ReadTxn, value};

/// Writes a file that holds what the snapshot holds, and nothing else.
pub(super) fn copy(txn: &ReadTxn<'_>, meta: &Meta, to: &mut dyn Write) -> Result<(), Error> {
    let pages = txn.pages();
    let fresh = txn.environment().fresh_meta(meta);
    let mut output = Output::new(to, pages.page_size())?;
    let expected = count::tree_pages(pages, meta)?;
    let root = match expected {
        0 => Pgno::NONE,
        count => Pgno(META_PAGES - 1 + count),
    };
    for pgno in 0..META_PAGES {
        // A copy of nothing is a new file.
        let described = pgno == 1 && (!root.is_none() || meta.main.flags != DatabaseFlags(0));
        let page = if described {
            Meta {
                main: TreeRecord { root, ..meta.main },
                last: Pgno(META_PAGES - 1 + expected),
                txnid: Txnid(1),
                ..fresh
            }
        } else {
            fresh
        };
        output.page()?.copy_from_slice(&page.to_page(Pgno(pgno)));
    }
    let mut trees = Trees::new(pages, Some(output));
    let found = trees.tree(&meta.main, Holder::Meta, Pgno(meta.txnid.0 % META_PAGES))?;
    if found != root {
        // The counts agreed with the free list and yet were wrong: nothing in this file can be believed.
        return Err(Error::Corrupted {
            page: Pgno(meta.txnid.0 % META_PAGES),
            what: Malformed::TreeRecord,
        });
    }
    trees.finish()
}

/// How many pages the trees of a snapshot have, by going through all of them.
pub(super) fn count_by_walking(pages: PageView<'_>, meta: &Meta) -> Result<u64, Error> {
    let mut trees = Trees::new(pages, None);
    trees.tree(&meta.main, Holder::Meta, Pgno(meta.txnid.0 % META_PAGES))?;
    Ok(trees.next.0 - META_PAGES)
}

/// Where the record of a tree stands; says what its leaves may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// The main tree: values, duplicates, named databases.
    Meta,
    /// A named database: values, duplicates.
    Main,
    /// The duplicates of one key, on leaves of this kind: nothing but keys.
    Duplicates(PageKind),
}

impl Holder {
    const fn leaf_kind(self) -> PageKind {
        match self {
            Holder::Meta | Holder::Main => PageKind::Leaf,
            Holder::Duplicates(kind) => kind,
        }
    }
}

/// Renumbers the trees of a snapshot, children before parents, and writes them unless only their number is asked.
struct Trees<'p, 'w> {
    pages: PageView<'p>,
    output: Option<Output<'w>>,
    /// The number of the next page.
    next: Pgno,
}

impl<'p, 'w> Trees<'p, 'w> {
    fn new(pages: PageView<'p>, output: Option<Output<'w>>) -> Trees<'p, 'w> {
        Trees {
            pages,
            output,
            next: Pgno::FIRST_DATA,
        }
    }

    fn finish(self) -> Result<(), Error> {
        self.output.map_or(Ok(()), |mut output| output.flush())
    }

    /// A whole tree, whose record was found on page `at`; returns its new root.
    fn tree(&mut self, record: &TreeRecord, holder: Holder, at: Pgno) -> Result<Pgno, Error> {
        record.check(self.pages.last()).map_err(Error::at(at))?;
        if record.root.is_none() {
            return Ok(Pgno::NONE);
        }
        self.subtree(record.root, record.depth, holder)
    }

    /// The part of a tree below a page that is `depth` levels above nothing.
    fn subtree(&mut self, pgno: Pgno, depth: u16, holder: Holder) -> Result<Pgno, Error> {
        self.pages.check_readable()?;
        if depth > 1 {
            self.branch(pgno, depth, holder)
        } else {
            self.leaf(pgno, holder)
        }
    }

    fn branch(&mut self, pgno: Pgno, depth: u16, holder: Holder) -> Result<Pgno, Error> {
        let page = self.pages.tree_page(pgno, PageKind::Branch)?;
        let mut children = Vec::with_capacity(page.len());
        for index in 0..page.len() {
            let child = page.child(index).map_err(Error::at(pgno))?;
            children.push(self.subtree(child, depth - 1, holder)?);
        }
        let new = self.take(1)?;
        let Some(copy) = self.write(pgno, new)? else {
            return Ok(new);
        };
        let mut copy = PageMut::parse(copy, new, PageKind::Branch).map_err(Error::at(pgno))?;
        for (index, child) in children.into_iter().enumerate() {
            copy.set_child(index, child).map_err(Error::at(pgno))?;
        }
        Ok(new)
    }

    fn leaf(&mut self, pgno: Pgno, holder: Holder) -> Result<Pgno, Error> {
        let page = self.pages.tree_page(pgno, holder.leaf_kind())?;
        let nodes = match holder.leaf_kind() {
            PageKind::Packed(_) => 0,
            _ => page.len(),
        };
        // Entries that refer to other pages, and where those are in the copy.
        let mut moved = Vec::new();
        for index in 0..nodes {
            let flags = page.node_flags(index).map_err(Error::at(pgno))?;
            if flags.0 & (NodeFlags::OVERFLOW | NodeFlags::SUB_TREE) != 0 {
                let node = page.leaf(index).map_err(Error::at(pgno))?;
                moved.push((index, self.referred(pgno, index, &node, holder)?));
            }
        }
        let new = self.take(1)?;
        let Some(copy) = self.write(pgno, new)? else {
            return Ok(new);
        };
        for (index, to) in moved {
            let data = PageMut::parse(copy, new, PageKind::Leaf)
                .and_then(|copy| copy.into_data(index))
                .map_err(Error::at(pgno))?;
            // A page number is all an overflow value has in the leaf, and the last word of a tree record.
            if let Some(word) = data.last_chunk_mut() {
                *word = to.0.to_le_bytes();
            }
        }
        Ok(new)
    }

    /// Writes a page under its new number, and lends it for what else is new in it.
    fn write(&mut self, pgno: Pgno, new: Pgno) -> Result<Option<&mut [u8]>, Error> {
        let Some(output) = &mut self.output else {
            return Ok(None);
        };
        let copy = output.page()?;
        copy_used(self.pages.page(pgno)?, copy, new);
        Ok(Some(copy))
    }

    /// Copies what a leaf entry refers to; returns where it begins now.
    fn referred(
        &mut self,
        leaf: Pgno,
        index: usize,
        node: &LeafNode<'p>,
        holder: Holder,
    ) -> Result<Pgno, Error> {
        let flags = node.flags.0;
        if flags == NodeFlags::OVERFLOW && !matches!(holder, Holder::Duplicates(_)) {
            return self.run(leaf, node);
        }
        let record = TreeRecord::read(node.data).filter(|_| node.data.len() == TREE_RECORD_LEN);
        let record = record.ok_or_else(|| Error::at(leaf)(Malformed::TreeRecord))?;
        let below = match (flags, holder) {
            (NodeFlags::SUB_TREE, Holder::Meta) => Holder::Main,
            (SUB_DATABASE, Holder::Meta | Holder::Main) => {
                Holder::Duplicates(duplicate_leaf(&record))
            }
            _ => return Err(Error::at(leaf)(Malformed::NodeFlags { index, flags })),
        };
        self.tree(&record, below, leaf)
    }

    /// A value in an overflow run.
    fn run(&mut self, leaf: Pgno, node: &LeafNode<'p>) -> Result<Pgno, Error> {
        let (first, count) = value::run_of(self.pages, leaf, node)?;
        let new = self.take(count)?;
        let page_size = self.pages.page_size();
        if let Some(output) = &mut self.output {
            let len = usize::try_from(count)
                .unwrap_or(usize::MAX)
                .saturating_mul(page_size);
            let run = self.pages.run(first, len)?;
            let (head, rest) = run
                .split_at_checked(page_size)
                .ok_or(Error::BeyondEnd(first))?;
            let copy = output.page()?;
            copy.copy_from_slice(head);
            write_overflow_header(copy, new, count as u32);
            if !rest.is_empty() {
                output.pages(rest)?;
            }
        }
        Ok(new)
    }

    /// Gives out the next `count` numbers. No sound snapshot needs more than it has pages.
    fn take(&mut self, count: u64) -> Result<Pgno, Error> {
        let first = self.next;
        self.next = Pgno(first.0.saturating_add(count));
        if self.pages.are_fewer_than(self.next.0 - 1) {
            return Err(Error::at(first)(Malformed::TreeRecord));
        }
        Ok(first)
    }
}
