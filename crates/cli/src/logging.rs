//! Events of the library crates as lines on standard error.

use std::io::{self, IsTerminal as _};

use fulgurite_config::LogLevel;
use tracing::level_filters::LevelFilter;

/// Sends events up to `level` to standard error.
pub(crate) fn begin(level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
}
