//! The engine's environment of a store.

use std::path::Path;

use crate::error::OpenError;
use crate::store::StoreOptions;
use fulgurite::Environment;

/// Opens the environment in a directory.
pub(super) fn open_environment(
    path: &Path,
    options: &StoreOptions,
) -> Result<Environment, OpenError> {
    let mut open = Environment::options().read_only(options.read_only);
    if let Some(durability) = options.durability {
        open = open.durability(durability);
    }
    if let Some(readers) = options.readers_max {
        open = open.readers_max(readers);
    }
    if let Some(bytes) = options.map_bytes_max {
        open = open.map_bytes_max(bytes);
    }
    if let Some(mode) = options.file_mode {
        open = open.file_mode(mode);
    }
    open.open(path).map_err(|source| OpenError::Environment {
        path: path.into(),
        source,
    })
}
