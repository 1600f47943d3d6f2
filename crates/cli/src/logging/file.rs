//! A log file that supports rotation: on request it is opened again under its name.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

/// The file of this process.
static LOG: OnceLock<LogFile> = OnceLock::new();

#[derive(Clone, Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

/// Opens the log file for appending.
pub(super) fn open(path: PathBuf) -> io::Result<LogFile> {
    let file = append(&path)?;
    let log = LogFile {
        path,
        file: Arc::new(Mutex::new(file)),
    };
    let _ = LOG.set(log.clone());
    Ok(log)
}

/// Opens the log file again if there is one, because it may have been moved. After a failure the
/// old file stays in use.
pub(crate) fn reopen() {
    let Some(log) = LOG.get() else {
        return;
    };
    match append(&log.path) {
        Ok(file) => *log.held() = file,
        Err(error) => tracing::error!("cannot open {} again: {error}", log.path.display()),
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

impl LogFile {
    fn held(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'w> MakeWriter<'w> for LogFile {
    type Writer = LogLine<'w>;

    fn make_writer(&'w self) -> LogLine<'w> {
        LogLine(self.held())
    }
}

/// One line to be written to the file.
pub(super) struct LogLine<'w>(MutexGuard<'w, File>);

impl io::Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
