//! The ways in which a tool fails.

/// A failure of a tool.
#[derive(Debug)]
pub(super) enum Failure {
    /// A wrong command line: prints the usage, status 1.
    Usage,
    /// The tool has printed its messages; the status.
    Reported(u8),
    /// A sentence to print after the tool's name, status 1.
    Message(String),
}

/// Returns the system's message without the error number.
pub(super) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}
