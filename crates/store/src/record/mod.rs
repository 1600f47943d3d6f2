//! An entry as stored in the map: written once, read in place, and copied into responses.
//!
//! ```text
//!  0 version u8 | flags u8 | parent u48                    everything little-endian, at any alignment
//!  8 length of the RDN u8 | of its normal form u8          u32 each if LONG_NAMES, one if SAME_NAME
//!    RDN as the user wrote it | its normal form            one if SAME_NAME
//!    attributes u8 | numbers: attributes x u8              in the order of responses; u16 if WIDE_NUMBERS
//!    rows: one for each attribute, in the same order
//!    values, one attribute behind the other
//! ```
//!
//! A row describes the values of an attribute, and the record stores nothing twice. An attribute
//! begins where the previous one ends. Its number leads to its description
//! ([`crate::AttributeTable`]).
//!
//! ```text
//! 00..=ef                         one value of this number of bytes, without a header
//! f0 | length u32                 one value of this length
//! f1 | values u8  | length u8     several values, each as an element: 04 length value
//! f2 | values u32 | length u32    the same
//! f3 | values u32                 overflow values (crate::overflow_values)
//! f4 | position u8                the first value of the attribute at an earlier position
//! f5 | position u8 | values u8    the same, of the value with this number of values before it
//! ```
//!
//! A response contains the same elements in its SET (RFC 4511, section 4.5.2). The bytes before
//! them in a response differ between entries in their lengths only. They are prepared
//! ([`EncodedHeader`]), so an attribute of a response is a short copy from there and one from here.
//!
//! A record of more than 64 attributes has wide rows ([`layout::WIDE_ROWS`]). Counts and numbers
//! are u16, values are always elements, and rows have one size. A list of positions, ascending by
//! number, precedes the rows, so that a look-up is a binary search.
//!
//! ```text
//! attributes u16 | numbers: attributes x u16 | ascending: attributes x u16 | rows: attributes x { offset u32 | values u32 }
//! ```
//!
//! The offset counts from the first value. The highest bit of the number of values marks overflow
//! values.
//!
//! The RDN of a suffix entry is the whole suffix. The parent is part of the record, not of a
//! separate table. An operation that needs the name of an entry or tests its scope reads the entry
//! anyway.

mod encode;
mod in_order;
mod layout;
mod overflow;
mod reader;
mod response;
mod row;
mod values;

pub(crate) use encode::{RecordSource, encode, encode_over, set_parent, without_values};
pub(crate) use layout::OVERFLOW_BIT;
pub(crate) use overflow::{OverflowLocation, OverflowSource};
pub(crate) use reader::{Record, ids_of};
pub use response::EncodedHeader;
pub(crate) use response::append;
pub(crate) use values::take_element;
pub use values::{Values, ValuesIter, ValuesPosition};

#[cfg(test)]
mod tests;
