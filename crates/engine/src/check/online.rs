//! Checking an environment as an administrator names it: by its directory or file, at rest or while others write.

use fulgurite_os::{Access as FileAccess, File, FileRole};
use std::path::{Path, PathBuf};

use super::meta::Metas;
use super::report::{CheckError, Report};
use super::{CheckOptions, Checker};
use crate::{Environment, ReadTxn, SlotPolicy};

/// How often a snapshot is pinned anew because a commit came between.
const ATTEMPTS: usize = 1000;

/// How the snapshot that was looked at was kept from being overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// A reader slot of the lock file pinned it, as a read transaction does: writers may have gone on.
    Pinned,
    /// There is no lock file: nobody has opened the environment since the file was put there.
    NoLockFile,
    /// The lock file could not be joined, for this reason. The snapshot was still one of the file's two when all had
    /// been read.
    Unpinned(String),
}

/// An environment that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What was found.
    pub report: Report,
    /// The data file.
    pub data: PathBuf,
    /// What kept writers from overwriting what was looked at.
    pub access: Access,
}

/// Checks an environment, also one that others are writing to, with the original library or with this one.
///
/// `path` is the environment's directory, or its data file. A lock file that is there is joined as a reader, so that no
/// page of the snapshot is used again meanwhile; no file is made, and the data file is opened for reading only. Where
/// the lock file cannot be joined the check goes on without, and says so. `progress` is told now and then how many
/// pages of how many have been accounted for.
/// # Errors
/// As [`super::check_file`]; [`CheckError::Overtaken`] if nothing pinned the snapshot and writers went past it.
pub fn check_environment(
    path: &Path,
    options: &CheckOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Checked, CheckError> {
    let place = Place::find(path);
    let mut checker = Checker::new(options.clone());
    let (report, access) = place
        .with_snapshot(|file, metas| checker.check_metas(file, &place.data, metas, progress))?;
    Ok(Checked {
        report,
        data: place.data,
        access,
    })
}

/// Where an environment's files are.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) data: PathBuf,
    lock: PathBuf,
    /// What to open, and whether it is the data file itself.
    environment: PathBuf,
    no_subdir: bool,
}

impl Place {
    /// A directory has `data.mdb` and `lock.mdb` in it; so has that of a file of this name, unless a lock file of its
    /// own lies beside it.
    pub(crate) fn find(path: &Path) -> Place {
        let beside = |path: &Path| {
            let mut lock = path.as_os_str().to_owned();
            lock.push("-lock");
            PathBuf::from(lock)
        };
        let inside = |directory: &Path| Place {
            data: directory.join("data.mdb"),
            lock: directory.join("lock.mdb"),
            environment: directory.to_owned(),
            no_subdir: false,
        };
        if path.is_dir() {
            return inside(path);
        }
        let is_inside = path.file_name().is_some_and(|name| name == "data.mdb");
        if is_inside && !beside(path).exists() {
            let directory = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            return inside(directory.unwrap_or(Path::new(".")));
        }
        Place {
            data: path.to_owned(),
            lock: beside(path),
            environment: path.to_owned(),
            no_subdir: true,
        }
    }

    /// Runs `work` on the data file and its meta pages, with the newest snapshot pinned if that can be.
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
                // A writer's policy may have ended the reader, and then pages of its snapshot are used again.
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
        // The pages of a snapshot are used again once two commits have followed it.
        if before.is_some_and(|id| after.is_none_or(|after| after > id.saturating_add(1))) {
            return Err(CheckError::Overtaken {
                path: self.data.clone(),
            });
        }
        Ok((done, access))
    }
}

/// The meta pages as they were while the transaction's snapshot was the newest, so that the other one is its predecessor,
/// whose pages the transaction keeps from being used again as well.
fn pinned_metas<'env>(
    file: &File,
    mut txn: ReadTxn<'env>,
) -> Result<(ReadTxn<'env>, Metas), String> {
    for _ in 0..ATTEMPTS {
        let read = || Metas::read(file).map_err(|error| error.to_string());
        let (metas, again) = (read()?, read()?);
        let newest = metas.by_age().0.map(|newest| newest.txnid);
        // A page that was being written is read differently the second time.
        if newest == Some(txn.id().0) && metas == again {
            return Ok((txn, metas));
        }
        txn.refresh().map_err(|error| error.to_string())?;
    }
    Err("the lock file does not belong to this data file".to_owned())
}
