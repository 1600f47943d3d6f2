//! The visitor of trees: depth first, in key order, children before their parent's end.

use fulgurite_format::{NodeFlags, Page, PageKind, Pgno, TreeRecord};

use super::role::{TreeRole, has_reference, referenced_tree};
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Pages;
use crate::{Error, value};

/// A page of a tree during a visit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreePage {
    pub(crate) pgno: Pgno,
    /// Levels from this page down to the leaves; 1 for a leaf.
    pub(crate) levels: u16,
    pub(crate) role: TreeRole,
    /// The kind of the tree's leaves.
    pub(crate) leaf: PageKind,
    /// The entry that refers to this page, in the page above or in the leaf that holds its tree.
    pub(crate) index: usize,
}

/// An overflow run during a visit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunReference {
    pub(crate) first: Pgno,
    pub(crate) count: u64,
    /// The leaf and the entry that refer to the run.
    pub(crate) leaf: Pgno,
    pub(crate) index: usize,
}

/// How a visit treats the references of leaf entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum References {
    /// The visit stays in one tree.
    Ignored,
    /// The visit follows them. It does not read the entries of duplicates, which have none.
    Followed,
    /// As `Followed`, and a reference of a duplicate is an error.
    CheckedInDuplicates,
}

/// Receives the pages of a visit.
pub(crate) trait TreeVisitor {
    /// How references are treated.
    fn references(&self) -> References;

    /// Receives a page before its contents are read.
    fn enter(&mut self, page: &TreePage) -> Result<(), BoxedError>;

    /// Receives the entries of a leaf, before its references are followed.
    fn leaf(&mut self, _page: &TreePage, _entries: &Page<'_>) -> Result<(), BoxedError> {
        Ok(())
    }

    /// Receives an overflow run.
    fn run(&mut self, _run: &RunReference) -> Result<(), BoxedError> {
        Ok(())
    }

    /// Receives a page after everything below it.
    fn leave(&mut self, _page: &TreePage) -> Result<(), BoxedError> {
        Ok(())
    }
}

/// Visits a tree whose record is stored on page `holder`.
///
/// The call stack is bounded: a record has at most `DEPTH_MAX` levels, and trees nest three deep.
/// The visit does not detect cycles below one record; visitors bound the number of pages.
/// # Errors
/// [`Error::Corrupted`] for a page that is not of the kind its position needs; what the visitor
/// returns.
pub(crate) fn visit_tree(
    pages: PageView<'_>,
    record: &TreeRecord,
    role: TreeRole,
    holder: Pgno,
    visitor: &mut dyn TreeVisitor,
) -> Result<(), BoxedError> {
    enter_tree(pages, record, role, (holder, 0), visitor)
}

fn enter_tree(
    pages: PageView<'_>,
    record: &TreeRecord,
    role: TreeRole,
    (holder, index): (Pgno, usize),
    visitor: &mut dyn TreeVisitor,
) -> Result<(), BoxedError> {
    record.check(pages.last()).map_err(Error::at(holder))?;
    if record.root.is_none() {
        return Ok(());
    }
    let root = TreePage {
        pgno: record.root,
        levels: record.depth,
        role,
        leaf: role.leaf_kind(record),
        index,
    };
    visit_page(pages, &root, visitor)
}

fn visit_page(
    pages: PageView<'_>,
    page: &TreePage,
    visitor: &mut dyn TreeVisitor,
) -> Result<(), BoxedError> {
    pages.check_readable()?;
    visitor.enter(page)?;
    if page.levels > 1 {
        let branch = pages.tree_page(page.pgno, PageKind::Branch)?;
        for index in 0..branch.len() {
            let pgno = branch.child(index).map_err(Error::at(page.pgno))?;
            let child = TreePage {
                pgno,
                levels: page.levels - 1,
                index,
                ..*page
            };
            visit_page(pages, &child, visitor)?;
        }
    } else {
        visit_leaf(pages, page, visitor)?;
    }
    visitor.leave(page)
}

fn visit_leaf(
    pages: PageView<'_>,
    page: &TreePage,
    visitor: &mut dyn TreeVisitor,
) -> Result<(), BoxedError> {
    let entries = pages.tree_page(page.pgno, page.leaf)?;
    visitor.leaf(page, &entries)?;
    let has_nodes = page.leaf == PageKind::Leaf;
    let reads_entries = match visitor.references() {
        References::Ignored => false,
        References::Followed => has_nodes && page.role != TreeRole::Duplicates,
        References::CheckedInDuplicates => has_nodes,
    };
    if !reads_entries {
        return Ok(());
    }
    for index in 0..entries.len() {
        let flags = entries.node_flags(index).map_err(Error::at(page.pgno))?.0;
        if has_reference(flags) {
            follow(pages, page, &entries, index, visitor)?;
        }
    }
    Ok(())
}

fn follow(
    pages: PageView<'_>,
    page: &TreePage,
    entries: &Page<'_>,
    index: usize,
    visitor: &mut dyn TreeVisitor,
) -> Result<(), BoxedError> {
    let node = entries.leaf(index).map_err(Error::at(page.pgno))?;
    if node.flags.0 == NodeFlags::OVERFLOW && page.role != TreeRole::Duplicates {
        let (first, count) = value::run_of(pages, page.pgno, &node)?;
        return visitor.run(&RunReference {
            first,
            count,
            leaf: page.pgno,
            index,
        });
    }
    let (record, role) = referenced_tree(page.role, page.pgno, index, &node)?;
    enter_tree(pages, &record, role, (page.pgno, index), visitor)
}
