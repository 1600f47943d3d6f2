//! Flags of `fulgurite check`.

use std::path::PathBuf;

use clap::Args;

use super::tools::ConfigFlags;

/// Check an environment for damage, and salvage the data of a damaged one
///
/// Checks every page of the newest snapshot, then the pages that only the previous snapshot uses.
/// The check covers page numbers, kinds and bounds, the order of keys and values, separators and
/// counts. It also covers overflow pages, duplicates and the free list, and that each page has
/// exactly one use. The file format has no checksums, so this part cannot find changed bytes inside
/// keys and values.
///
/// In a store of a directory, the check then reads every entry. It compares them with the tree of
/// names, the counts and each index, and the log of changes with itself. This needs memory for each
/// posting of an index. The schema is that of --config, -f or -F, or of slapd's installed
/// configuration with this directory. Without these it has all built-in definitions. --pages-only
/// leaves this part out.
///
/// Works on a directory's store and on any environment of LMDB 0.9, while other programs may write
/// to it. The check takes a reader slot and changes nothing else. If the lock file is missing or
/// not writable, the check warns and continues without a slot.
///
/// Exit status: 0 no damage, 1 damage, 2 the check failed. With --repair: 0 all data was salvaged,
/// 1 some data is missing or out of date, 2 nothing was salvaged.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite check /var/lib/fulgurite\n  fulgurite check --any-order dn2id /var/lib/ldap\n  fulgurite check --json backup/data.mdb\n  fulgurite check --repair /var/tmp/salvaged /var/lib/fulgurite\n\n--repair writes what belongs nowhere to lost+found.dump in the new directory, as text that mdb_load reads."
)]
pub(crate) struct Check {
    /// Directory of the environment, or its data file
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Write the salvaged data into a new environment in this directory; PATH is only read
    ///
    /// Takes records of the newest snapshot first. For lost records, it uses pages without an
    /// intact parent where they fit, and then the previous snapshot. The report lists each range of
    /// keys with missing or replaced records.
    #[arg(long, value_name = "OUT")]
    pub(crate) repair: Option<PathBuf>,
    /// Skip the check of order in this database; `main` is the main database. Repeatable
    ///
    /// For programs that set their own comparison functions, which the file does not record. slapd
    /// does so for the values of dn2id.
    #[arg(long, value_name = "DATABASE")]
    pub(crate) any_order: Vec<String>,
    /// Skip the check of order in all databases
    #[arg(long)]
    pub(crate) any_order_everywhere: bool,
    /// Check this snapshot instead of the newest; it must be one of the two in the file
    #[arg(long, value_name = "TRANSACTION", conflicts_with = "repair")]
    pub(crate) snapshot: Option<u64>,
    /// Check no entries of a store, only pages
    #[arg(long)]
    pub(crate) pages_only: bool,
    #[command(flatten)]
    pub(crate) config: ConfigFlags,
    /// Write one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write only damage, and show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
