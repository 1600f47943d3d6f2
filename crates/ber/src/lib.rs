//! BER tag-length-value reading and writing with limits (X.690, RFC 4511 section 5.1).
//!
//! A [`Reader`] walks borrowed bytes and returns slices of them. It copies and allocates nothing,
//! and checks every length against the bytes that exist. A [`Writer`] appends to a `Vec<u8>` and
//! patches the lengths of constructed values when they end.
//!
//! ```text
//!    30 0c            SEQUENCE, 12 octets      reader.nested(SEQUENCE)  ->  Reader over the 12
//!       02 01 05      INTEGER 5                    .integer()           ->  5
//!       42 00         [APPLICATION 2]              .element()           ->  (0x42, [])
//!       04 05 ...     OCTET STRING                 .octet_string()      ->  &[u8], borrowed
//! ```
//!
//! This is the subset of BER that LDAP permits. It has definite lengths of at most four bytes, tag
//! numbers below 31, and primitive strings. It is not DER on input: a length may be written longer
//! than it needs to be. It knows no LDAP message; those live in `fulgurite-ldap`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod malformed;
mod reader;
mod tag;
mod writer;

pub use malformed::Malformed;
pub use reader::{DEPTH_MAX, Header, Reader};
pub use tag::Tag;
pub use writer::{Mark, Writer, element_len};
