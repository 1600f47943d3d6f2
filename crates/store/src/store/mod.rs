//! An open store: its environment, its databases, and what this process knows of its states.
//!
//! ```text
//! handle       Store, shared by all threads
//! options      settings                       databases    the named databases
//! room         commits, and updates without room
//! tables       attributes and indexes         description  layout and suffixes, as stored
//! secret       bytes that the servers of a store share
//! ```
//!
//! Reading is in `view`, changing in `write`, creating and opening in `open`.

mod databases;
mod description;
mod handle;
mod log_readers;
mod options;
mod room;
mod secret;
mod sync_key;
mod tables;

pub(crate) use databases::{Databases, add_bind_state};
#[cfg(test)]
pub(crate) use description::KEY_LAYOUT;
pub(crate) use description::{Description, LAYOUT, LAYOUT_UNCHAINED, LAYOUT_WITHOUT_LOG};
pub(crate) use description::{recover_log, renew_layout, renew_suffixes};
pub use handle::Store;
pub use log_readers::{LogReader, LogReaderFigures};
pub use options::StoreOptions;
pub use room::{CommitCounts, Shortage};
pub(crate) use sync_key::{PREFIX as SYNC_PREFIX, sync_key};
pub(crate) use tables::StateTables;
