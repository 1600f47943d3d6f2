//! A log file that can be moved away: on request it is opened anew under its name.

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

/// Opens the log file; what is in it stays.
pub(super) fn open(path: PathBuf) -> io::Result<LogFile> {
    let file = append(&path)?;
    let log = LogFile {
        path,
        file: Arc::new(Mutex::new(file)),
    };
    let _ = LOG.set(log.clone());
    Ok(log)
}

/// Opens the log file anew, if there is one: it may have been moved away. If that fails, lines go where they went.
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
    type Writer = Line<'w>;

    fn make_writer(&'w self) -> Line<'w> {
        Line(self.held())
    }
}

/// One line on its way into the file.
pub(super) struct Line<'w>(MutexGuard<'w, File>);

impl io::Write for Line<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
