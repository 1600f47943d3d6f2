//! Copying an environment while others use it.

use std::path::{Path, PathBuf};

use crate::backup::BackupError;
use crate::{Progress, open_read_only};

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The data file of the copy.
    pub path: PathBuf,
    /// Its length in octets.
    pub octets: u64,
}

/// Copies the environment at `path` to `to`: into that directory, which is made if it is missing, or to that file if the
/// environment is a file that lies alone. `compact` leaves free pages out and puts the others in order. The copy is durable
/// on return; a file that was begun and not finished is removed.
/// # Errors
/// [`BackupError::Exists`] if there is a data file already, and others.
pub fn copy(
    path: &Path,
    to: &Path,
    compact: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Copied, BackupError> {
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
    let mut octets = 0;
    let copied = environment.copy_to_file(&to, compact, &mut |done| {
        octets = done;
        progress(Progress { done, total });
        Ok(())
    });
    copied.map_err(BackupError::from)?;
    let octets = to.metadata().map_or(octets, |metadata| metadata.len());
    Ok(Copied { path: to, octets })
}
