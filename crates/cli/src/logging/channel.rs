//! The events that each destination gets at present.

use std::sync::atomic::{AtomicU8, Ordering};

use fulgurite_config::LogLevel;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing_subscriber::layer::{Context, Filter};

/// The events that a destination gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Events up to this level.
    pub(crate) level: LogLevel,
    /// Log each operation.
    pub(crate) operations: bool,
}

/// The tracing target of lines about operations.
pub(super) const OPERATION: &str = "operation";

/// The bit of lines about operations. The lower bits are the level, and 0 is no level.
const OPERATIONS: u8 = 0x80;

/// Standard error.
pub(super) static TERMINAL: Channel = Channel(AtomicU8::new(0));
/// The file of the log.
pub(super) static FILE: Channel = Channel(AtomicU8::new(0));
/// The system's log.
pub(super) static SYSTEM: Channel = Channel(AtomicU8::new(0));

/// A destination's filter, which can change at any time.
pub(super) struct Channel(AtomicU8);

impl Channel {
    /// Sets the events; `None` for no event at all.
    ///
    /// After the first event, `tracing::callsite::rebuild_interest_cache` puts it in force.
    pub(super) fn select(&self, selection: Option<Selection>) {
        let packed = selection.map_or(0, |selection| {
            let level = match selection.level {
                LogLevel::Error => 1,
                LogLevel::Warn => 2,
                LogLevel::Info => 3,
                LogLevel::Debug => 4,
                LogLevel::Trace => 5,
            };
            level | if selection.operations { OPERATIONS } else { 0 }
        });
        self.0.store(packed, Ordering::Relaxed);
    }

    fn level(&self) -> LevelFilter {
        match self.0.load(Ordering::Relaxed) & !OPERATIONS {
            0 => LevelFilter::OFF,
            1 => LevelFilter::ERROR,
            2 => LevelFilter::WARN,
            3 => LevelFilter::INFO,
            4 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        }
    }

    fn has_operations(&self) -> bool {
        self.0.load(Ordering::Relaxed) & OPERATIONS != 0
    }

    fn wants(&self, event: &Metadata<'_>) -> bool {
        match event.target() {
            OPERATION => self.has_operations(),
            _ => *event.level() <= self.level(),
        }
    }
}

impl<S> Filter<S> for &'static Channel {
    fn enabled(&self, event: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.wants(event)
    }

    fn callsite_enabled(&self, event: &'static Metadata<'static>) -> Interest {
        match self.wants(event) {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match self.has_operations() {
            true => self.level().max(LevelFilter::INFO),
            false => self.level(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_level_and_operations() {
        let channel = Channel(AtomicU8::new(0));
        let select = |level, operations| Some(Selection { level, operations });
        assert_eq!(channel.level(), LevelFilter::OFF);
        channel.select(select(LogLevel::Warn, true));
        assert_eq!(channel.level(), LevelFilter::WARN);
        assert!(channel.has_operations());
        channel.select(select(LogLevel::Trace, false));
        assert_eq!(channel.level(), LevelFilter::TRACE);
        assert!(!channel.has_operations());
        channel.select(None);
        assert_eq!(channel.level(), LevelFilter::OFF);
    }
}
