//! An entry as it lies in the map: written once, read in place, and answered with by copying.
//!
//! ```text
//!  0 version u8 | flags u8 | attributes u16 | length u32       everything little-endian,
//!  8 parent u64                                                at any alignment
//! 16 rdn normal length u32 | rdn length u32
//! 24 numbers: attributes x u16                                 in the order in which they are shown
//!    rows: attributes x { offset u16 | head u8 | values u8 }   in the same order
//!    normal form of the RDN, RDN as the user wrote it
//!    attributes, one behind the other, as they stand in an answer:
//!      30 length { 04 length description  31 length { 04 length value }* }
//!      ^ offset                                     ^ offset + head
//! ```
//!
//! An attribute is the PartialAttribute of a search result entry (RFC 4511, section 4.5.2), so attributes that are
//! neighbours and all shown are one copy, and an entry mostly is. Values are found by the rows and read from element to
//! element. The description is spelled as the table of attributes has it ([`crate::AttributeTable`]). Operational
//! attributes, which few ask for, are *bare*: only the values' elements lie there, and nothing is before them.
//!
//! Where the small rows do not do ([`WIDE`]: beyond 64 KiB, 64 attributes, 255 values), they have room, and a list of
//! places in ascending order of the numbers is before them, so that a look-up in thousands of attributes is a search:
//!
//! ```text
//! 24 numbers: attributes x u16 | ascending: attributes x u16
//!    rows: attributes x { offset u32 | head u32 | values u32 }
//! ```
//!
//! Where an attribute has many values, the highest bit of their number is set, they lie apart ([`crate::apart`]) and the
//! attribute takes no octets here: the record only says how many they are.
//!
//! The RDN of a suffix entry is the whole suffix.
//! The parent is part of the record, not of a table of its own, because whoever needs the name of an entry
//! or tests its scope is about to read the entry anyway.

mod encode;
mod values;
mod view;

pub(crate) use encode::{RecordSource, encode, encode_over, set_parent, without_values};
pub(crate) use values::take_element;
pub use values::{Values, ValuesIter};
pub(crate) use view::Record;

pub(crate) const VERSION: u8 = 4;
pub(crate) const HEADER_LEN: usize = 24;
/// Flag of a record with wide rows.
pub(crate) const WIDE: u8 = 1;
/// Flag of a record some of whose values lie apart; it is wide.
pub(crate) const PARTED: u8 = 2;
/// Octets of a row, and of one with room.
pub(crate) const ROW_LEN: usize = 4;
pub(crate) const WIDE_ROW_LEN: usize = 12;
/// Attributes that are looked for one after the other.
pub(crate) const ATTRIBUTES_MAX: usize = 64;
/// Set in the number of values when they lie apart.
pub(crate) const APART: u32 = 1 << 31;
/// Offset of the parent's id, for the loader, which learns it late.
pub(crate) const PARENT_AT: usize = 8;

#[cfg(test)]
mod tests;
