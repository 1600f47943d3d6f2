//! Backups of a running server: whole copies of all databases, each in a folder named by its time.
//!
//! ```text
//!   schedule   when? every so often, and soon again after a failure
//!      '--> write     the copies, in a folder that gets its name once it is whole
//!             '--> folder     the folders of a directory: list, oldest away, lock, last failure
//!                    '--> manifest   the databases of a backup, with counts and digests
//! ```
//!
//! ```text
//!   DIR/20261127020000Z/manifest.json
//!                       1-dc=example,dc=com/data.mdb      a store as any other
//!   DIR/.20261127030000Z.partial/                         being written, or left by a crash
//!   DIR/last-failure                                      the reason, until a backup succeeds
//! ```

mod folder;
mod manifest;
pub(crate) mod schedule;
mod write;

pub use folder::{Backup, BackupError, last_failure, list_backups, remove_old_backups};
pub use manifest::{BackupManifest, SavedDatabase, digest_of};
pub use write::{BackupSource, write_backup};

#[cfg(test)]
mod tests;
