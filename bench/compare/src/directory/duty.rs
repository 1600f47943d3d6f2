//! The work of a server besides its answers.

/// The work of a server besides its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duty {
    Nothing,
    /// Flushes each commit before its answer.
    Durable,
    /// Writes a line about each operation to a file.
    Logging,
}
