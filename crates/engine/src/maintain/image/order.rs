//! The order of keys as the flags of a database record it, and positions in it.

use std::cmp::Ordering;

use fulgurite_format::{DatabaseFlags, KEY_LEN_MAX};

use crate::maintain::walk::TreeRole;
use crate::order::packed_integer;

/// An order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordedOrder {
    Lexical,
    Reverse,
    Integer,
    /// Values of one length: those of 8 bytes as integers, others by their first 4 bytes.
    PackedInteger,
    /// The program's own order. Nothing is known of it, except that it distinguishes keys.
    Unknown,
}

impl RecordedOrder {
    pub(crate) fn of_keys(flags: DatabaseFlags) -> Self {
        match flags {
            f if f.has(DatabaseFlags::REVERSE_KEY) => RecordedOrder::Reverse,
            f if f.has(DatabaseFlags::INTEGER_KEY) => RecordedOrder::Integer,
            _ => RecordedOrder::Lexical,
        }
    }

    pub(crate) fn of_duplicates(flags: DatabaseFlags) -> Self {
        match flags {
            f if f.has(DatabaseFlags::INTEGER_DUP | DatabaseFlags::DUP_FIXED) => {
                RecordedOrder::PackedInteger
            }
            f if f.has(DatabaseFlags::INTEGER_DUP) => RecordedOrder::Integer,
            f if f.has(DatabaseFlags::REVERSE_DUP) => RecordedOrder::Reverse,
            _ => RecordedOrder::Lexical,
        }
    }

    #[inline]
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            RecordedOrder::Lexical => a.cmp(b),
            RecordedOrder::Reverse => a.iter().rev().cmp(b.iter().rev()),
            RecordedOrder::Integer => a
                .len()
                .cmp(&b.len())
                .then_with(|| a.iter().rev().cmp(b.iter().rev())),
            RecordedOrder::PackedInteger => packed_integer(a, b),
            RecordedOrder::Unknown => match a == b {
                true => Ordering::Equal,
                false => Ordering::Less,
            },
        }
    }

    /// Returns true if `a` is below `b`, as far as the order is known.
    #[inline]
    pub(crate) fn ascends(self, a: &[u8], b: &[u8]) -> bool {
        self.compare(a, b) == Ordering::Less
    }
}

/// The keys that a position of a tree is for: from `low` on, below `high`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyBounds<'a> {
    pub(crate) low: Option<&'a [u8]>,
    pub(crate) high: Option<&'a [u8]>,
}

/// A position in a tree, and the page that should fit it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagePosition<'a> {
    pub(crate) pgno: u64,
    /// Levels from the root, which is level 1.
    pub(crate) level: u16,
    pub(crate) bounds: KeyBounds<'a>,
}

impl KeyBounds<'_> {
    /// Returns true if a key is inside. In an unknown order every key is.
    pub(crate) fn admit(self, order: RecordedOrder, key: &[u8]) -> bool {
        order == RecordedOrder::Unknown
            || self.low.is_none_or(|low| !order.ascends(key, low))
                && self.high.is_none_or(|high| order.ascends(key, high))
    }
}

/// Returns true if the keys of a tree can have this many bytes.
pub(crate) fn key_len_fits(role: TreeRole, order: RecordedOrder, len: usize) -> bool {
    match (role, order) {
        (TreeRole::FreeList, _) => len == 8,
        // Integer duplicates may have any even size.
        (TreeRole::Duplicates, RecordedOrder::Integer) => len > 0 && len.is_multiple_of(2),
        (_, RecordedOrder::Integer) => len == 4 || len == 8,
        _ => (1..=KEY_LEN_MAX).contains(&len),
    }
}
