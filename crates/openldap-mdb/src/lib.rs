//! Reads the databases of OpenLDAP. Those of the mdb backend, releases 2.4 to 2.6, are read
//! directly, those of hdb and bdb through `db5.3_dump`.
//!
//! ```text
//!   data.mdb, opened read-only, also while its server runs; one snapshot keeps everything consistent
//!   ad2i  number -> attribute description      ("cn;lang-de")
//!   dn2i  id -> its RDN and parent, then one row for each child
//!   id2e  id -> entry: attribute numbers, lengths, values
//!   id2v  id, attribute number -> values of an attribute that has very many
//!       \-----> Dump: one Entry after the other, in order of ids
//!
//!   id2entry.bdb, dn2id.bdb of a server that has ended     db5.3_dump --rows--> Dump
//! ```
//!
//! This crate knows no schema: it returns names and values as they were written. Unreadable data is
//! an error with the id of its entry. The dump continues after it, so a caller can count the
//! errors. The files hold numbers in the byte order of the machine that wrote them. This crate
//! assumes that it is this machine's byte order.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod bdb;
mod entry;
mod error;
mod mdb;
mod names;
mod source;
mod words;

pub use entry::{Attribute, Entry};
pub use error::{EntryFault, OpenError, ReadError};
pub use source::{Dump, Source};
