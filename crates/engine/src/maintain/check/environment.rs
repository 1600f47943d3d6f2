//! Checking an environment by the name of its directory or file, at rest or while others write.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fulgurite_os::{Access as FileAccess, File, FileRole};

use super::CheckOptions;
use super::checker::Checker;
use super::report::{CheckError, Report};
use crate::maintain::image::meta::Metas;
use crate::{Environment, ReadTxn, SlotPolicy};

/// Attempts to pin a snapshot before a commit replaces it as the newest.
const ATTEMPTS: usize = 1000;

/// Attempts without a pause.
const ATTEMPTS_AT_ONCE: usize = 100;

/// The pause before a later attempt.
const PAUSE: Duration = Duration::from_millis(1);

/// How the checked snapshot was protected from being overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// A reader slot of the lock file pinned it, as for a read transaction. Writers could go on.
    Pinned,
    /// There is no lock file: no process has opened the environment since the file was put there.
    NoLockFile,
    /// The lock file could not be joined, for this reason. After the check the file still described
    /// the snapshot.
    Unpinned(String),
}

/// An environment that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedEnvironment {
    /// The outcome of the check.
    pub report: Report,
    /// The data file.
    pub data: PathBuf,
    /// How the snapshot was protected from writers.
    pub access: Access,
}

/// Checks an environment, while other processes may write to it with the original library or this
/// one.
///
/// `path` is the environment's directory, or its data file. The check joins an existing lock file
/// as a reader, so writers reuse no page of the snapshot. It makes no file and opens the data file
/// for reading only. If it cannot join the lock file it goes on without, and the result says so.
/// From time to time it calls `progress` with the pages accounted for and the number of all pages.
/// # Errors
/// As [`super::check_file`]; [`CheckError::Overtaken`] if the snapshot was not pinned and writers
/// overwrote it.
pub fn check_environment(
    path: &Path,
    options: &CheckOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CheckedEnvironment, CheckError> {
    let files = EnvironmentFiles::find(path);
    let mut checker = Checker::new(options.clone());
    let (report, access) = files
        .with_snapshot(|file, metas| checker.check_metas(file, &files.data, metas, progress))?;
    Ok(CheckedEnvironment {
        report,
        data: files.data,
        access,
    })
}

/// The files of an environment.
#[derive(Debug, Clone)]
pub(crate) struct EnvironmentFiles {
    pub(crate) data: PathBuf,
    lock: PathBuf,
    /// The path to open, and whether it is the data file itself.
    environment: PathBuf,
    no_subdir: bool,
}

impl EnvironmentFiles {
    /// Finds the files of an environment.
    ///
    /// A directory has `data.mdb` and `lock.mdb` in it. So has the directory of a file named
    /// `data.mdb`, unless that file has its own lock file next to it.
    pub(crate) fn find(path: &Path) -> EnvironmentFiles {
        let lock_next_to = |path: &Path| {
            let mut lock = path.as_os_str().to_owned();
            lock.push("-lock");
            PathBuf::from(lock)
        };
        let inside = |directory: &Path| EnvironmentFiles {
            data: directory.join("data.mdb"),
            lock: directory.join("lock.mdb"),
            environment: directory.to_owned(),
            no_subdir: false,
        };
        if path.is_dir() {
            return inside(path);
        }
        let is_inside = path.file_name().is_some_and(|name| name == "data.mdb");
        if is_inside && !lock_next_to(path).exists() {
            let directory = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            return inside(directory.unwrap_or(Path::new(".")));
        }
        EnvironmentFiles {
            data: path.to_owned(),
            lock: lock_next_to(path),
            environment: path.to_owned(),
            no_subdir: true,
        }
    }

    /// Runs `work` on the data file and its meta pages, with the newest snapshot pinned if
    /// possible.
    pub(crate) fn with_snapshot<T>(
        &self,
        mut work: impl FnMut(&File, &Metas) -> Result<T, CheckError>,
    ) -> Result<(T, Access), CheckError> {
        let file = File::open(FileRole::Checked, &self.data, FileAccess::Read)
            .map_err(CheckError::read(&self.data))?;
        if !self.lock.exists() {
            return self.unpinned(&file, Access::NoLockFile, work);
        }
        let environment = match self.join() {
            Ok(environment) => environment,
            Err(reason) => return self.unpinned(&file, Access::Unpinned(reason), work),
        };
        let pinned = environment
            .read()
            .map_err(|error| error.to_string())
            .and_then(|txn| pinned_metas(&file, txn));
        match pinned {
            Ok((txn, metas)) => {
                let done = work(&file, &metas)?;
                // A writer's policy may have ended the reader. Then writers have reused pages of
                // its snapshot.
                match txn.check_readable() {
                    Ok(()) => Ok((done, Access::Pinned)),
                    Err(_) => Err(CheckError::Overtaken {
                        path: self.data.clone(),
                    }),
                }
            }
            Err(reason) => self.unpinned(&file, Access::Unpinned(reason), work),
        }
    }

    fn join(&self) -> Result<Environment, String> {
        Environment::options()
            .read_only(true)
            .no_subdir(self.no_subdir)
            .slots(SlotPolicy::PerTransaction)
            .open(&self.environment)
            .map_err(|error| error.to_string())
    }

    fn unpinned<T>(
        &self,
        file: &File,
        access: Access,
        mut work: impl FnMut(&File, &Metas) -> Result<T, CheckError>,
    ) -> Result<(T, Access), CheckError> {
        let read = || Metas::read(file).map_err(CheckError::read(&self.data));
        let metas = read()?;
        let done = work(file, &metas)?;
        let newest = |metas: &Metas| metas.by_age().0.map(|newest| newest.txnid);
        let (before, after) = (newest(&metas), newest(&read()?));
        // Two commits after a snapshot, writers may reuse its pages.
        if before.is_some_and(|id| after.is_none_or(|after| after > id.saturating_add(1))) {
            return Err(CheckError::Overtaken {
                path: self.data.clone(),
            });
        }
        Ok((done, access))
    }
}

/// Reads the meta pages while the transaction's snapshot is the newest. Then the other meta page is
/// its predecessor, and the transaction pins the pages of both.
fn pinned_metas<'env>(
    file: &File,
    mut txn: ReadTxn<'env>,
) -> Result<(ReadTxn<'env>, Metas), String> {
    for attempt in 0..ATTEMPTS {
        // A writer may lose its core between the meta page and the lock file's id.
        if attempt >= ATTEMPTS_AT_ONCE {
            thread::sleep(PAUSE);
        }
        let read = || Metas::read(file).map_err(|error| error.to_string());
        let (metas, again) = (read()?, read()?);
        let newest = metas.by_age().0.map(|newest| newest.txnid);
        // A meta page that a writer is changing differs between the two reads.
        if newest == Some(txn.id().0) && metas == again {
            return Ok((txn, metas));
        }
        txn.refresh().map_err(|error| error.to_string())?;
    }
    Err("the lock file does not belong to this data file".to_owned())
}
