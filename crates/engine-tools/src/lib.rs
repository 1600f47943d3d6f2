//! Tools for the administrator of an environment: what `fulgurite check` and `fulgurite env` do.
//!
//! What this crate is not: it has no command line (the `cli` crate has) and no storage logic (the engine has). Each tool
//! takes typed options and a writer for its text.

#![forbid(unsafe_code)]

mod backup;
mod check;
mod compact;
mod copy;
mod error;
mod open;
mod progress;
mod readers;
mod repair;
mod stat;
mod top;

pub use backup::{
    BackupEntry, BackupError, BackupKind, BackupOutcome, Restored, backup, list_backups, restore,
    verify_backups,
};
pub use check::{CheckSettings, Verdict, check};
pub use compact::{CompactOptions, Compacted, compact};
pub use copy::{Copied, copy};
pub use error::ToolError;
pub use fulgurite::check::CheckOptions;
pub(crate) use open::data_file;
pub use open::{open_read_only, options_for};
pub use progress::Progress;
pub use readers::ReaderFacts;
pub use repair::repair;
pub use stat::{AgeGroup, DatabaseFacts, Facts, FreeFacts, stat};
pub use top::{TopOptions, top};
