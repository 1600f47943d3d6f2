//! One server or load per data directory.
//!
//! The store itself may be shared between processes, which is why tools work beside a server. Two servers
//! would each believe to be the only one that hands out change numbers, and a load of many entries would
//! make a server's clients wait for it; so these two lock the directory first. The lock is on the directory
//! itself: nothing is left behind, however the process ends.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rustix::fs::{FlockOperation, flock};

/// Holds the lock of a data directory until dropped, or until the process ends.
#[derive(Debug)]
pub(crate) struct DataLock {
    _directory: File,
    /// The directory, if it was made for this lock.
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
                    "{} is in use by another fulgurite serve or load",
                    data.display()
                )
            }
            Err(error) => Err(io::Error::from(error))
                .with_context(|| format!("cannot lock {}", data.display())),
        }
    }

    /// Locks a directory that is made first if it is not there; dropping the lock takes it away again if
    /// nothing was put into it.
    pub(crate) fn take_or_make(data: &Path) -> anyhow::Result<DataLock> {
        let exists = data.exists();
        std::fs::create_dir_all(data)
            .with_context(|| format!("cannot make the directory {}", data.display()))?;
        let mut lock = DataLock::take(data)?;
        lock.made = (!exists).then(|| data.to_owned());
        Ok(lock)
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        if let Some(data) = &self.made {
            // Fails when there is something in it, as it should.
            let _ = std::fs::remove_dir(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let lock = DataLock::take(directory.path()).unwrap();
        let refused = DataLock::take(directory.path()).unwrap_err().to_string();
        assert!(
            refused.ends_with("is in use by another fulgurite serve or load"),
            "{refused}"
        );
        drop(lock);
        DataLock::take(directory.path()).unwrap();
    }

    #[test]
    fn an_empty_directory_that_was_made_goes_again() {
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
