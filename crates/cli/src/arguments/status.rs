//! Flags of `fulgurite status`.

use clap::Args;

use super::server::ServerFlags;

/// Show the state of a running server on one screen, from its cn=Monitor
///
/// The server needs `monitor = true`, and rules that let the identity read cn=Monitor. At a socket
/// of this machine the identity is the system's user. Exit status: 0 all is well, 1 there are
/// warnings, 2 the server cannot be asked.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite status\n  fulgurite status --url ldap://127.0.0.1:3890 --as cn=admin,dc=example,dc=com \\\n      --password-file /etc/fulgurite/password --json"
)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
