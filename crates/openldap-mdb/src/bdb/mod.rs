//! Databases of the backends hdb and bdb, read through `db5.3_dump`.
//!
//! ```text
//!   id2entry.bdb    id (big-endian) -> record; bdb's has the name in it
//!   dn2id.bdb       hdb: id -> its RDN and parent, then one row for each child
//!                   bdb: "=" normal name NUL -> id, and "@", "%" for the lists of searches
//!   alock           a slot for each process that has the database open
//! ```

mod closed;
mod names;
mod record;
mod rows;
mod source;

pub(crate) use source::{BdbDump, BdbSource};
