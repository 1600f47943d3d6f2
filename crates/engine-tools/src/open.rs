//! Opening the environment that a path stands for.

use std::fs::File;
use std::io;
use std::path::Path;

use fulgurite::{Environment, OpenOptions};

use crate::ToolError;

/// Options for opening what is at `path`: the directory of an environment, or a data file whose lock file lies beside it.
#[must_use]
pub fn options_for(path: &Path) -> OpenOptions {
    Environment::options().no_subdir(path.is_file())
}

/// Opens what is at `path` without changing its data. Readers take slots of its lock file, so that writers leave alone
/// what they see.
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

/// The open data file, to ask the system about it.
pub(crate) fn data_file(environment: &Environment) -> io::Result<File> {
    environment.fd().try_clone_to_owned().map(File::from)
}
