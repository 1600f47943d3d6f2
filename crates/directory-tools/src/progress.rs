//! How far a long run is.

use fulgurite_terminal::progress::TerminalBar;

/// The phase of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reading and checking entries.
    Reading,
    /// Writing the tree of names.
    Names,
    /// Writing the indexes.
    Indexes,
    /// Committing.
    Commit,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase.
    pub phase: Phase,
    /// Entries read.
    pub entries: u64,
    /// Bytes of input read.
    pub bytes: u64,
    /// Bytes of input in all; `None` when one of the inputs is a stream.
    pub bytes_total: Option<u64>,
}

/// A bar on the terminal: entries, rate, remaining time.
#[derive(Debug)]
pub struct LoadBar {
    bar: TerminalBar,
    /// The phase that the bar shows, once it shows one.
    phase: Option<Phase>,
}

impl Default for LoadBar {
    fn default() -> LoadBar {
        LoadBar::new()
    }
}

impl LoadBar {
    /// Makes a bar that appears with the first [`update`](Self::update).
    #[must_use]
    pub fn new() -> LoadBar {
        LoadBar {
            bar: TerminalBar::of_messages(true),
            phase: None,
        }
    }

    /// Shows the progress of the load.
    pub fn update(&mut self, progress: Progress) {
        if self.phase != Some(progress.phase) {
            self.phase = Some(progress.phase);
            let is_reading = progress.phase == Phase::Reading;
            self.bar
                .show_share(is_reading && progress.bytes_total.is_some());
        }
        match progress.bytes_total {
            Some(total) => self.bar.update(progress.bytes, total),
            None => self.bar.update_done(progress.bytes),
        }
        self.bar
            .set_message(message(progress, self.bar.elapsed_seconds()));
    }

    /// Removes the bar.
    pub fn finish(&mut self) {
        self.bar.finish();
    }
}

fn message(progress: Progress, seconds: f64) -> String {
    let entries = progress.entries;
    match progress.phase {
        Phase::Reading => format!("{entries} entries, {:.0}/s", rate(entries, seconds)),
        Phase::Names => format!("{entries} entries read; writing names"),
        Phase::Indexes => format!("{entries} entries read; writing indexes"),
        Phase::Commit => format!("{entries} entries read; committing"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(entries: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        entries as f64 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_phase() {
        let progress = |phase| Progress {
            phase,
            entries: 1000,
            bytes: 5,
            bytes_total: Some(10),
        };
        assert_eq!(
            message(progress(Phase::Reading), 2.0),
            "1000 entries, 500/s"
        );
        assert_eq!(message(progress(Phase::Reading), 0.0), "1000 entries, 0/s");
        assert_eq!(
            message(progress(Phase::Indexes), 9.0),
            "1000 entries read; writing indexes"
        );
    }
}
