//! The configuration as entries below `cn=config`: made from settings, written to a directory, read
//! from one.
//!
//! ```text
//!   Settings --entries--> cn=config, cn=schema,cn=config, olcDatabase={1}mdb,cn=config ...
//!                            |                                          (what the server shows)
//!                            '--write--> DIR/cn=config.ldif, DIR/cn=config/olcDatabase={1}mdb.ldif ...
//!   Layer  <--read--------------------- the same, as slapd and its slaptest write it <--add-- LDIF
//! ```
//!
//! Attributes use the directives of the settings table, as slapd.conf does.

mod add;
mod entries;
mod entry;
mod number;
mod overlay;
mod read;
mod values;
mod write;

pub use add::{ConfigAddError, ConfigAddition};
pub use entry::ConfigEntry;
pub use write::WriteError;
