//! Flags of `fulgurite check`.

use std::path::PathBuf;

use clap::Args;

/// Check an environment for damage, and salvage what a damaged one still holds
///
/// Looks at every page of the newest snapshot: numbers, kinds, bounds, the order of keys and of values, separators,
/// counts, long values, duplicates, the free list, and whether each page is used exactly once; then at what the snapshot
/// before has to itself. The bytes of keys and values are not protected by the format and cannot be checked.
///
/// Works on a directory's store, and on any environment of LMDB 0.9, also while other programs write to it: a reader slot
/// holds the snapshot. Nothing is changed but that slot; without a lock file, or where it cannot be written, the check
/// does without and says so.
///
/// Exit status: 0 nothing is wrong, 1 something is, 2 it could not be checked. With --repair: 0 everything came
/// through, 1 something is missing or older than it should be, 2 nothing could be salvaged.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite check /var/lib/fulgurite\n  fulgurite check --any-order dn2id /var/lib/ldap\n  fulgurite check --json backup/data.mdb\n  fulgurite check --repair /var/tmp/salvaged /var/lib/fulgurite\n\n--repair writes what belongs nowhere to lost+found.dump in the new directory, as text that mdb_load reads."
)]
pub(crate) struct Check {
    /// Directory of the environment, or its data file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Write what can be salvaged into a new environment in this directory; PATH is only read
    ///
    /// Records of the newest snapshot come first. For what it has lost, pages whose owner is damaged are given to the
    /// one place they fit, and the snapshot before is asked. Each range of keys in which something is missing, or
    /// came from elsewhere, is listed.
    #[arg(long, value_name = "OUT")]
    pub(crate) repair: Option<PathBuf>,
    /// Do not judge the order of keys and values in this database; `main` is the main one. Repeatable
    ///
    /// For programs that set an order of their own, which the file does not record: slapd does so for the values of
    /// dn2id.
    #[arg(long, value_name = "DATABASE")]
    pub(crate) any_order: Vec<String>,
    /// Do not judge the order of any database
    #[arg(long)]
    pub(crate) any_order_everywhere: bool,
    /// Check this snapshot, which must be one of the two that the file holds, in place of the newest
    #[arg(long, value_name = "TRANSACTION", conflicts_with = "repair")]
    pub(crate) snapshot: Option<u64>,
    /// Write one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write only what is wrong, and show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
