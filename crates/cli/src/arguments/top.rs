//! Flags of `fulgurite top`.

use std::time::Duration;

use clap::Args;

use super::env::parse_interval;
use super::server::ServerFlags;

/// Watch a running server: its operations and its clients, from its cn=Monitor
///
/// On a terminal each report replaces the previous one; otherwise it is appended. Rates are those
/// of one interval. The clients that got most answers come first, then those that wait for one. The
/// server needs `monitor = true`, and rules that let the identity read cn=Monitor.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite top\n  fulgurite top -H ldap://127.0.0.1:3890 -D cn=admin,dc=example,dc=com -y FILE --once --json"
)]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) server: ServerFlags,
    /// Seconds between reports
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_interval)]
    pub(crate) interval: Duration,
    /// Write one report, after one interval
    #[arg(long)]
    pub(crate) once: bool,
    /// Write JSON, one object a line for each report
    #[arg(long)]
    pub(crate) json: bool,
    /// Clients to show at most
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) clients: usize,
}
