//! The destinations of log events: standard error, a file, the system's log.
//!
//! ```text
//!   events            --level-->      terminal or file    2026-11-21T10:00:00Z  INFO serving ...
//!   operations' lines --yes or no-->  system's log        <167>Nov 21 10:00:00 slapd[4711]: conn=...
//! ```
//!
//! Each destination has its own level. Lines about operations have the target `operation` and
//! depend on no level.

mod file;
mod syslog;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use fulgurite_config::LogLevel;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry, fmt};

pub(crate) use file::reopen;
pub(crate) use syslog::{Facility, SystemLog, facility};

/// The tracing target of lines about operations.
const OPERATION: &str = "operation";

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The events that a destination gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Events up to this level.
    pub(crate) level: LogLevel,
    /// Log each operation.
    pub(crate) operations: bool,
}

/// The destinations and their events.
#[derive(Debug, Default)]
pub(crate) struct Destinations {
    pub(crate) terminal: Option<Selection>,
    pub(crate) file: Option<(PathBuf, Selection)>,
    pub(crate) system: Option<(SystemLog, Selection)>,
}

/// Sends events up to `level` to standard error.
pub(crate) fn begin(level: LogLevel) {
    let terminal = Some(Selection {
        level,
        operations: true,
    });
    let destinations = Destinations {
        terminal,
        ..Destinations::default()
    };
    // Only a file can fail to open.
    let _ = begin_with(destinations);
}

/// Sends events to several destinations.
///
/// # Errors
/// Errors of the system when the file fails to open.
pub(crate) fn begin_with(destinations: Destinations) -> io::Result<()> {
    let mut layers: Vec<BoxedLayer> = Vec::new();
    if let Some(selection) = destinations.terminal {
        let layer = fmt::layer()
            .with_target(false)
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr);
        layers.push(layer.with_filter(filter(selection)).boxed());
    }
    if let Some((path, selection)) = destinations.file {
        let layer = fmt::layer()
            .with_target(false)
            .with_ansi(false)
            .with_writer(file::open(path)?);
        layers.push(layer.with_filter(filter(selection)).boxed());
    }
    if let Some((log, selection)) = destinations.system
        && let Some(writer) = log.open()
    {
        // The system's log has its own times and severities.
        let layer = fmt::layer()
            .with_target(false)
            .with_ansi(false)
            .with_level(false)
            .without_time()
            .with_writer(writer);
        layers.push(layer.with_filter(filter(selection)).boxed());
    }
    tracing_subscriber::registry().with(layers).init();
    Ok(())
}

fn filter(selection: Selection) -> FilterFn<impl Fn(&Metadata<'_>) -> bool> {
    let level = match selection.level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let operations = selection.operations;
    let wanted = move |event: &Metadata<'_>| match event.target() {
        OPERATION => operations,
        _ => *event.level() <= level,
    };
    let most = if operations {
        level.max(LevelFilter::INFO)
    } else {
        level
    };
    FilterFn::new(wanted).with_max_level_hint(most)
}
