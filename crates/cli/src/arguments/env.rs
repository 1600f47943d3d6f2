//! Flags of `fulgurite env`: one sub-command per tool for an environment's administrator.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use fulgurite_config::parse_bytes;

/// Administer an environment: a store of this program, or any other with LMDB's files
///
/// All of these work while other programs have the environment open, also programs with the
/// original library.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Env {
    #[command(subcommand)]
    pub(crate) tool: EnvTool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvTool {
    Stat(Stat),
    Top(Top),
    Copy(Copy),
    Backup(Backup),
    Restore(Restore),
    Compact(Compact),
}

/// Print the state of an environment: sizes, databases, free pages, readers
///
/// Shows one snapshot, changes nothing, and blocks no other program.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env stat /var/lib/fulgurite")]
pub(crate) struct Stat {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Print one object of JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch an environment: its readers and the pages they hold, its writer, its growth
///
/// On a terminal each report replaces the previous one; otherwise it is appended. HOLDS counts the
/// free pages that a reader keeps from reuse. ALONE counts those that become reusable if this
/// reader ends. The age of readers with the original library is unknown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env top /var/lib/fulgurite --interval 5")]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Seconds between reports
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub(crate) interval: Duration,
    /// Print one report, after one interval
    #[arg(long)]
    pub(crate) once: bool,
}

pub(super) fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .filter(|seconds| (0.01..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give seconds, from 0.01 to 86400".to_owned())
}

/// Copy an environment while others use it
///
/// The copy is a consistent snapshot. The command overwrites nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env copy --compact /var/lib/fulgurite /mnt/copy")]
pub(crate) struct Copy {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Destination: a directory, created if missing, or a file if PATH is one
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Omit free pages and put the others in order
    #[arg(long, short)]
    pub(crate) compact: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Back up the changes of an environment since the last backup, while others use it
///
/// The first backup in a directory is complete; the following ones hold only changed pages. Each
/// backup is a consistent snapshot. Keep all files of the directory, because each depends on the
/// previous one.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite env backup /var/lib/fulgurite --to /mnt/backup\n  fulgurite env backup --list /mnt/backup\n  fulgurite env backup --verify /mnt/backup"
)]
pub(crate) struct Backup {
    /// Directory of the environment, or its data file
    #[arg(value_name = "PATH", required_unless_present_any = ["list", "verify"])]
    pub(crate) path: Option<PathBuf>,
    /// Directory of the backups; created if missing
    #[arg(long, value_name = "DIR", required_unless_present_any = ["list", "verify"])]
    pub(crate) to: Option<PathBuf>,
    /// Write a complete backup
    #[arg(long)]
    pub(crate) full: bool,
    /// List the backups in a directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["path", "to", "full", "verify"])]
    pub(crate) list: Option<PathBuf>,
    /// Verify all backups in a directory against their digests
    #[arg(long, value_name = "DIR", conflicts_with_all = ["path", "to", "full"])]
    pub(crate) verify: Option<PathBuf>,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Restore an environment from backups
///
/// The command compares all input with its digests, and checks the restored environment before it
/// renames it into place. It overwrites nothing.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite env restore /mnt/backup --to /var/lib/fulgurite --txn 4711"
)]
pub(crate) struct Restore {
    /// Directory of the backups
    #[arg(value_name = "DIR")]
    pub(crate) from: PathBuf,
    /// Directory of the new environment; created if missing
    #[arg(long, value_name = "PATH")]
    pub(crate) to: PathBuf,
    /// Restore the backup of this transaction [default: the newest]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) txn: Option<u64>,
    /// PATH is the data file itself, with its lock file next to it
    #[arg(long)]
    pub(crate) no_subdir: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Shrink the data file of an environment while others use it
///
/// The command checks the environment first. Then it moves pages from the end of the file to free
/// pages and truncates the file. Its transactions are small, so other writers can continue. If a
/// process writes through its memory map, the file keeps its length and the space becomes a hole.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite env compact /var/lib/fulgurite --until 10G --wait 60"
)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Stop when the file has this size, such as 10G [default: as small as possible]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) until: Option<u64>,
    /// Total seconds to wait for readers that hold pages at the end of the file
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) wait: u64,
    /// Milliseconds to pause after each transaction, for other writers
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub(crate) pause: u64,
    /// Return free pages inside the file to the file system too, as holes
    #[arg(long)]
    pub(crate) punch: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The environment of a tool.
#[derive(Debug, Args)]
pub(crate) struct EnvironmentPath {
    /// Directory of the environment, or its data file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
}
