//! Environments: a data file, its map and its lock file, opened together.

mod databases;
mod environment;
mod error;
mod files;
mod fixed;
mod fresh;
mod map_size;
mod mapping;
mod metas;
mod open;
mod options;
mod registry;
mod shared;
mod threads;

pub use databases::Database;
pub use environment::{Environment, Info, Reader};
pub use error::OpenError;
pub use options::{Durability, OpenOptions, SlotPolicy};

pub(crate) use databases::DatabaseNames;
pub(crate) use mapping::Mapping;
