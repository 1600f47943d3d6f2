//! Flags of `fulgurite env`: one sub-command per tool for an environment's administrator.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use fulgurite_config::parse_bytes;

/// Look after an environment: a store of this program's, or any other with LMDB's files
///
/// All of these work beside programs that have the environment open, those with the original library included.
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

/// Print what an environment holds: sizes, databases, free pages, readers
///
/// Shows one snapshot; nothing is changed, and nobody waits for it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env stat /var/lib/fulgurite")]
pub(crate) struct Stat {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Print one object of JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch an environment: who reads and what that holds back, who writes, how it grows
///
/// On a terminal each look takes the place of the one before; elsewhere they follow one another. HOLDS
/// are the free pages that a reader keeps from being used again, ALONE those of them that could be used
/// if it ended and no other reader did. Readers that use the original library do not tell their age.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env top /var/lib/fulgurite --interval 5")]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Seconds from one look to the next
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub(crate) interval: Duration,
    /// Look once, at the end of one interval, whose rates are shown
    #[arg(long)]
    pub(crate) once: bool,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    seconds
        .filter(|seconds| (0.01..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give seconds, from 0.01 to 86400".to_owned())
}

/// Copy an environment while others use it
///
/// The copy is one moment of the environment. Nothing is overwritten.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite env copy --compact /var/lib/fulgurite /mnt/copy")]
pub(crate) struct Copy {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Where to: a directory, made if it is missing; or a file, if PATH is one
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Leave free pages out and put the others in order
    #[arg(long, short)]
    pub(crate) compact: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Back an environment up while others use it: what has changed since the last backup
///
/// The first backup in a directory holds everything, the following ones only pages that have changed; each
/// holds one moment of the environment. Keep all files of the directory: each builds on the one before it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite env backup /var/lib/fulgurite --to /mnt/backup\n  fulgurite env backup --list /mnt/backup\n  fulgurite env backup --verify /mnt/backup"
)]
pub(crate) struct Backup {
    /// Directory of the environment, or its data file if that lies alone
    #[arg(value_name = "PATH", required_unless_present_any = ["list", "verify"])]
    pub(crate) path: Option<PathBuf>,
    /// Directory of the backups; made if it is missing
    #[arg(long, value_name = "DIR", required_unless_present_any = ["list", "verify"])]
    pub(crate) to: Option<PathBuf>,
    /// Write everything, whatever there is already
    #[arg(long)]
    pub(crate) full: bool,
    /// Say which backups are in a directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["path", "to", "full", "verify"])]
    pub(crate) list: Option<PathBuf>,
    /// Read all backups in a directory, and say whether they are as they were made
    #[arg(long, value_name = "DIR", conflicts_with_all = ["path", "to", "full"])]
    pub(crate) verify: Option<PathBuf>,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Make an environment again from backups
///
/// All that is read is compared with its digests, and what was restored is checked before it gets its name. Nothing is
/// overwritten.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite env restore /mnt/backup --to /var/lib/fulgurite --txn 4711"
)]
pub(crate) struct Restore {
    /// Directory of the backups
    #[arg(value_name = "DIR")]
    pub(crate) from: PathBuf,
    /// Directory of the new environment; made if it is missing
    #[arg(long, value_name = "PATH")]
    pub(crate) to: PathBuf,
    /// Restore the backup of this transaction [default: the newest]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) txn: Option<u64>,
    /// PATH is the data file itself, with its lock file beside it
    #[arg(long)]
    pub(crate) no_subdir: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Make an environment's file shorter while others use it
///
/// Pages at the end of the file are moved to free places before them, in small transactions between which others get
/// their turn; then the file is cut off. The environment is checked first. Where a process changes the file through
/// its map, the file keeps its length and gives its space back as a hole.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite env compact /var/lib/fulgurite --until 10G --wait 60"
)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub(crate) environment: EnvironmentPath,
    /// Stop when the file has this size, such as 10G [default: as short as it gets]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) until: Option<u64>,
    /// Wait so many seconds in all for readers that hold what is to be moved
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    pub(crate) wait: u64,
    /// Pause so many milliseconds after each transaction, for others
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pub(crate) pause: u64,
    /// Give free pages inside the file back to the file system too, as holes
    #[arg(long)]
    pub(crate) punch: bool,
    /// Show no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Which environment a tool is about.
#[derive(Debug, Args)]
pub(crate) struct EnvironmentPath {
    /// Directory of the environment, or its data file if that lies alone
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
}
