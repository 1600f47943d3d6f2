//! Constants of the record layout.

pub(crate) const VERSION: u8 = 5;
/// Bytes before the lengths of the names.
pub(crate) const HEADER_LEN: usize = 8;
/// Flag of a record with wide rows.
pub(crate) const WIDE_ROWS: u8 = 1;
/// Flag of a record some of whose values lie apart.
pub(crate) const HAS_OVERFLOW: u8 = 2;
/// Flag of a record whose numbers have two bytes each.
pub(crate) const WIDE_NUMBERS: u8 = 4;
/// Flag of a record the lengths of whose names have four bytes each.
pub(crate) const LONG_NAMES: u8 = 8;
/// Flag of a record whose RDN is its normal form.
pub(crate) const SAME_NAME: u8 = 16;
/// Bytes of a row with room.
pub(crate) const WIDE_ROW_LEN: usize = 8;
/// Attributes that are looked for one after the other.
pub(crate) const ATTRIBUTES_MAX: usize = 64;
/// Set in the number of values when they lie apart.
pub(crate) const OVERFLOW_BIT: u32 = 1 << 31;
/// Offset of the parent's id, for the loader, which learns it late; and its bytes.
pub(crate) const PARENT_AT: usize = 2;
pub(crate) const PARENT_LEN: usize = 6;
