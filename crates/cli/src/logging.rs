//! Where the events of the library crates go: standard error, a file, the system's log.
//!
//! ```text
//!   events            --level-->       terminal or file      2026-11-21T10:00:00Z  INFO serving ...
//!   operations' lines --yes or no-->   system's log          <167>Nov 21 10:00:00 slapd[4711]: conn=1000 op=0 ...
//! ```
//!
//! Each place chooses for itself. Operations have lines of the target `operation`, which are not a matter of levels.

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

/// Target of the lines that name each operation.
const OPERATION: &str = "operation";

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// What a place gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Events up to this level.
    pub(crate) level: LogLevel,
    /// Whether each operation has its line.
    pub(crate) operations: bool,
}

/// Where events go, and which.
#[derive(Debug, Default)]
pub(crate) struct Places {
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
    let places = Places {
        terminal,
        ..Places::default()
    };
    // Only a file can fail.
    let _ = begin_at(places);
}

/// Sends events to several places.
///
/// # Errors
/// The system's, where the file cannot be opened.
pub(crate) fn begin_at(places: Places) -> io::Result<()> {
    let mut layers: Vec<BoxedLayer> = Vec::new();
    if let Some(selection) = places.terminal {
        let layer = fmt::layer()
            .with_target(false)
            .with_ansi(io::stderr().is_terminal())
            .with_writer(io::stderr);
        layers.push(layer.with_filter(filter(selection)).boxed());
    }
    if let Some((path, selection)) = places.file {
        let layer = fmt::layer()
            .with_target(false)
            .with_ansi(false)
            .with_writer(file::open(path)?);
        layers.push(layer.with_filter(filter(selection)).boxed());
    }
    if let Some((log, selection)) = places.system
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
