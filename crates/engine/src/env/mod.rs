//! Environments: a data file, its map and its lock file, opened together.

mod databases;
mod environment;
mod fresh;
mod mapping;
mod metas;
mod open;
mod options;
mod registry;

pub use databases::Database;
pub use environment::{Environment, Info, Reader};
pub use open::OpenError;
pub use options::{Durability, OpenOptions, SlotPolicy};

pub(crate) use databases::DatabaseNames;
pub(crate) use mapping::Mapping;
