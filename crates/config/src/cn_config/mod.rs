//! The configuration as entries below `cn=config`: made from settings, written as a directory, read from one.
//!
//! ```text
//!   Settings --entries--> cn=config, cn=schema,cn=config, olcDatabase={1}mdb,cn=config ...
//!                            |                                          (what the server shows)
//!                            '--write--> DIR/cn=config.ldif, DIR/cn=config/olcDatabase={1}mdb.ldif ...
//!   Layer  <--read--------------------- the same, as slapd and its slaptest write it <--add-- LDIF
//! ```
//!
//! Attributes go through the table of slapd.conf's directives, so both say the same by the same words.

mod add;
mod entries;
mod entry;
mod number;
mod read;
mod values;
mod write;

pub use add::{ConfigAddError, ConfigAddition};
pub use entry::ConfigEntry;
pub use write::WriteError;
