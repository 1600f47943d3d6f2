//! The result of a check.

/// Number of problems described at most.
const PROBLEMS_MAX: usize = 100;

/// The result of `verify`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of entries read.
    pub entries: u64,
    /// Number of their postings.
    pub postings: u64,
    /// The first hundred problems, one sentence each.
    pub problems: Vec<String>,
}

impl Report {
    /// Returns true if there is no problem.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn problem(&mut self, text: impl FnOnce() -> String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(text());
        }
    }
}
