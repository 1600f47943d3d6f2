//! Flags of `fulgurite backup` and `fulgurite restore`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::tools::ConfigFlags;

/// Write, list and verify backups: whole copies of all databases
///
/// A running server makes them by itself if the settings have `backup.to`. All of these work while
/// the server runs.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) tool: BackupTool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackupTool {
    Now(BackupNow),
    List(BackupList),
    Verify(BackupVerify),
}

/// Write a backup now
///
/// The new folder is named by the time in UTC. It is there only once it is whole. The command
/// removes no old backups; the server does, as `backup.keep` says.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite backup now --config /etc/fulgurite/fulgurite.toml --to /mnt/backup"
)]
pub(crate) struct BackupNow {
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Directory of the backups [default: backup.to of the settings]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

/// List the backups in a directory, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite backup list /var/backups/fulgurite")]
pub(crate) struct BackupList {
    /// Directory of the backups
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// Verify a backup: its digests, its pages, and its entries with all indexes
///
/// With --boot, a server starts on a copy of the backup and a client counts the entries. The server
/// listens at a socket in a scratch directory only. It contacts no other server, and makes no
/// backups.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite backup verify /var/backups/fulgurite --boot --config /etc/fulgurite/fulgurite.toml"
)]
pub(crate) struct BackupVerify {
    /// A backup, or a directory of backups, of which the newest is verified
    #[arg(value_name = "DIR")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Start a server aside, and compare the number of entries
    #[arg(long)]
    pub(crate) boot: bool,
    /// Directory for the copies that --boot makes and removes [default: that of the system]
    #[arg(long, value_name = "DIR", requires = "boot")]
    pub(crate) scratch: Option<PathBuf>,
}

/// Restore a database from a backup, also to a point in time
///
/// With --at, the command takes the newest backup from before that time. The changes after it come
/// from the log of changes of the present database, or of another server. The command refuses if
/// the log does not reach back to the backup. It overwrites nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite restore /var/backups/fulgurite --to /var/lib/restored\n  fulgurite restore /var/backups/fulgurite --to /var/lib/restored \\\n      --at 2026-11-27T14:30:00Z --log /var/lib/fulgurite"
)]
pub(crate) struct Restore {
    /// A backup, or a directory of backups
    #[arg(value_name = "DIR")]
    pub(crate) from: PathBuf,
    /// Directory of the restored database; created if missing
    #[arg(long, value_name = "PATH")]
    pub(crate) to: PathBuf,
    /// Suffix of the database, if the backup has several
    #[arg(long, value_name = "DN")]
    pub(crate) suffix: Option<String>,
    /// Apply the changes up to this time: 2026-11-27T14:30:00Z or 20261127143000Z
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Directory of the database whose log has the changes [default: the directory that the backup
    /// was made of]
    #[arg(long, value_name = "DATA", requires = "at")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
}
