//! Tools for the administrator of an environment: `fulgurite check`, `fulgurite env` and `fulgurite
//! dbload`.
//!
//! This crate has no command line (the `cli` crate has) and no storage logic (the engine has). Each
//! tool takes typed options and a writer for its text.

#![forbid(unsafe_code)]

mod backup;
mod check;
mod compact;
mod copy;
mod dumps;
mod error;
mod open;
mod progress;
mod readers;
mod repair;
mod stat;
mod top;

pub use backup::{
    BackupEntry, BackupError, BackupKind, BackupOutcome, RestoreReport, backup, list_backups,
    restore, verify_backups,
};
pub use check::{CheckSettings, ContentReport, Verdict, check_pages, write_check};
pub use compact::{CompactOptions, CompactOutcome, compact};
pub use copy::{CopyReport, copy};
pub use dumps::{
    DumpError, DumpFormat, DumpLoad, DumpWrite, LoadedDatabase, load_dump, write_dump,
};
pub use error::ToolError;
pub use fulgurite::check::{Access, CheckOptions, CheckedEnvironment};
pub(crate) use open::data_file;
pub use open::{open_read_only, options_for};
pub use progress::Progress;
pub use readers::ReaderFacts;
pub use repair::repair;
pub use stat::{AgeGroup, DatabaseFacts, EnvironmentFacts, FreeFacts, stat};
pub use top::{TopOptions, top};
