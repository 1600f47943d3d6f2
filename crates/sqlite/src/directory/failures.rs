//! Errors of a store in SQLite's form.

use fulgurite_schema::SchemaError;
use fulgurite_store::{OpenError, StoreError};
use rusqlite::{Error, ffi};

use crate::error::{engine, failure, open};

/// Converts an error of reading.
pub(super) fn store(error: StoreError) -> Error {
    match error {
        StoreError::Engine(error) => engine(error),
        StoreError::Damaged(_) => failure(ffi::SQLITE_CORRUPT, error.to_string()),
        _ => failure(ffi::SQLITE_ERROR, error.to_string()),
    }
}

/// Converts an error of opening.
pub(super) fn opening(error: OpenError) -> Error {
    match error {
        OpenError::Environment { source, .. } => open(source),
        OpenError::Read { source, .. } => store(source),
        OpenError::SchemaLacks { .. } => {
            let text = format!("{error}: fulgurite_directory(DIR, FILTER, BASE, SCHEMA)");
            failure(ffi::SQLITE_CANTOPEN, text)
        }
        _ => failure(ffi::SQLITE_CANTOPEN, error.to_string()),
    }
}

/// Converts an error of a schema file.
pub(super) fn schema(error: &SchemaError) -> Error {
    failure(ffi::SQLITE_CANTOPEN, error.to_string())
}
