//! Flags of commands that ask a running server: the way to it, and the form of the output.

use std::path::PathBuf;

use clap::Args;

/// The way to a server, and the identity there.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerFlags {
    /// URL of the server [default: a socket of this machine, otherwise ldap://localhost]
    #[arg(short = 'H', long, value_name = "URL", env = "LDAPURI")]
    pub(crate) url: Option<String>,
    /// DN to bind as [default: the system's user at a socket, otherwise anonymous]
    #[arg(short = 'D', long = "as", value_name = "DN")]
    pub(crate) subject: Option<String>,
    /// File with the password of --as
    #[arg(
        short = 'y',
        long,
        value_name = "FILE",
        requires = "subject",
        conflicts_with = "ask_password"
    )]
    pub(crate) password_file: Option<PathBuf>,
    /// Ask for the password of --as, as without --password-file
    #[arg(short = 'W', long, requires = "subject")]
    pub(crate) ask_password: bool,
    /// SASL mechanism; EXTERNAL is the default at a socket
    #[arg(
        short = 'Y',
        long,
        value_name = "NAME",
        conflicts_with = "subject",
        value_parser = ["EXTERNAL"],
        ignore_case = true
    )]
    pub(crate) mechanism: Option<String>,
    /// Begin TLS by StartTLS, and fail without it
    #[arg(short = 'Z', long)]
    pub(crate) start_tls: bool,
    /// File of the authorities that the server's certificate needs [default: those of the system]
    #[arg(long, value_name = "FILE", env = "LDAPTLS_CACERT")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Accept any certificate of the server
    #[arg(long)]
    pub(crate) tls_insecure: bool,
    /// Seconds to wait for the server
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: u64,
}

/// The suffix that a command works below.
#[derive(Debug, Clone, Args)]
pub(crate) struct BaseFlag {
    /// The suffix of the directory [default: the only one that the server names]
    #[arg(short, long, value_name = "DN", env = "LDAPBASE")]
    pub(crate) base: Option<String>,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FormatFlags {
    /// Write JSON, one object on a line
    #[arg(long, group = "format")]
    pub(crate) json: bool,
    /// Write CSV, with several values of an attribute separated by |
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// Write LDIF
    #[arg(long, group = "format")]
    pub(crate) ldif: bool,
}
