//! Why a schema cannot be built.

use std::path::PathBuf;

use thiserror::Error;

use crate::definition::Location;

/// Why a schema cannot be built.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// The file cannot be read.
    #[error("cannot read schema file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A definition is wrong.
    #[error("{origin}:{line}: {reason}")]
    Definition {
        /// File name, or the name of a built-in part.
        origin: String,
        /// Line on which the definition starts, from 1.
        line: usize,
        /// The reason, as a sentence.
        reason: String,
    },
}

impl SchemaError {
    /// Returns the error for a definition.
    pub(super) fn at(location: &Location, reason: String) -> SchemaError {
        SchemaError::Definition {
            origin: location.origin.to_string(),
            line: location.line,
            reason,
        }
    }
}
