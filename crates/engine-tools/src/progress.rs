//! The progress of a tool.

use fulgurite_terminal::progress::TerminalBar;

/// The progress of a tool that reads or writes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes done.
    pub done: u64,
    /// Bytes to do, as far as is known.
    pub total: u64,
}

/// The pages of the smallest file that has a bar. A smaller one is done before a bar could be read.
const PAGES_MIN: u64 = 50_000;

/// A bar on the terminal that counts pages.
pub(crate) struct PageBar(TerminalBar);

impl PageBar {
    pub(crate) fn new(shown: bool) -> PageBar {
        PageBar(TerminalBar::of_pages(shown))
    }

    pub(crate) fn update(&self, done: u64, pages: u64) {
        if pages >= PAGES_MIN {
            self.0.update(done, pages);
        }
    }
}
