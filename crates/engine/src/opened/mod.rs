//! Environments: a data file, its map and its lock file, opened together, once per process.
//!
//! ```text
//!   open ---> registry     the environments that this process has open
//!     |  ---> files        paths; the two first pages
//!     |  ---> fixed        maps at the address that a file stores
//!     v
//!   Handle --------------> Shared ------> Mapping -> Mapping ...   the newest is used; readers keep others
//!   names, durability,     map_size       LockFile                 (reader/)
//!   slots                  threads        reader slots bound to threads
//!                          checkpoints    the way back after a power loss, without flushed commits
//! ```

#[cfg(feature = "std")]
mod checkpoint_file;
#[cfg(feature = "std")]
mod checkpoints;
mod counted;
mod databases;
mod disk_room;
mod durable;
mod error;
mod failed_search;
mod files;
mod fixed;
mod flush_times;
mod fresh;
mod handle;
#[cfg(feature = "std")]
mod make_checkpoint;
mod map_size;
mod mapping;
mod metas;
mod name_map;
mod open;
mod options;
mod registry;
mod resize;
mod shared;
mod store_window;
mod threads;

pub use databases::{Database, Multimap};
pub(crate) use disk_room::RESERVE_PAGES;
pub(crate) use durable::MetaReplacement;
#[cfg(feature = "std")]
pub use error::CheckpointProblem;
pub use error::OpenError;
pub use flush_times::FlushTimes;
pub use name_map::NameMap;
pub use options::{Durability, OpenOptions, SlotPolicy};

pub(crate) use databases::DatabaseNames;
pub(crate) use files::directory_of;
pub(crate) use handle::Handle;
pub(crate) use mapping::{Mapping, Window};
pub(crate) use open::open;
pub(crate) use store_window::PageStore;
