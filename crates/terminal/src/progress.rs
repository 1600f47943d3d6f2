//! A progress bar on standard error. Without a terminal there it stays silent.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Pages and their share of the whole.
const PAGES: &str = "{bar:30} {percent:>3}%  {pos} of {len} pages, {eta} left";
/// Bytes and their rate.
const BYTES: &str = "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
/// A message and the share of the whole.
const MESSAGE: &str = "{bar:30} {percent:>3}%  {msg}, {remaining} left";
/// A message where the whole is unknown.
const MESSAGE_ONLY: &str = "{spinner}  {msg}, {elapsed} so far";

/// A progress bar. It disappears when it is finished or dropped.
#[derive(Debug)]
pub struct TerminalBar {
    bar: ProgressBar,
}

impl TerminalBar {
    /// Makes a bar that counts pages.
    #[must_use]
    pub fn of_pages(shown: bool) -> TerminalBar {
        TerminalBar::new(shown, PAGES)
    }

    /// Makes a bar that counts bytes.
    #[must_use]
    pub fn of_bytes(shown: bool) -> TerminalBar {
        TerminalBar::new(shown, BYTES)
    }

    /// Makes a bar that shows messages.
    #[must_use]
    pub fn of_messages(shown: bool) -> TerminalBar {
        TerminalBar::new(shown, MESSAGE_ONLY)
    }

    fn new(shown: bool, template: &str) -> TerminalBar {
        let target = if shown && std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = TerminalBar {
            bar: ProgressBar::with_draw_target(None, target),
        };
        bar.set_template(template);
        bar
    }

    /// Shows how much of how much is done.
    pub fn update(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Shows how much is done of an unknown whole.
    pub fn update_done(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Shows a message, with the share of the whole if `has_share`.
    pub fn show_share(&self, has_share: bool) {
        self.set_template(if has_share { MESSAGE } else { MESSAGE_ONLY });
    }

    /// Replaces the message.
    pub fn set_message(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Returns the seconds since the bar was made.
    #[must_use]
    pub fn elapsed_seconds(&self) -> f64 {
        self.bar.elapsed().as_secs_f64()
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn set_template(&self, template: &str) {
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key(
                "remaining",
                |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{}s", state.eta().as_secs());
                },
            );
        self.bar.set_style(style);
    }
}

impl Drop for TerminalBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
