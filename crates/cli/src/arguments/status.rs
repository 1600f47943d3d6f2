//! Flags of `fulgurite status`.

use std::path::PathBuf;

use clap::Args;

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
    pub(crate) server: ServerAddress,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The way to a running server, and the identity there
#[derive(Debug, Default, Args)]
pub(crate) struct ServerAddress {
    /// The server, without TLS, by ldapi:// or ldap:// [default: the socket of this machine's
    /// server, then ldap://localhost]
    #[arg(long, short = 'H', value_name = "URL", env = "LDAPURI")]
    pub(crate) url: Option<String>,
    /// DN to bind as [default: the system's user at a socket, otherwise anonymous]
    #[arg(
        long = "as",
        short = 'D',
        value_name = "DN",
        requires = "password_file"
    )]
    pub(crate) subject: Option<String>,
    /// File with the password
    #[arg(long, short = 'y', value_name = "FILE", requires = "subject")]
    pub(crate) password_file: Option<PathBuf>,
}
