//! The configuration as entries below `cn=config`: made from settings, written to a directory, read
//! from one.
//!
//! ```text
//!   Settings --entries--> cn=config, cn=schema,cn=config, olcDatabase={1}mdb,cn=config ...
//!                            |                                          (what the server shows)
//!                            '--write--> DIR/cn=config.ldif, DIR/cn=config/olcDatabase={1}mdb.ldif ...
//!   Layer  <--read--------------------- the same, as slapd and its slaptest write it <--add-- LDIF
//!             generations: earlier states of DIR; copy: DIR for other stores
//!             files: the texts of DIR <--replace--> DIR; changes: entries added, renumbered, removed
//! ```
//!
//! Attributes use the directives of the settings table, as slapd.conf does.

mod add;
mod chained_server;
mod changes;
mod copy;
mod entries;
mod entry;
mod file_entry;
mod file_text;
mod files;
mod generations;
mod number;
mod overlay;
mod read;
mod replace;
mod shadow;
mod values;
mod write;

pub use add::{ConfigAddError, ConfigAddition};
pub use changes::{ConfigChange, ConfigChangeError};
pub use entry::ConfigEntry;
pub use files::ConfigFiles;
pub use generations::Generation;
pub use write::WriteError;
