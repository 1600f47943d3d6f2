//! Why a rule cannot be used.

use std::sync::Arc;

use thiserror::Error;

/// Why a rule cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}access rule {rule}, column {column}: {reason}", prefix(.origin))]
pub struct RuleError {
    /// Where the rule was written.
    pub origin: Arc<str>,
    /// Which rule, from 1.
    pub rule: usize,
    /// Where in its text, in characters from 1.
    pub column: usize,
    /// What is wrong there.
    pub reason: String,
}

fn prefix(origin: &str) -> String {
    if origin.is_empty() {
        String::new()
    } else {
        format!("{origin}: ")
    }
}
