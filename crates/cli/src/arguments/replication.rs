//! Flags of `fulgurite replication`.

use clap::{Args, Subcommand};

use super::server::ServerFlags;
use crate::flags::{OfChange, SettingFlags};

/// Look after copies of other servers' databases
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Replication {
    #[command(subcommand)]
    pub(crate) question: ReplicationAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReplicationAction {
    Status(Status),
    Conflicts(Conflicts),
    Check(Check),
}

/// Show the consumers of a running server, from its cn=Monitor
///
/// Exit status: 0 all consumers follow their providers, 1 some do not at the moment. It is 2 if
/// some have given up or have entries in the quarantine.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite replication status --url ldap://127.0.0.1:3890 --as cn=admin,dc=example,dc=com \\\n      --password-file /etc/fulgurite/password"
)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show changes that the merge of several providers did not keep, as LDIF
///
/// Reads the store, also while a server runs. Comments tell time, kind and numbers of a conflict;
/// the record behind them has the values that lost. The report has 90 days and 16 MiB.
///
/// With --restore, the command sends a modify, or an add if the entry is gone. It needs the rights
/// for it, as any client does.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite replication conflicts --data /var/lib/fulgurite --since 20260101\n  fulgurite replication conflicts --data /var/lib/fulgurite --restore 7 --dry-run \\\n      --as cn=admin,dc=example,dc=com --password-file /etc/fulgurite/password"
)]
pub(crate) struct Conflicts {
    #[command(flatten)]
    pub(crate) flags: SettingFlags<OfChange>,
    /// Conflicts since a time: 20260131235959Z, or the beginning of one
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Conflicts of an entry and of those below it
    #[arg(long, value_name = "DN")]
    pub(crate) dn: Option<String>,
    /// Write JSON, one object on a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Bring back the values that lost in the conflict of this id, by an update of the server
    #[arg(long, value_name = "ID", conflicts_with_all = ["since", "dn", "json"])]
    pub(crate) restore: Option<u64>,
    /// Show that update, and do nothing
    #[arg(long, requires = "restore")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) server: ServerFlags,
}

/// Compare the contents of two servers over LDAP, one of which may be slapd
///
/// Reads entryUUID and entryCSN of each entry. Both servers have to be in the same state
/// (contextCSN). Exit status: 0 equal, 1 different, 2 nothing could be compared.
///
/// A repair makes a change without effect at the server with the greater entryCSN, and replication
/// does the rest. It waits for that, and compares again. The flags of the server are those of both.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite replication check --url ldap://one --peer ldap://two --base dc=example,dc=com \\\n      --as cn=admin,dc=example,dc=com --password-file /etc/fulgurite/password"
)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// The other server
    #[arg(long, value_name = "URL")]
    pub(crate) peer: String,
    /// The suffix of the database
    #[arg(long, short, value_name = "DN")]
    pub(crate) base: String,
    /// Make entries equal that differ
    #[arg(long)]
    pub(crate) repair: bool,
    /// Only show the changes that a repair would make
    #[arg(long)]
    pub(crate) dry_run: bool,
}
