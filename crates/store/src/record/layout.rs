//! Constants of the record layout.

pub(crate) const VERSION: u8 = 5;
/// Bytes before the lengths of the names.
pub(crate) const HEADER_LEN: usize = 8;
/// Flag of a record with wide rows.
pub(crate) const WIDE_ROWS: u8 = 1;
/// Flag of a record with overflow values.
pub(crate) const HAS_OVERFLOW: u8 = 2;
/// Flag of a record whose attribute numbers have two bytes each.
pub(crate) const WIDE_NUMBERS: u8 = 4;
/// Flag of a record whose name lengths have four bytes each.
pub(crate) const LONG_NAMES: u8 = 8;
/// Flag of a record whose RDN equals its normal form.
pub(crate) const SAME_NAME: u8 = 16;
/// Bytes of a wide row.
pub(crate) const WIDE_ROW_LEN: usize = 8;
/// Number of attributes up to which a look-up is a linear search.
pub(crate) const ATTRIBUTES_MAX: usize = 64;
/// Bit of the number of values that marks overflow values.
pub(crate) const OVERFLOW_BIT: u32 = 1 << 31;
/// Offset of the parent's id, which the loader writes late, and its length in bytes.
pub(crate) const PARENT_AT: usize = 2;
pub(crate) const PARENT_LEN: usize = 6;
