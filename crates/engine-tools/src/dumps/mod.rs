//! Databases of Berkeley DB and GDBM, as their own tools write them as text.
//!
//! ```text
//!   db5.3_dump --> berkeley --+
//!                             +--> load --> environment --> write --> db5.3_load, gdbm_load
//!   gdbm_dump ---> gdbm ------+
//!                    |
//!                  lines   error      numbered lines, and what is wrong with one
//! ```
//!
//! A dump is loaded in one transaction. If a record is refused, nothing changes.

mod berkeley;
mod error;
mod gdbm;
mod lines;
mod load;
mod write;

pub use error::DumpError;
pub use load::{DumpLoad, LoadedDatabase, load_dump};
pub use write::{DumpFormat, DumpWrite, write_dump};

/// The facts of a dumped database.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    name: Option<Vec<u8>>,
    keys: KeyKind,
    has_duplicates: bool,
}

/// A key and its value.
type KeyAndValue = (Vec<u8>, Vec<u8>);

/// The kind of a dumped database's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Bytes,
    /// Numbers of records, of 32 bits as Berkeley DB has them.
    Numbers,
}
