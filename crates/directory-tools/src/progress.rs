//! How far a long run is.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// What a load is doing.
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
    /// What it is doing.
    pub phase: Phase,
    /// Entries read.
    pub entries: u64,
    /// Bytes of input read.
    pub bytes: u64,
    /// Bytes of input in all; `None` when one of the inputs is a stream.
    pub bytes_total: Option<u64>,
}

/// A bar on the terminal: entries, rate, remaining time. Without a terminal on standard error it stays silent.
pub struct TerminalBar {
    bar: ProgressBar,
    phase: Phase,
}

impl Default for TerminalBar {
    fn default() -> TerminalBar {
        TerminalBar::new()
    }
}

impl TerminalBar {
    /// A bar that appears with the first [`update`](Self::update).
    #[must_use]
    pub fn new() -> TerminalBar {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        TerminalBar {
            bar: ProgressBar::with_draw_target(None, target),
            phase: Phase::Reading,
        }
    }

    /// Shows how far the load is.
    pub fn update(&mut self, progress: Progress) {
        let first = self.bar.position() == 0;
        if first || progress.phase != self.phase {
            self.phase = progress.phase;
            self.bar.set_style(style(progress));
        }
        if let Some(total) = progress.bytes_total {
            self.bar.set_length(total);
        }
        self.bar.set_position(progress.bytes);
        self.bar
            .set_message(message(progress, self.bar.elapsed().as_secs_f64()));
    }

    /// Takes the bar away.
    pub fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl std::fmt::Debug for TerminalBar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalBar").finish_non_exhaustive()
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

fn style(progress: Progress) -> ProgressStyle {
    let reading = progress.phase == Phase::Reading;
    let template = match progress.bytes_total {
        Some(_) if reading => "{bar:30} {percent:>3}%  {msg}, {remaining} left",
        _ => "{spinner}  {msg}, {elapsed} so far",
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "remaining",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{}s", state.eta().as_secs());
            },
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_is_going_on() {
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
