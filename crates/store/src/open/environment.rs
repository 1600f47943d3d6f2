//! The engine's environment of a store.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::OpenError;
use crate::store::StoreOptions;
use fulgurite::Environment;

/// The mode of new files, unless the options say otherwise. They hold passwords.
const FILE_MODE: u32 = 0o600;

/// The files of an environment.
const FILES: [&str; 3] = ["data.mdb", "lock.mdb", "checkpoint.mdb"];

/// Opens the environment in a directory.
pub(super) fn open_environment(
    path: &Path,
    options: &StoreOptions,
) -> Result<Environment, OpenError> {
    let environment = options.environment.clone();
    let mut open = environment
        .unwrap_or_else(Environment::options)
        .read_only(options.read_only)
        .no_lock(options.no_lock)
        .checkpoints(options.checkpoints);
    if let Some(durability) = options.durability {
        open = open.durability(durability);
    }
    if let Some(readers) = options.readers_max {
        open = open.readers_max(readers);
    }
    if let Some(bytes) = options.map_bytes_max {
        open = open.map_bytes_max(bytes);
    }
    open = open.file_mode(options.file_mode.unwrap_or(FILE_MODE));
    let missing = FILES.map(|name| path.join(name));
    let missing = missing.map(|file| Some(file).filter(|file| !file.exists()));
    let environment = open.open(path).map_err(|source| OpenError::Environment {
        path: path.into(),
        source,
    })?;
    // The mask of the process must not narrow a mode that was asked for.
    if let Some(mode) = options.file_mode {
        for file in missing.iter().flatten().filter(|file| file.exists()) {
            let set = std::fs::set_permissions(file, Permissions::from_mode(mode));
            set.map_err(|source| OpenError::Io {
                path: file.clone(),
                source,
            })?;
        }
    }
    Ok(environment)
}
