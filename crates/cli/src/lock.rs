//! The lock of a data directory: one server or load at a time.
//!
//! Processes may share a store, so tools work while a server runs. But each server assumes that
//! only it assigns change numbers, and a large load would block a server's clients. So servers and
//! loads lock the directory first. The lock is on the directory itself, so it ends with the
//! process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rustix::fs::{FlockOperation, flock};

/// The lock of a data directory, held until drop or the end of the process.
#[derive(Debug)]
pub(crate) struct DataLock {
    _directory: File,
    /// The directory, if this lock created it.
    made: Option<PathBuf>,
}

impl DataLock {
    /// Locks an existing directory.
    pub(crate) fn take(data: &Path) -> anyhow::Result<DataLock> {
        let directory =
            File::open(data).with_context(|| format!("cannot open {}", data.display()))?;
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(DataLock {
                _directory: directory,
                made: None,
            }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                bail!(
                    "{} is in use by another server or load of fulgurite",
                    data.display()
                )
            }
            Err(error) => Err(io::Error::from(error))
                .with_context(|| format!("cannot lock {}", data.display())),
        }
    }

    /// Locks a directory and creates it first if missing. Dropping the lock removes a created
    /// directory that is still empty.
    pub(crate) fn take_or_make(data: &Path) -> anyhow::Result<DataLock> {
        let exists = data.exists();
        std::fs::create_dir_all(data)
            .with_context(|| format!("cannot create the directory {}", data.display()))?;
        let mut lock = DataLock::take(data)?;
        lock.made = (!exists).then(|| data.to_owned());
        Ok(lock)
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        if let Some(data) = &self.made {
            // Fails on purpose if the directory is not empty.
            let _ = std::fs::remove_dir(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_fails_with_a_message() {
        let directory = tempfile::tempdir().unwrap();
        let lock = DataLock::take(directory.path()).unwrap();
        let refused = DataLock::take(directory.path()).unwrap_err().to_string();
        assert!(
            refused.ends_with("is in use by another server or load of fulgurite"),
            "{refused}"
        );
        drop(lock);
        DataLock::take(directory.path()).unwrap();
    }

    #[test]
    fn an_empty_created_directory_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let (empty, used) = (
            directory.path().join("a/empty"),
            directory.path().join("used"),
        );
        drop(DataLock::take_or_make(&empty).unwrap());
        assert!(!empty.exists());
        let lock = DataLock::take_or_make(&used).unwrap();
        std::fs::write(used.join("data"), "x").unwrap();
        drop(lock);
        assert!(used.exists());
    }
}
