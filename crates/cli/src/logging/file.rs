//! The file of the log. It supports rotation: on request it is opened again under its name.
//!
//! A line that cannot be written is counted. Standard error has the first one and the end of
//! the trouble, because the file cannot tell. A file that was deleted is made again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fulgurite_server::count_lost_log_line;

use tracing_subscriber::fmt::MakeWriter;

/// The file of this process, if it has one.
static LOG: Mutex<Option<OpenLog>> = Mutex::new(None);

/// The interval at which the file is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

struct OpenLog {
    path: PathBuf,
    file: File,
    /// Lines that were lost since the last one that was written.
    lost: u64,
    /// The last look for the file.
    looked: Option<Instant>,
}

impl OpenLog {
    fn new(path: PathBuf) -> io::Result<OpenLog> {
        Ok(OpenLog {
            file: append(&path)?,
            path,
            lost: 0,
            looked: None,
        })
    }

    /// Writes a line, or counts it as lost.
    fn line(&mut self, bytes: &[u8], now: Instant) {
        let written = self.look(now).and_then(|()| {
            if self.lost > 0 {
                // The last line may have been written in part.
                self.file.write_all(b"\n")?;
            }
            self.file.write_all(bytes)
        });
        let shown = self.path.display();
        match written {
            Ok(()) if self.lost > 0 => {
                eprintln!(
                    "fulgurite: {shown} is written again; {} lines are lost",
                    self.lost
                );
                self.lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                if self.lost == 0 {
                    eprintln!("fulgurite: cannot write the log to {shown}: {error}");
                }
                self.lost += 1;
                count_lost_log_line();
            }
        }
    }

    /// Makes the file again if it was deleted.
    fn look(&mut self, now: Instant) -> io::Result<()> {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < LOOK_EVERY;
        if self.looked.is_some_and(is_recent) && self.lost == 0 {
            return Ok(());
        }
        self.looked = Some(now);
        if self.file.metadata()?.nlink() == 0 {
            self.file = append(&self.path)?;
        }
        Ok(())
    }
}

/// Opens a log file for appending in place of the present one; `None` closes that. After a failure
/// the old file stays in use.
pub(super) fn open(path: Option<PathBuf>) -> io::Result<()> {
    let mut log = held();
    let is_open = |path: &Path| log.as_ref().is_some_and(|log| log.path == path);
    *log = match path {
        Some(path) if is_open(&path) => return Ok(()),
        Some(path) => Some(OpenLog::new(path)?),
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
    // The event goes to the file, so its lock is free by now. Standard error has it,
    // too, because that file may be out of sight.
    let (path, error) = failed;
    eprintln!(
        "fulgurite: cannot open {} again: {error}; the log goes on to the file that was open",
        path.display()
    );
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
    /// Takes a whole line. It never fails, because a subscriber could do nothing about it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(log) = self.0.as_mut() {
            log.line(bytes, Instant::now());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.as_mut() {
            Some(log) => log.file.flush(),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_file_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let (mut log, start) = (OpenLog::new(path.clone()).expect("a file"), Instant::now());
        log.line(b"one\n", start);
        std::fs::remove_file(&path).expect("remove the file");
        log.line(b"two\n", start + LOOK_EVERY);
        log.line(b"three\n", start + LOOK_EVERY);
        assert_eq!(
            std::fs::read_to_string(&path).expect("the log"),
            "two\nthree\n"
        );
        // Its folder is gone, and comes back.
        std::fs::remove_dir_all(folder.path()).expect("remove the folder");
        log.line(b"four\n", start + 3 * LOOK_EVERY);
        log.line(b"five\n", start + 3 * LOOK_EVERY);
        assert_eq!(log.lost, 2);
        std::fs::create_dir(folder.path()).expect("a folder");
        log.line(b"six\n", start + 3 * LOOK_EVERY);
        assert_eq!(log.lost, 0);
        assert_eq!(std::fs::read_to_string(&path).expect("the log"), "\nsix\n");
    }

    #[test]
    fn a_line_on_a_full_volume_is_counted() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            return;
        }
        let mut log = OpenLog::new(full.to_owned()).expect("the device");
        log.line(b"one\n", Instant::now());
        log.line(b"two\n", Instant::now());
        assert_eq!(log.lost, 2);
    }
}
