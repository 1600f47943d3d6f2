//! A tree as an operation needs it: its record, the order of its keys, the kind of its leaves.

use fulgurite_format::{DatabaseFlags, PageKind, TreeRecord};

use crate::order::KeyOrder;

/// A tree as an operation needs it: where it is and how its keys are ordered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tree {
    pub(crate) record: TreeRecord,
    pub(crate) order: KeyOrder,
    /// The kind of its leaves.
    pub(crate) leaf: PageKind,
    /// How the values of one key are ordered, where a key may have several.
    pub(crate) value_order: KeyOrder,
}

impl Tree {
    /// A tree of keys with one value each.
    pub(crate) const fn plain(record: TreeRecord, order: KeyOrder) -> Tree {
        debug_assert!(record.root.is_none() == (record.depth == 0));
        Tree {
            record,
            order,
            leaf: PageKind::Leaf,
            value_order: KeyOrder::Lexical,
        }
    }

    /// Returns true if a key may have several values.
    #[inline]
    pub(crate) const fn has_duplicates(&self) -> bool {
        self.record.flags.has(DatabaseFlags::DUP_SORT)
    }

    /// Returns true if each key has one value, and keys may have different lengths.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.has_duplicates() && self.order != KeyOrder::Integer
    }

    /// Returns true if the values of a key have one size and are packed.
    pub(crate) const fn has_fixed_values(&self) -> bool {
        let flags = DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED;
        self.record.flags.has(flags)
    }

    /// The kind of page at this depth, the root being at 0.
    pub(crate) fn kind_at(&self, level: usize) -> PageKind {
        debug_assert!(level <= usize::from(fulgurite_format::DEPTH_MAX));
        if level + 1 < usize::from(self.record.depth) {
            PageKind::Branch
        } else {
            self.leaf
        }
    }
}
