//! Why a rule cannot be used.

use std::sync::Arc;

use thiserror::Error;

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}access rule {rule}, column {column}: {reason}", prefix(.origin))]
pub struct RuleError {
    /// Origin of the rule's text.
    pub origin: Arc<str>,
    /// Number of the rule, from 1.
    pub rule: usize,
    /// Column in its text, in characters from 1.
    pub column: usize,
    /// The reason, as a sentence.
    pub reason: String,
}

fn prefix(origin: &str) -> String {
    if origin.is_empty() {
        String::new()
    } else {
        format!("{origin}: ")
    }
}
