//! How far a tool is.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far a tool is that reads or writes octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Octets done.
    pub done: u64,
    /// Octets there are to do, as far as is known.
    pub total: u64,
}

/// Fewer pages are done before a bar could be read.
const PAGES_MIN: u64 = 50_000;

/// A bar on the terminal that counts pages. Without a terminal on standard error it stays silent, and for small files.
pub(crate) struct PageBar {
    bar: ProgressBar,
}

impl PageBar {
    pub(crate) fn new(shown: bool) -> PageBar {
        let target = match shown && std::io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let style = ProgressStyle::with_template(
            "{bar:30} {percent:>3}%  {pos} of {len} pages, {eta} left",
        );
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = style {
            bar.set_style(style);
        }
        PageBar { bar }
    }

    pub(crate) fn update(&self, done: u64, pages: u64) {
        if pages >= PAGES_MIN {
            self.bar.set_length(pages);
            self.bar.set_position(done);
        }
    }
}

impl Drop for PageBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
