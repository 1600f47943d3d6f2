//! An entry as it lies in the map: written once, read in place, and answered with by copying.
//!
//! ```text
//!  0 version u8 | flags u8 | parent u48                       everything little-endian, at any alignment
//!  8 length of the RDN u8 | of its normal form u8             u32 each where they are LONG, once where they are ALIKE
//!    RDN as the user wrote it | its normal form               once where they are ALIKE
//!    attributes u8 | numbers: attributes x u8                 in the order in which they are shown; u16 each if one is LARGE
//!    rows: one for each attribute, in the same order
//!    values, one attribute behind the other
//! ```
//!
//! A row says what lies there of an attribute, and nothing is said twice: an attribute begins where the one before it ends,
//! and its description is that of its number ([`crate::AttributeTable`]).
//!
//! ```text
//! 00..=ef                         one value of so many octets: these alone
//! f0 | length u32                 one value of so many
//! f1 | values u8  | length u8     several values, each as an element: 04 length value
//! f2 | values u32 | length u32    the same
//! f3 | values u32                 none: they lie apart (crate::apart)
//! f4 | place u8                   none: its one value is the first of the attribute at an earlier place
//! f5 | place u8 | values u8       none: the same, of the value that has so many before it
//! ```
//!
//! Elements are what an answer's SET consists of (RFC 4511, section 4.5.2). What is before them there, up to the length of the
//! first value, is the same for all entries but for its lengths, and the table of attributes has it ready: an attribute of an
//! answer is a short copy from there and one from here.
//!
//! Of more than 64 attributes the record is [`WIDE`]: numbers are u16, so is how many they are, values are always elements,
//! rows have one size, and a list of places in ascending order of the numbers is before them, so that a look-up in thousands
//! of attributes is a search:
//!
//! ```text
//!    attributes u16 | numbers: attributes x u16 | ascending: attributes x u16 | rows: attributes x { offset u32 | values u32 }
//! ```
//!
//! There the offset counts from the first value, and the highest bit of the number of values is set where they lie apart.
//!
//! The RDN of a suffix entry is the whole suffix.
//! The parent is part of the record, not of a table of its own, because whoever needs the name of an entry
//! or tests its scope is about to read the entry anyway.

mod answer;
mod encode;
mod row;
mod values;
mod view;

pub use answer::AttributeHead;
pub(crate) use answer::append;
pub(crate) use encode::{RecordSource, encode, encode_over, set_parent, without_values};
pub(crate) use values::take_element;
pub use values::{Values, ValuesIter};
pub(crate) use view::{Record, ids_of};

pub(crate) const VERSION: u8 = 5;
/// Octets before the lengths of the names.
pub(crate) const HEADER_LEN: usize = 8;
/// Flag of a record with wide rows.
pub(crate) const WIDE: u8 = 1;
/// Flag of a record some of whose values lie apart.
pub(crate) const PARTED: u8 = 2;
/// Flag of a record whose numbers have two octets each.
pub(crate) const LARGE: u8 = 4;
/// Flag of a record the lengths of whose names have four octets each.
pub(crate) const LONG: u8 = 8;
/// Flag of a record whose RDN is its normal form.
pub(crate) const ALIKE: u8 = 16;
/// Octets of a row with room.
pub(crate) const WIDE_ROW_LEN: usize = 8;
/// Attributes that are looked for one after the other.
pub(crate) const ATTRIBUTES_MAX: usize = 64;
/// Set in the number of values when they lie apart.
pub(crate) const APART: u32 = 1 << 31;
/// Offset of the parent's id, for the loader, which learns it late; and its octets.
pub(crate) const PARENT_AT: usize = 2;
pub(crate) const PARENT_LEN: usize = 6;

#[cfg(test)]
mod tests;
