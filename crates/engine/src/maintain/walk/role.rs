//! Roles of trees: what a tree holds, and so what its leaves may refer to.

use fulgurite_format::{
    DatabaseFlags, LeafNode, Malformed, NodeFlags, PageKind, Pgno, TREE_RECORD_LEN, TreeRecord,
};

use crate::Error;
use crate::boxed_error::BoxedError;

/// Flags of a leaf node whose values have their own tree.
pub(crate) const VALUE_TREE: u16 = NodeFlags::SUB_TREE | NodeFlags::DUPLICATES;

/// The role of a tree, which decides what its leaves may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeRole {
    /// The free list: overflow runs.
    FreeList,
    /// The main database: overflow runs, named trees, trees of duplicates.
    Main,
    /// A named database: overflow runs, trees of duplicates.
    Named,
    /// The values of one key: nothing.
    Duplicates,
}

impl TreeRole {
    /// Returns the role of the tree that a node with these flags refers to.
    pub(crate) const fn of_referenced_tree(self, flags: u16) -> Option<TreeRole> {
        match (flags, self) {
            (NodeFlags::SUB_TREE, TreeRole::Main) => Some(TreeRole::Named),
            (VALUE_TREE, TreeRole::Main | TreeRole::Named) => Some(TreeRole::Duplicates),
            _ => None,
        }
    }

    /// Returns the kind of the leaves of a tree with this record.
    pub(crate) fn leaf_kind(self, record: &TreeRecord) -> PageKind {
        match u16::try_from(record.pad) {
            Ok(len)
                if self == TreeRole::Duplicates && record.flags.has(DatabaseFlags::DUP_FIXED) =>
            {
                PageKind::Packed(len)
            }
            _ => PageKind::Leaf,
        }
    }
}

/// Returns true if a leaf node with these flags refers to other pages.
pub(crate) const fn has_reference(flags: u16) -> bool {
    flags & (NodeFlags::OVERFLOW | NodeFlags::SUB_TREE) != 0
}

/// Reads the record of the tree that entry `index` of `leaf` refers to.
/// # Errors
/// [`Error::Corrupted`] if a tree of role `holder` has no such entries, or the record has another
/// size.
pub(crate) fn referenced_tree(
    holder: TreeRole,
    leaf: Pgno,
    index: usize,
    node: &LeafNode<'_>,
) -> Result<(TreeRecord, TreeRole), BoxedError> {
    let flags = node.flags.0;
    let role = holder
        .of_referenced_tree(flags)
        .ok_or_else(|| Error::at(leaf)(Malformed::NodeFlags { index, flags }))?;
    let record = TreeRecord::read(node.data).filter(|_| node.data.len() == TREE_RECORD_LEN);
    let record = record.ok_or_else(|| Error::at(leaf)(Malformed::TreeRecord))?;
    Ok((record, role))
}
