//! Flags of `fulgurite migrate`.

use std::path::PathBuf;

use clap::Args;

/// Take over an OpenLDAP server: report what will differ, copy its data, write its configuration
///
/// Without --to, the command only reports. Each line of the report begins with `works`, `differs`,
/// `left out` or `missing`. The server starts only if nothing is missing.
///
/// With --to, it copies each database into a new store, and compares both entry by entry. Then it
/// writes slapd's configuration with the new directories. It changes nothing of OpenLDAP, whose
/// server may run. The copy has the state of one moment, so stop the server before the last run.
///
/// Exit status: 1 if something is missing without --leave-out-missing, or if entries differ.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite migrate -F /etc/ldap/slapd.d\n  fulgurite migrate -F /etc/ldap/slapd.d --to /var/lib/fulgurite"
)]
pub(crate) struct Migrate {
    /// Configuration directory of slapd [default: that of the installed slapd]
    #[arg(short = 'F', long = "slapd-dir", value_name = "DIR")]
    pub(crate) slapd_dir: Option<PathBuf>,
    /// Configuration file of slapd
    #[arg(
        short = 'f',
        long = "slapd-conf",
        value_name = "FILE",
        conflicts_with = "slapd_dir"
    )]
    pub(crate) slapd_conf: Option<PathBuf>,
    /// Directory of OpenLDAP's data, if it is not the configured one. For a single database
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<PathBuf>,
    /// Make the new server here: slapd.d, db1, db2 and so on, which must not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Write the new configuration as fulgurite.toml with comments, not as slapd.d. LDAP clients
    /// cannot change it then
    #[arg(long)]
    pub(crate) toml: bool,
    /// Go on without what is missing
    #[arg(long)]
    pub(crate) leave_out_missing: bool,
    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
