//! Reads the databases of OpenLDAP's mdb backend, releases 2.4 to 2.6, as they lie in their files.
//!
//! ```text
//!   data.mdb, opened read-only, also while its server runs; one snapshot holds everything still
//!   ad2i  number -> attribute description      ("cn;lang-de")
//!   dn2i  id -> its RDN and parent, then one row for each child
//!   id2e  id -> entry: attribute numbers, lengths, values
//!   id2v  id, attribute number -> values of an attribute that has very many
//!       \-----> Dump: one Entry after the other, in order of ids
//! ```
//!
//! Nothing here knows a schema: names and values are handed on as they were written. What cannot be read is an error
//! with the id of its entry, and the dump goes on behind it, so that a caller can count what it did not get.
//! The files hold numbers in the order of octets of the machine that wrote them; here it is taken to be this one's.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod entry;
mod error;
mod names;
mod source;
mod words;

pub use entry::Attribute;
pub use error::{OpenError, ReadError, Wrong};
pub use source::{Dump, Entry, Source};
