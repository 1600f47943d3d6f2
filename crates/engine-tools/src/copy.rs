//! Copying an environment while other processes use it.

use std::path::{Path, PathBuf};

use crate::backup::BackupError;
use crate::{Progress, open_read_only};

/// The outcome of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    /// The data file of the copy.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Copies the environment at `path` to `to`, a directory, which it makes if it is missing.
///
/// If the environment is a file without directory, `to` is a file too. `compact` leaves out free
/// pages and sorts the others. The copy is durable on return. An incomplete file is removed.
/// # Errors
/// [`BackupError::Exists`] if there is a data file already, and others.
pub fn copy(
    path: &Path,
    to: &Path,
    compact: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<CopyReport, BackupError> {
    let environment = open_read_only(path)?;
    let info = environment.info().map_err(BackupError::from)?;
    let to = if path.is_file() {
        to.to_owned()
    } else {
        std::fs::create_dir_all(to).map_err(BackupError::io("making", to))?;
        to.join("data.mdb")
    };
    if to.exists() {
        return Err(BackupError::Exists(to));
    }
    let total = (info.last_page + 1) * info.page_size as u64;
    let mut bytes = 0;
    let copied = environment.copy_to_file(&to, compact, &mut |done| {
        bytes = done;
        progress(Progress { done, total });
        Ok(())
    });
    copied.map_err(BackupError::from)?;
    let bytes = to.metadata().map_or(bytes, |metadata| metadata.len());
    Ok(CopyReport { path: to, bytes })
}
