//! The layout of format 0.9: where fields are stored in pages and nodes, and how much room they
//! take.
//!
//! LMDB 0.9.11 to 0.9.36 write this format, with data version 1. A second format would differ in
//! the numbers and functions of this file. All other code asks here instead of repeating them.

use crate::bytes;

/// Longest key, in bytes.
pub const KEY_LEN_MAX: usize = 511;
/// Smallest page size that the format can express, in bytes.
pub const PAGE_SIZE_MIN: usize = 256;
/// Largest page size, in bytes: offsets have 16 bits and must be able to express the page's end.
pub const PAGE_SIZE_MAX: usize = 32768;

/// The version number in meta pages.
pub const DATA_VERSION: u32 = 1;
/// Length of a page header, in bytes; the offset array follows it.
pub const HEADER_LEN: usize = 16;
/// Offset in the page header of the item size of packed pages.
pub const PAD_AT: usize = 8;
/// Offset in the page header of the flags.
pub const FLAGS_AT: usize = 10;
/// Offset in the page header of the end of the offset array.
pub const LOWER_AT: usize = 12;
/// Offset in the page header of the start of the lowest node.
pub const UPPER_AT: usize = 14;
/// Offset in the page header of the length of an overflow run.
pub const RUN_AT: usize = 12;
/// Length of a node header, in bytes; the key follows it.
pub const NODE_HEADER_LEN: usize = 8;
/// Length of a reference to an overflow run in a leaf node, in bytes; it is a page number.
pub const OVERFLOW_REF_LEN: usize = 8;

/// Returns the offset in a page that a stored offset or bound denotes.
///
/// Format 0.9 counts from the start of the page; others may count from the end of its header.
#[must_use]
#[inline]
pub const fn to_page_offset(stored: u16) -> usize {
    stored as usize
}

/// Returns how an offset in a page is stored; the inverse of [`to_page_offset`].
#[must_use]
#[inline]
pub const fn from_page_offset(offset: usize) -> u16 {
    offset as u16
}

/// Returns the offset of the data in a leaf node with a key of `key_len` bytes.
#[must_use]
#[inline]
pub const fn data_at(key_len: usize) -> usize {
    NODE_HEADER_LEN + key_len
}

/// Returns the length of a leaf node, in bytes.
#[must_use]
#[inline]
pub const fn leaf_node_len(key_len: usize, data_len: usize) -> usize {
    even(data_at(key_len) + data_len)
}

/// Returns how many whole pages that many bytes are. The size of a page is a power of two.
#[must_use]
#[inline]
pub const fn whole_pages(bytes: u64, page_size: usize) -> u64 {
    debug_assert!(page_size.is_power_of_two());
    bytes >> (page_size.trailing_zeros() % u64::BITS)
}

/// Returns a length rounded up: nodes begin at even offsets.
#[inline]
const fn even(len: usize) -> usize {
    (len + 1) & !1
}

/// Returns the length of a branch node, in bytes.
#[must_use]
#[inline]
pub const fn branch_node_len(key_len: usize) -> usize {
    even(NODE_HEADER_LEN + key_len)
}

/// Returns the length of the largest node that stays in a leaf; a larger value moves to an overflow
/// run.
#[must_use]
pub const fn node_max(page_size: usize) -> usize {
    (((page_size - HEADER_LEN) / 2) & !1) - 2
}

/// Returns the length of the longest key that a page of this size can hold.
#[must_use]
pub fn key_max(page_size: usize) -> usize {
    KEY_LEN_MAX.min(node_max(page_size).saturating_sub(NODE_HEADER_LEN + crate::TREE_RECORD_LEN))
}

/// Returns the child's page number in the header of a branch node: its lowest six bytes.
#[must_use]
#[inline]
pub const fn branch_child(header: [u8; 8]) -> u64 {
    u64::from_le_bytes(header) & 0xffff_ffff_ffff
}

/// Returns the page number in a page header; it is the first word in all versions.
#[inline(always)]
pub(crate) fn header_pgno(page: &[u8]) -> Option<u64> {
    bytes::u64_at(page, 0)
}
