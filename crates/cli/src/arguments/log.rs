//! Flags of `fulgurite log`.

use clap::{Args, Subcommand, ValueEnum};

use super::server::ServerFlags;

/// Change the log of a running server
///
/// It changes olcLogLevel in cn=config, so the server needs a configuration directory (slapd -F).
/// With a file, change `log.level` or `log.operations` there and send SIGHUP.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  fulgurite log operations on\n  fulgurite log level debug"
)]
pub(crate) struct Log {
    #[command(subcommand)]
    pub(crate) change: LogChange,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogChange {
    /// Log a line for each operation, or none
    Operations {
        /// The new state
        state: Switch,
        #[command(flatten)]
        server: ServerFlags,
    },
    /// Set the least important messages that are logged
    Level {
        /// The new level
        level: LiveLevel,
        #[command(flatten)]
        server: ServerFlags,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// A level that olcLogLevel can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveLevel {
    Info,
    Debug,
    Trace,
}
