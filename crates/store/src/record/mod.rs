//! An entry as it lies in the map: written once, read in place.
//!
//! ```text
//!  0 version u8 | flags u8 | attributes u16 | length u32       everything little-endian,
//!  8 parent u64                                                at any alignment
//! 16 rdn normal length u32 | rdn length u32
//! 24 table: attributes x { id u16 | order u16 | values u32 | offset u32 }   ascending by id
//!    normal form of the RDN, RDN as the user wrote it
//!    per attribute, at its offset: value end u32 x values, then the values' bytes, one after another
//! ```
//!
//! `order` in the row n is the number of the row that comes n-th when all attributes are shown: clients get them back as
//! they were stored, and a look-up is a binary search all the same.
//!
//! Where an attribute has many values, the highest bit of their number is set and they lie apart
//! ([`crate::apart`]): the record only says how many they are.
//!
//! Ends count from the attribute's first value byte. The RDN of a suffix entry is the whole suffix.
//! The parent is part of the record, not of a table of its own, because whoever needs the name of an entry
//! or tests its scope is about to read the entry anyway.

mod encode;
mod view;

pub(crate) use encode::{RecordSource, encode, set_apart, set_parent, without_values};
pub(crate) use view::Record;
pub use view::{Values, ValuesIter};

pub(crate) const VERSION: u8 = 3;
pub(crate) const HEADER_LEN: usize = 24;
pub(crate) const TABLE_ROW_LEN: usize = 12;
/// Offset of the order in a row.
pub(crate) const ORDER_AT: usize = 2;
/// Offset of the number of values in a row, which their offset follows.
pub(crate) const COUNT_AT: usize = 4;
/// Set in the number of values when they lie apart.
pub(crate) const APART: u32 = 1 << 31;
/// Offset of the parent's id, for the loader, which learns it late.
pub(crate) const PARENT_AT: usize = 8;

#[cfg(test)]
mod tests;
