//! The files of a backup directory, and the chains they form.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::BackupError;
use super::format::{Digest, Header};
use super::read::{BackupFile, Table};

/// The end of the names of backup files.
const SUFFIX: &str = ".fgb";
/// The end of the names of unfinished files.
pub(super) const PART_SUFFIX: &str = ".part";

/// Attempts to lock a directory, and the pause between them.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// Returns the name of a backup file.
pub(super) fn name_of(header: &Header) -> String {
    match header.from {
        None => format!("full-{}{SUFFIX}", header.to),
        Some(from) => format!("incr-{from}-{}{SUFFIX}", header.to),
    }
}

/// Excludes other backups from a directory while it lives.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    _directory: File,
}

impl DirectoryLock {
    /// Takes the lock, and removes the files of an interrupted backup.
    pub(super) fn take(path: &Path) -> Result<DirectoryLock, BackupError> {
        let directory = File::open(path).map_err(BackupError::io("opening", path))?;
        let mut attempts = 0;
        loop {
            match flock(directory.as_fd(), FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                // A process that is starting has all descriptors of its parent for a moment, so the
                // lock may look taken.
                Err(Errno::WOULDBLOCK) if attempts < ATTEMPTS => attempts += 1,
                Err(Errno::WOULDBLOCK) => return Err(BackupError::Busy(path.to_owned())),
                Err(error) => return Err(BackupError::io("locking", path)(error.into())),
            }
            std::thread::sleep(PAUSE);
        }
        for name in names(path)? {
            if name.starts_with('.') && name.ends_with(PART_SUFFIX) && name.contains(SUFFIX) {
                let part = path.join(name);
                fs::remove_file(&part).map_err(BackupError::io("removing", &part))?;
            }
        }
        Ok(DirectoryLock {
            _directory: directory,
        })
    }
}

/// All backups in a directory, by transaction. Of one transaction the full one comes first.
#[derive(Debug)]
pub(super) struct BackupSet {
    pub(super) directory: PathBuf,
    pub(super) files: Vec<BackupFile>,
}

impl BackupSet {
    /// Opens all backup files of a directory. Their names must fit their contents.
    pub(super) fn open(directory: &Path) -> Result<BackupSet, BackupError> {
        let mut files = Vec::new();
        for name in names(directory)? {
            if !name.ends_with(SUFFIX) || name.starts_with('.') {
                continue;
            }
            let file = BackupFile::open(&directory.join(&name))?;
            let should_be = name_of(&file.header);
            if name != should_be {
                return Err(BackupError::Renamed {
                    path: file.path,
                    should_be,
                });
            }
            files.push(file);
        }
        files.sort_by_key(|file| (file.header.to, file.header.from));
        Ok(BackupSet {
            directory: directory.to_owned(),
            files,
        })
    }

    /// Returns the newest backup.
    pub(super) fn newest(&self) -> Option<&BackupFile> {
        self.files.last()
    }

    /// Returns the files that together hold the snapshot of `wanted`, by default the newest. A full
    /// backup comes first, and each builds on the one before it.
    pub(super) fn chain(&self, wanted: Option<u64>) -> Result<Vec<&BackupFile>, BackupError> {
        let Some(newest) = self.newest() else {
            return Err(BackupError::Empty(self.directory.clone()));
        };
        let wanted = wanted.unwrap_or(newest.header.to);
        let mut next = self.of(wanted);
        if next.is_none() {
            let known = self.files.iter().map(|file| file.header.to.to_string());
            return Err(BackupError::NoSuchTransaction {
                directory: self.directory.clone(),
                wanted,
                known: known.collect::<Vec<_>>().join(", "),
            });
        }
        let mut chain: Vec<&BackupFile> = Vec::new();
        while let Some(file) = next {
            chain.push(file);
            let Some(from) = file.header.from else {
                break;
            };
            // Transaction ids descend, so the loop ends.
            let before = self
                .of(from)
                .filter(|before| before.header.to < file.header.to);
            let Some(before) = before else {
                return Err(BackupError::Missing {
                    path: file.path.clone(),
                    from,
                });
            };
            if before.trailer.file != file.header.before
                || before.header.page_size != file.header.page_size
            {
                return Err(BackupError::Exchanged {
                    path: file.path.clone(),
                    before: before.path.clone(),
                });
            }
            next = Some(before);
        }
        chain.reverse();
        Ok(chain)
    }

    /// Returns a backup of that transaction: the full one if there are two.
    fn of(&self, txnid: u64) -> Option<&BackupFile> {
        self.files.iter().find(|file| file.header.to == txnid)
    }
}

/// The digests of pages after restoring a chain, in ascending order of the pages.
pub(super) struct Digests<'c> {
    /// The newest file first.
    tables: Vec<TableCursor<'c>>,
}

struct TableCursor<'c> {
    table: Table<'c>,
    next: Option<(u64, Digest)>,
}

impl<'c> Digests<'c> {
    pub(super) fn of(chain: &[&'c BackupFile]) -> Result<Digests<'c>, BackupError> {
        let mut tables = Vec::with_capacity(chain.len());
        for file in chain.iter().rev() {
            let mut table = file.table()?;
            let next = table.entry()?;
            tables.push(TableCursor { table, next });
        }
        Ok(Digests { tables })
    }

    /// Returns the digest of a page. Pages must ascend from call to call.
    pub(super) fn digest(&mut self, pgno: u64) -> Result<Option<Digest>, BackupError> {
        let mut newest = None;
        for ahead in &mut self.tables {
            while ahead.next.is_some_and(|(next, _)| next < pgno) {
                ahead.next = ahead.table.entry()?;
            }
            let found = ahead.next.filter(|(next, _)| *next == pgno);
            newest = newest.or(found.map(|(_, digest)| digest));
        }
        Ok(newest)
    }

    /// Reads the tables to their ends, where their digests are compared.
    pub(super) fn finish(mut self) -> Result<(), BackupError> {
        for ahead in &mut self.tables {
            while ahead.next.is_some() {
                ahead.next = ahead.table.entry()?;
            }
        }
        Ok(())
    }
}

/// Returns the names in a directory, in order.
fn names(directory: &Path) -> Result<Vec<String>, BackupError> {
    let reading = || BackupError::io("reading", directory);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(reading())? {
        // The tools make no names that are not text.
        names.extend(entry.map_err(reading())?.file_name().into_string().ok());
    }
    names.sort_unstable();
    Ok(names)
}
