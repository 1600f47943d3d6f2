//! Errors of backing up and restoring.

use std::io;
use std::path::{Path, PathBuf};

/// Why backing up or restoring failed. After a failure only files whose names end in `.part` may
/// remain.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The environment could not be opened.
    #[error(transparent)]
    Tool(#[from] crate::ToolError),
    /// Reading the environment failed.
    #[error("reading the environment")]
    Engine(#[from] fulgurite::Error),
    /// The system refused an operation.
    #[error("{doing} {}", path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process makes a backup into the same directory.
    #[error("another backup into {} is under way", .0.display())]
    Busy(PathBuf),
    /// The file does not begin as a backup file does.
    #[error("{} is no backup file", .0.display())]
    NotABackup(PathBuf),
    /// The file has another version of the layout.
    #[error("{} has layout version {found}; this program knows version 1", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file has no end.
    #[error("{} is cut off: its end is missing", .0.display())]
    CutOff(PathBuf),
    /// The file's digests do not fit its contents.
    #[error("{} is damaged: {what} is not what it was when the backup was made", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The part that is damaged.
        what: String,
    },
    /// A file's name does not fit its contents.
    #[error("{} was renamed: it is {should_be}", path.display())]
    Renamed {
        /// The file.
        path: PathBuf,
        /// The name it had when it was made.
        should_be: String,
    },
    /// A file of the chain is missing.
    #[error("{} builds on transaction {from}, and no file in the directory is of that one", path.display())]
    Missing {
        /// The file that needs another.
        path: PathBuf,
        /// The transaction it needs.
        from: u64,
    },
    /// A file was exchanged for another with the same name.
    #[error("{} builds on another {} than the one that is there", path.display(), before.display())]
    Exchanged {
        /// The file that needs another.
        path: PathBuf,
        /// The exchanged file.
        before: PathBuf,
    },
    /// The environment is older than the last backup.
    #[error(
        "the environment is at transaction {environment}, the backups in {} go up to {newest}. It is another \
         environment, or was restored to an earlier time. Use another directory",
        directory.display()
    )]
    Behind {
        /// The directory of the backups.
        directory: PathBuf,
        /// The environment's transaction.
        environment: u64,
        /// The transaction of the newest backup.
        newest: u64,
    },
    /// The backups are of another environment.
    #[error(
        "the environment is not the one that the backups in {} are of: {why}. Use another directory",
        directory.display()
    )]
    Foreign {
        /// The directory of the backups.
        directory: PathBuf,
        /// How the tool noticed it.
        why: String,
    },
    /// There is no backup in the directory.
    #[error("there are no backups in {}", .0.display())]
    Empty(PathBuf),
    /// No backup is of this transaction.
    #[error("no backup in {} is of transaction {wanted}. The backups have: {known}", directory.display())]
    NoSuchTransaction {
        /// The directory of the backups.
        directory: PathBuf,
        /// The wanted transaction.
        wanted: u64,
        /// The transactions there are.
        known: String,
    },
    /// The file exists. Nothing is ever overwritten.
    #[error("{} exists already; nothing is overwritten", .0.display())]
    Exists(PathBuf),
    /// The environment is damaged, so the tool does nothing with it.
    #[error("the environment is damaged: {0}. Run `fulgurite check`")]
    Damage(String),
    /// The restored file failed its check.
    #[error("what was restored is not sound, so it was removed: {0}")]
    Unsound(String),
}

impl BackupError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BackupError {
        move |source| BackupError::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> BackupError {
        BackupError::Damaged {
            path: path.to_owned(),
            what: what.into(),
        }
    }
}
