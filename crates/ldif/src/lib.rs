//! LDIF records, streamed both ways (RFC 2849).
//!
//! ```text
//!   dn: uid=ada,ou=people,dc=example,dc=com      a record begins with its name
//!   cn:: QWRhIE7DuHJnw6VyZA==                    two colons: base64
//!   description: a long value is                 one leading space:
//!     folded                                       the line before goes on
//!                                                an empty line ends it
//!   BufRead ──> Reader ──> Record<'_> borrowed from the reader's one buffer
//!   Writer  ──> Write
//! ```
//!
//! The reader copies each line once into a buffer that every record reuses. It decodes base64 in
//! place, and lends the record until the next call. It allocates nothing per line or record. Every
//! record, value and error knows its line. Memory is bounded by the largest record allowed
//! ([`ReaderOptions::record_bytes_max`]).
//!
//! Not here: schema, DN syntax, grouping of values by attribute. Names and values are handed on as
//! written.

#![forbid(unsafe_code)]

mod error;
mod line;
mod options;
mod parse;
mod parts;
mod reader;
mod record;
mod url;
mod writer;

pub use error::{LdifError, LdifErrorKind};
pub use options::ReaderOptions;
pub use parts::{Part, Parts};
pub use reader::Reader;
pub use record::{
    Action, Attribute, Attributes, Control, Controls, Modification, ModificationKind,
    Modifications, Record,
};
pub use writer::{Writer, WriterOptions};
