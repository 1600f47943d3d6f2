//! The destinations of log events: standard error, a file, the system's log.
//!
//! ```text
//!   events            --level-->      terminal or file    2026-11-21T10:00:00Z  INFO serving ...
//!                                     or JSON             {"time":"2026-11-21T10:00:00Z","level": ...
//!   operations' lines --yes or no-->  system's log        <167>Nov 21 10:00:00 slapd[4711]: conn=...
//! ```
//!
//! Each destination has its own level, which a running server may change. Lines about operations
//! have the target `operation` and depend on no level.

mod channel;
mod fields;
mod file;
mod format;
mod syslog;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use fulgurite_config::{LogFormat, LogLevel};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry, fmt};

use self::channel::{FILE, SYSTEM, TERMINAL};

pub(crate) use channel::Selection;
pub(crate) use file::reopen;
pub(crate) use syslog::{Facility, SystemLog, facility};

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The destinations and their events.
#[derive(Debug, Default)]
pub(crate) struct Destinations {
    pub(crate) format: LogFormat,
    pub(crate) terminal: Option<Selection>,
    pub(crate) file: Option<(PathBuf, Selection)>,
    pub(crate) system: Option<(SystemLog, Option<Selection>)>,
}

/// The events that destinations get from now on.
#[derive(Debug, Default)]
pub(crate) struct Selections {
    pub(crate) format: LogFormat,
    pub(crate) terminal: Option<Selection>,
    pub(crate) file: Option<(PathBuf, Selection)>,
    pub(crate) system: Option<Selection>,
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
    format::set(destinations.format);
    TERMINAL.select(destinations.terminal);
    let layer = fmt::layer()
        .event_format(format::Lines::new())
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    layers.push(layer.with_filter(&TERMINAL).boxed());
    let (path, selection) = destinations.file.unzip();
    file::open(path)?;
    FILE.select(selection);
    let layer = fmt::layer()
        .event_format(format::Lines::new())
        .with_ansi(false)
        .with_writer(file::LogFile);
    layers.push(layer.with_filter(&FILE).boxed());
    if let Some((log, selection)) = destinations.system
        && let Some(writer) = log.open()
    {
        SYSTEM.select(selection);
        // The system's log has its own times and severities.
        let layer = fmt::layer()
            .with_target(false)
            .with_ansi(false)
            .with_level(false)
            .without_time()
            .with_writer(writer);
        layers.push(layer.with_filter(&SYSTEM).boxed());
    }
    tracing_subscriber::registry().with(layers).init();
    Ok(())
}

/// Changes the events of the destinations, and the file.
///
/// # Errors
/// Errors of the system when the file fails to open. Then the old file gets the events.
pub(crate) fn change(selections: Selections) -> io::Result<()> {
    let (path, selection) = selections.file.unzip();
    let opened = file::open(path);
    format::set(selections.format);
    if opened.is_ok() {
        TERMINAL.select(selections.terminal);
        FILE.select(selection);
    }
    SYSTEM.select(selections.system);
    tracing::callsite::rebuild_interest_cache();
    opened
}
