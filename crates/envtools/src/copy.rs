//! Copying an environment while others use it.

use std::fs::File;
use std::io::{self, Write};
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
    let file = File::options().write(true).create_new(true).open(&to);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists(to.clone()),
        _ => BackupError::io("making", &to)(error),
    })?;
    let mut counted = Counted {
        file,
        done: Progress {
            done: 0,
            total: (info.last_page + 1) * info.page_size as u64,
        },
        progress,
    };
    let copied = environment
        .copy_to(&mut counted, compact)
        .map_err(BackupError::from)
        .and_then(|()| {
            let synced = counted.file.sync_all();
            synced.map_err(BackupError::io("making durable", &to))
        });
    if let Err(error) = copied {
        // What matters is why copying failed; if the file cannot be removed it stays, incomplete.
        let _ = std::fs::remove_file(&to);
        return Err(error);
    }
    Ok(Copied {
        path: to,
        octets: counted.done.done,
    })
}

/// Counts what is written to a file.
struct Counted<'p> {
    file: File,
    done: Progress,
    progress: &'p mut dyn FnMut(Progress),
}

impl Write for Counted<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        let len = self.file.write(octets)?;
        self.done.done += len as u64;
        (self.progress)(self.done);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
