//! Flags of `fulgurite replication`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    /// The server, without TLS
    #[arg(long, value_name = "URL", default_value = "ldap://127.0.0.1:389")]
    pub(crate) url: String,
    /// DN to bind as [default: anonymous]
    #[arg(long = "as", short = 'D', value_name = "DN")]
    pub(crate) subject: Option<String>,
    /// File with the password
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
