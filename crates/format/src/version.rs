//! What differs between versions of the format, and only that.

use crate::bytes;

/// Longest key in octets.
pub const KEY_LEN_MAX: usize = 511;
/// Smallest page size the format can express.
pub const PAGE_SIZE_MIN: usize = 256;
/// Largest page size of format 0.9: offsets are 16 bits and the end must be expressible.
pub const PAGE_SIZE_MAX: usize = 32768;

/// A version of the data file format.
///
/// Pages, nodes and meta pages are read and written through these numbers and functions; trees, transactions and
/// cursors are written once, over any version.
pub trait Format: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// The version number in meta pages.
    const DATA_VERSION: u32;
    /// Octets before a page's offset array.
    const HEADER_LEN: usize;
    /// Where in the page header the item size of packed pages stands.
    const PAD_AT: usize;
    /// Where in the page header the flags stand.
    const FLAGS_AT: usize;
    /// Where in the page header the end of the offset array stands.
    const LOWER_AT: usize;
    /// Where in the page header the start of the lowest node stands.
    const UPPER_AT: usize;
    /// Where in the page header the length of an overflow run stands.
    const RUN_AT: usize;
    /// Octets before a node's key.
    const NODE_HEADER_LEN: usize = 8;
    /// Octets in a leaf node that refer to an overflow run; the page number comes first.
    const OVERFLOW_REF_LEN: usize;

    /// Offset in a page that a stored offset or bound denotes; versions differ in what they count from.
    #[must_use]
    #[inline]
    fn to_page_offset(stored: u16) -> usize {
        usize::from(stored)
    }

    /// How an offset in a page is stored; the inverse of [`Format::to_page_offset`].
    #[must_use]
    #[inline]
    fn from_page_offset(offset: usize) -> u16 {
        offset as u16
    }

    /// Where in a leaf node with a key of this length the data begin.
    #[must_use]
    #[inline]
    fn data_at(key_len: usize) -> usize {
        Self::NODE_HEADER_LEN + key_len
    }

    /// Octets a leaf node takes.
    #[must_use]
    #[inline]
    fn leaf_node_len(key_len: usize, data_len: usize) -> usize {
        (Self::data_at(key_len) + data_len).next_multiple_of(2)
    }

    /// Octets a branch node takes.
    #[must_use]
    #[inline]
    fn branch_node_len(key_len: usize) -> usize {
        (Self::NODE_HEADER_LEN + key_len).next_multiple_of(2)
    }

    /// Largest node that stays in a leaf; a larger value moves to an overflow run.
    #[must_use]
    fn node_max(page_size: usize) -> usize {
        (((page_size - Self::HEADER_LEN) / 2) & !1) - 2
    }

    /// Longest key a page of this size can take.
    #[must_use]
    fn key_max(page_size: usize) -> usize {
        KEY_LEN_MAX.min(
            Self::node_max(page_size)
                .saturating_sub(Self::NODE_HEADER_LEN + crate::TREE_RECORD_LEN),
        )
    }

    /// The child number in the header of a branch node.
    #[must_use]
    #[inline]
    fn branch_child(header: [u8; 8]) -> u64 {
        u64::from_le_bytes([
            header[0], header[1], header[2], header[3], header[4], header[5], 0, 0,
        ])
    }
}

/// Format 0.9: LMDB 0.9.11 to 0.9.36, data version 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct V09;

impl Format for V09 {
    const DATA_VERSION: u32 = 1;
    const HEADER_LEN: usize = 16;
    const PAD_AT: usize = 8;
    const FLAGS_AT: usize = 10;
    const LOWER_AT: usize = 12;
    const UPPER_AT: usize = 14;
    const RUN_AT: usize = 12;
    const OVERFLOW_REF_LEN: usize = 8;
}

/// The page number in a page header; in all versions the first word.
#[inline(always)]
pub(crate) fn header_pgno(page: &[u8]) -> Option<u64> {
    bytes::u64_at(page, 0)
}
