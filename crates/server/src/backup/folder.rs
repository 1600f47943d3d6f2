//! The directory of the backups: its folders, its lock, and the reason of the last failure.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use fulgurite_directory::Timestamp;
use fulgurite_schema::days_from_civil;
use rustix::fs::{FlockOperation, flock};

use super::manifest::BackupManifest;

/// Permissions of folders and files. They hold passwords.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// A backup from a time later than now by this number of seconds counts as one of now. The clock
/// was set back since. One from later does not count.
pub(super) const FUTURE_S: u64 = 3600;

const MANIFEST: &str = "manifest.json";
const PARTIAL: &str = ".partial";
const FAILURE: &str = "last-failure";

/// A failure of a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A database cannot be copied.
    #[error("cannot copy the database {suffix}: {source}")]
    Copy {
        /// Its first suffix.
        suffix: String,
        /// The error of the engine.
        source: fulgurite_store::StoreError,
    },
    /// The copy cannot be opened.
    #[error("the copy of the database {suffix} is not usable: {source}")]
    Unusable {
        /// Its first suffix.
        suffix: String,
        /// The error of the store.
        source: Box<fulgurite_store::OpenError>,
    },
    /// Another program writes a backup there.
    #[error("another program is writing a backup in {}", .0.display())]
    Busy(PathBuf),
    /// There is such a backup.
    #[error("{} exists: wait a second", .0.display())]
    Exists(PathBuf),
    /// A folder is no backup.
    #[error("{} is no backup: {reason}", path.display())]
    NotABackup {
        /// The folder.
        path: PathBuf,
        /// A clause.
        reason: String,
    },
}

impl BackupError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BackupError {
        move |source| BackupError::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}

/// A backup that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Its folder.
    pub path: PathBuf,
    /// Seconds since 1970 at its begin.
    pub time_s: u64,
    /// Its databases.
    pub manifest: BackupManifest,
}

impl Backup {
    /// Reads the manifest of a folder.
    ///
    /// # Errors
    /// [`BackupError::NotABackup`].
    pub fn open(path: &Path) -> Result<Backup, BackupError> {
        let wrong = |reason: String| BackupError::NotABackup {
            path: path.to_owned(),
            reason,
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let time_s = name.and_then(seconds_of);
        let time_s = time_s.ok_or_else(|| wrong("its name is no time".to_owned()))?;
        let text = fs::read_to_string(path.join(MANIFEST));
        let text = text.map_err(|error| wrong(format!("{MANIFEST}: {error}")))?;
        let manifest = BackupManifest::parse(&text);
        let manifest = manifest.map_err(|reason| wrong(format!("{MANIFEST}: {reason}")))?;
        Ok(Backup {
            path: path.to_owned(),
            time_s,
            manifest,
        })
    }

    /// Returns the data file of a database.
    #[must_use]
    pub fn data_file(&self, folder: &str) -> PathBuf {
        self.path.join(folder).join("data.mdb")
    }
}

/// Returns the whole backups in a directory, the oldest first. Folders that are none are left out.
///
/// # Errors
/// [`BackupError::Io`] if the directory cannot be read.
pub fn list_backups(directory: &Path) -> Result<Vec<Backup>, BackupError> {
    let failed = || BackupError::io("read", directory);
    let mut backups = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| seconds_of(name).is_some()) {
            backups.extend(Backup::open(&path));
        }
    }
    backups.sort_by_key(|backup| backup.time_s);
    Ok(backups)
}

/// Removes the oldest backups, so that `keep` remain. Returns each of them, or the reason why it
/// stays. A backup from the future, by a clock that was ahead, neither counts nor goes.
///
/// # Errors
/// [`BackupError::Io`] if the directory cannot be read.
pub fn remove_old_backups(
    directory: &Path,
    keep: usize,
    now_s: u64,
) -> Result<Vec<Result<Backup, BackupError>>, BackupError> {
    let mut backups = list_backups(directory)?;
    backups.retain(|backup| backup.time_s <= now_s + FUTURE_S);
    backups.truncate(backups.len().saturating_sub(keep));
    let removed = backups.into_iter().map(|backup| {
        // A crash leaves a part of a backup at most, which the next one removes.
        let partial = partial_path(directory, &name_of(backup.time_s));
        let renamed = fs::rename(&backup.path, &partial);
        renamed.map_err(BackupError::io("remove", &backup.path))?;
        match fs::remove_dir_all(&partial) {
            // Another program has begun a backup meanwhile, and removed it.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(backup),
            Err(error) => Err(BackupError::io("remove", &partial)(error)),
            Ok(()) => Ok(backup),
        }
    });
    Ok(removed.collect())
}

fn partial_path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}{PARTIAL}"))
}

/// Returns the reason of the last failure, if no backup has succeeded since.
#[must_use]
pub fn last_failure(directory: &Path) -> Option<String> {
    let text = fs::read_to_string(directory.join(FAILURE)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Records the reason of a failure, as far as the directory permits it.
pub(super) fn record_failure(directory: &Path, now_s: u64, reason: &str) {
    let text = format!("{} {reason}\n", name_of(now_s));
    // The log has the reason, too. The directory may be the very trouble.
    let _ = write_file(&directory.join(FAILURE), text.as_bytes());
}

/// Forgets the last failure after a success.
pub(super) fn forget_failure(directory: &Path) {
    // Mostly there is none.
    let _ = fs::remove_file(directory.join(FAILURE));
}

/// The directory of the backups while one is written. Dropping it lets others write.
pub(super) struct LockedDirectory {
    path: PathBuf,
    lock: File,
}

impl LockedDirectory {
    /// Makes the directory if it is missing, and locks it. Removes what a crash has left.
    pub(super) fn lock(path: &Path) -> Result<LockedDirectory, BackupError> {
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(FOLDER_MODE).create(path);
        made.map_err(BackupError::io("make", path))?;
        let lock = File::open(path).map_err(BackupError::io("open", path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(BackupError::Busy(path.to_owned())),
            Err(error) => return Err(BackupError::io("lock", path)(error.into())),
        }
        let directory = LockedDirectory {
            path: path.to_owned(),
            lock,
        };
        directory.remove_partial()?;
        Ok(directory)
    }

    fn remove_partial(&self) -> Result<(), BackupError> {
        let failed = || BackupError::io("read", &self.path);
        for entry in fs::read_dir(&self.path).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let time = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(PARTIAL));
            if time.and_then(seconds_of).is_some() {
                fs::remove_dir_all(&path).map_err(BackupError::io("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Begins a backup.
    pub(super) fn begin(&self, now_s: u64) -> Result<PartialBackup<'_>, BackupError> {
        let name = name_of(now_s);
        let whole = self.path.join(&name);
        if whole.exists() {
            return Err(BackupError::Exists(whole));
        }
        let partial = partial_path(&self.path, &name);
        make_folder(&partial)?;
        Ok(PartialBackup {
            directory: self,
            partial,
            whole,
            time_s: now_s,
            is_finished: false,
        })
    }
}

/// A backup that is being written. Dropping it removes what was written.
pub(super) struct PartialBackup<'d> {
    directory: &'d LockedDirectory,
    partial: PathBuf,
    whole: PathBuf,
    time_s: u64,
    is_finished: bool,
}

impl PartialBackup<'_> {
    /// Makes the folder of a database.
    pub(super) fn make_folder(&self, name: &str) -> Result<PathBuf, BackupError> {
        let path = self.partial.join(name);
        make_folder(&path)?;
        Ok(path)
    }

    /// Writes the manifest, makes all durable, and gives the folder its name.
    pub(super) fn finish(mut self, manifest: BackupManifest) -> Result<Backup, BackupError> {
        let file = self.partial.join(MANIFEST);
        write_file(&file, manifest.text().as_bytes()).map_err(BackupError::io("write", &file))?;
        sync(&self.partial)?;
        fs::rename(&self.partial, &self.whole).map_err(BackupError::io("name", &self.whole))?;
        self.is_finished = true;
        let synced = self.directory.lock.sync_all();
        synced.map_err(BackupError::io("flush", &self.directory.path))?;
        Ok(Backup {
            path: self.whole.clone(),
            time_s: self.time_s,
            manifest,
        })
    }
}

impl Drop for PartialBackup<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // The next backup removes what stays.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// Sets the permissions of a file with data.
pub(super) fn protect(path: &Path) -> Result<(), BackupError> {
    let set = fs::set_permissions(path, Permissions::from_mode(FILE_MODE));
    set.map_err(BackupError::io("protect", path))
}

/// Makes the names in a folder durable.
pub(super) fn sync(folder: &Path) -> Result<(), BackupError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(BackupError::io("flush", folder))
}

fn make_folder(path: &Path) -> Result<(), BackupError> {
    let made = DirBuilder::new().mode(FOLDER_MODE).create(path);
    made.map_err(BackupError::io("make", path))
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(true);
    let mut file = options.mode(FILE_MODE).open(path)?;
    io::Write::write_all(&mut file, bytes)?;
    match file.sync_all() {
        // Some file systems have nothing to flush.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// Returns the name of a folder: the time in UTC, such as `20261127020000Z`.
pub(super) fn name_of(time_s: u64) -> String {
    Timestamp(time_s.saturating_mul(1_000_000)).generalized()
}

/// Returns the seconds since 1970 of a name; `None` if it is none.
pub(super) fn seconds_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix('Z')?;
    let is_time = digits.len() == 14 && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_time {
        return None;
    }
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<i64>().ok();
    let days = days_from_civil(number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let seconds = number(8, 10)? * 3600 + number(10, 12)? * 60 + number(12, 14)?;
    let time = u64::try_from(days * 86_400 + seconds).ok()?;
    // Not for a 61st minute, or a 30th of February.
    (name_of(time) == name).then_some(time)
}
