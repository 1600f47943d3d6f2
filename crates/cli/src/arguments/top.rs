//! Flags of `fulgurite top`.

use std::time::Duration;

use clap::Args;

use super::env::parse_interval;
use super::server::ServerFlags;

/// Watch a running server: its operations and its clients, from its cn=Monitor
///
/// On a terminal each report replaces the previous one; otherwise it is appended. Rates are those
/// of one interval. The clients that got most answers come first, then those that wait for one.
/// Below them are the operations that have lasted for half a second. Searches that lack an index or
/// took long come last, with their plans. The server needs `monitor = true`, and rules that let the
/// identity read cn=Monitor. To cancel or to close needs the right `write`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fulgurite top\n  fulgurite top -H ldap://127.0.0.1:3890 -D cn=admin,dc=example,dc=com -y FILE --once --json\n  fulgurite top --cancel 7/5"
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
    /// Clients, lasting operations and slow searches to show at most, of each
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) clients: usize,
    /// Cancel an operation, named as in the report, and show nothing
    #[arg(long, value_name = "CLIENT/OPERATION", value_parser = parse_operation)]
    pub(crate) cancel: Option<(u64, u32)>,
    /// Close the connection of a client, and show nothing
    #[arg(long, value_name = "CLIENT", conflicts_with = "cancel")]
    pub(crate) close: Option<u64>,
}

/// Reads the numbers of a connection and of its operation.
fn parse_operation(text: &str) -> Result<(u64, u32), String> {
    let numbers = text
        .split_once('/')
        .and_then(|(client, operation)| Some((client.parse().ok()?, operation.parse().ok()?)));
    numbers.ok_or_else(|| "write CLIENT/OPERATION, such as 7/5".to_owned())
}
