//! The file of the log. It supports rotation: on request it is opened again under its name.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

/// The file of this process, if it has one.
static LOG: Mutex<Option<OpenLog>> = Mutex::new(None);

struct OpenLog {
    path: PathBuf,
    file: File,
}

/// Opens a log file for appending in place of the present one; `None` closes that. After a failure
/// the old file stays in use.
pub(super) fn open(path: Option<PathBuf>) -> io::Result<()> {
    let mut log = held();
    let is_open = |path: &Path| log.as_ref().is_some_and(|log| log.path == path);
    *log = match path {
        Some(path) if is_open(&path) => return Ok(()),
        Some(path) => Some(OpenLog {
            file: append(&path)?,
            path,
        }),
        None => None,
    };
    Ok(())
}

/// Opens the log file again if there is one, because it may have been moved. After a failure the
/// old file stays in use.
pub(crate) fn reopen() {
    let failed = {
        let mut log = held();
        let Some(log) = log.as_mut() else {
            return;
        };
        match append(&log.path) {
            Ok(file) => {
                log.file = file;
                return;
            }
            Err(error) => (log.path.clone(), error),
        }
    };
    // The event goes to the file, so its lock is free by now.
    let (path, error) = failed;
    tracing::error!("cannot open {} again: {error}", path.display());
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

fn held() -> MutexGuard<'static, Option<OpenLog>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes lines to the file of this process.
pub(super) struct LogFile;

impl<'w> MakeWriter<'w> for LogFile {
    type Writer = LogLine;

    fn make_writer(&'w self) -> LogLine {
        LogLine(held())
    }
}

/// One line to be written to the file. Without a file, it goes nowhere.
pub(super) struct LogLine(MutexGuard<'static, Option<OpenLog>>);

impl io::Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.as_mut() {
            Some(log) => log.file.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.as_mut() {
            Some(log) => log.file.flush(),
            None => Ok(()),
        }
    }
}
