//! The record that describes a tree: in meta pages, for named databases, for duplicates.

use crate::{DatabaseFlags, Malformed, Pgno, bytes};

/// Bytes of a tree record.
pub const TREE_RECORD_LEN: usize = 48;
/// No tree is deeper; bounds every descent.
pub const DEPTH_MAX: u16 = 32;

/// A tree: its root and its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeRecord {
    /// Free-list tree: the page size. Packed sub-database: the item size. Else 0.
    pub pad: u32,
    /// Persistent flags; in the free-list tree those of the environment.
    pub flags: DatabaseFlags,
    /// Levels: 0 for an empty tree, 1 if the root is a leaf.
    pub depth: u16,
    /// Branch pages.
    pub branch_pages: u64,
    /// Leaf pages.
    pub leaf_pages: u64,
    /// Overflow pages, not runs.
    pub overflow_pages: u64,
    /// Data items.
    pub entries: u64,
    /// Root page, or [`Pgno::NONE`].
    pub root: Pgno,
}

impl TreeRecord {
    /// A tree without entries.
    #[must_use]
    pub const fn empty(flags: DatabaseFlags) -> TreeRecord {
        TreeRecord {
            pad: 0,
            flags,
            depth: 0,
            branch_pages: 0,
            leaf_pages: 0,
            overflow_pages: 0,
            entries: 0,
            root: Pgno::NONE,
        }
    }

    /// Reads a record; checks nothing but its length, see [`TreeRecord::check`].
    #[must_use]
    #[inline]
    pub fn read(record: &[u8]) -> Option<TreeRecord> {
        Some(TreeRecord {
            pad: bytes::u32_at(record, 0)?,
            flags: DatabaseFlags(bytes::u16_at(record, 4)?),
            depth: bytes::u16_at(record, 6)?,
            branch_pages: bytes::u64_at(record, 8)?,
            leaf_pages: bytes::u64_at(record, 16)?,
            overflow_pages: bytes::u64_at(record, 24)?,
            entries: bytes::u64_at(record, 32)?,
            root: Pgno(bytes::u64_at(record, 40)?),
        })
    }

    /// The record as it is stored in a file.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self) -> [u8; TREE_RECORD_LEN] {
        let mut out = [0; TREE_RECORD_LEN];
        bytes::put_words(&mut out, &self.to_words());
        out
    }

    /// The record as words of which each is in a file with its lowest byte first.
    #[inline]
    pub(crate) fn to_words(self) -> [u64; TREE_RECORD_LEN / 8] {
        let (flags, depth) = (u64::from(self.flags.0), u64::from(self.depth));
        [
            u64::from(self.pad) | flags << 32 | depth << 48,
            self.branch_pages,
            self.leaf_pages,
            self.overflow_pages,
            self.entries,
            self.root.0,
        ]
    }

    /// Checks the record against the snapshot's last page.
    /// # Errors
    /// [`Malformed::TreeRecord`] unless root and depth say the same of emptiness and the root can
    /// exist; [`Malformed::Depth`] for an impossible depth.
    #[inline]
    pub fn check(&self, last: Pgno) -> Result<(), Malformed> {
        if self.root.is_none() != (self.depth == 0) {
            return Err(Malformed::TreeRecord);
        }
        if self.depth > DEPTH_MAX {
            return Err(Malformed::Depth);
        }
        if !self.root.is_none() && (self.root < Pgno::FIRST_DATA || self.root > last) {
            return Err(Malformed::PageOutOfRange(self.root));
        }
        Ok(())
    }
}
