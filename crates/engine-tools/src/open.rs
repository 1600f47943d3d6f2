//! Opening the environment at a path.

use std::fs::File;
use std::io;
use std::path::Path;

use fulgurite::{Environment, OpenOptions};

use crate::ToolError;

/// Returns options for opening `path`: a directory, or a data file with its lock file next to it.
#[must_use]
pub fn options_for(path: &Path) -> OpenOptions {
    Environment::options().no_subdir(path.is_file())
}

/// Opens the environment at `path` without changing its data. Its readers take slots of the lock
/// file, so writers keep the pages they read.
/// # Errors
/// [`ToolError::Open`].
pub fn open_read_only(path: &Path) -> Result<Environment, ToolError> {
    options_for(path)
        .read_only(true)
        .open(path)
        .map_err(|source| ToolError::Open {
            path: path.to_owned(),
            source,
        })
}

/// Opens the data file, for questions to the system.
pub(crate) fn data_file(environment: &Environment) -> io::Result<File> {
    environment.fd().try_clone_to_owned().map(File::from)
}
