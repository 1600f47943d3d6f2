//! Reads the databases of OpenLDAP's mdb backend, releases 2.4 to 2.6, directly from their files.
//!
//! ```text
//!   data.mdb, opened read-only, also while its server runs; one snapshot keeps everything consistent
//!   ad2i  number -> attribute description      ("cn;lang-de")
//!   dn2i  id -> its RDN and parent, then one row for each child
//!   id2e  id -> entry: attribute numbers, lengths, values
//!   id2v  id, attribute number -> values of an attribute that has very many
//!       \-----> Dump: one Entry after the other, in order of ids
//! ```
//!
//! This crate knows no schema: it returns names and values as they were written. Unreadable data is
//! an error with the id of its entry. The dump continues after it, so a caller can count the
//! errors. The files hold numbers in the byte order of the machine that wrote them. This crate
//! assumes that it is this machine's byte order.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod entry;
mod error;
mod names;
mod source;
mod words;

pub use entry::Attribute;
pub use error::{EntryFault, OpenError, ReadError};
pub use source::{Dump, Entry, Source};
