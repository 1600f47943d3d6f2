//! An entry as it lies in the map: written once, read in place, and answered with by copying.
//!
//! ```text
//!  0 version u8 | flags u8 | parent u48                       everything little-endian, at any alignment
//!  8 length of the RDN u8 | of its normal form u8             u32 each where they are LONG, once where they are SAME_NAME
//!    RDN as the user wrote it | its normal form               once where they are SAME_NAME
//!    attributes u8 | numbers: attributes x u8                 in the order in which they are shown; u16 each if one is WIDE_NUMBERS
//!    rows: one for each attribute, in the same order
//!    values, one attribute behind the other
//! ```
//!
//! A row says what lies there of an attribute, and nothing is said twice: an attribute begins where the one before it ends,
//! and its description is that of its number ([`crate::AttributeTable`]).
//!
//! ```text
//! 00..=ef                         one value of so many bytes: these alone
//! f0 | length u32                 one value of so many
//! f1 | values u8  | length u8     several values, each as an element: 04 length value
//! f2 | values u32 | length u32    the same
//! f3 | values u32                 none: they lie apart (crate::overflow_values)
//! f4 | place u8                   none: its one value is the first of the attribute at an earlier place
//! f5 | place u8 | values u8       none: the same, of the value that has so many before it
//! ```
//!
//! Elements are what an answer's SET consists of (RFC 4511, section 4.5.2). What is before them there, up to the length of the
//! first value, is the same for all entries but for its lengths, and the table of attributes has it ready: an attribute of an
//! answer is a short copy from there and one from here.
//!
//! Of more than 64 attributes the record is [`WIDE_ROWS`]: numbers are u16, so is how many they are, values are always elements,
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

mod encode;
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
pub use values::{Values, ValuesIter};

#[cfg(test)]
mod tests;
