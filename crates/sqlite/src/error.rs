//! Errors in SQLite's form: a result code and a sentence.

use fulgurite::OpenError;
use rusqlite::{Error, ffi};

/// A result in SQLite's form.
pub(crate) type Result<T> = rusqlite::Result<T>;

/// Returns an error with a result code of SQLite.
pub(crate) fn failure(code: i32, text: impl Into<String>) -> Error {
    Error::SqliteFailure(ffi::Error::new(code), Some(text.into()))
}

/// Returns an error about the arguments of a table.
pub(crate) fn misuse(text: impl Into<String>) -> Error {
    failure(ffi::SQLITE_ERROR, text)
}

/// Returns the error of a page that holds what no row can be.
pub(crate) fn corrupt(text: impl Into<String>) -> Error {
    failure(ffi::SQLITE_CORRUPT_VTAB, text)
}

/// Converts an error of the engine.
pub(crate) fn engine(error: fulgurite::Error) -> Error {
    failure(code(&error), error.to_string())
}

/// Converts an error of opening an environment.
pub(crate) fn open(error: OpenError) -> Error {
    let code = match &error {
        OpenError::Engine { source, .. } => code(source),
        OpenError::Damaged { .. } => ffi::SQLITE_CORRUPT,
        OpenError::NotADataFile(_) | OpenError::DataVersion { .. } => ffi::SQLITE_NOTADB,
        _ => ffi::SQLITE_CANTOPEN,
    };
    failure(code, error.to_string())
}

fn code(error: &fulgurite::Error) -> i32 {
    use fulgurite::Error as Engine;
    match error {
        Engine::Corrupted { .. } | Engine::BeyondEnd(_) | Engine::MapLost => ffi::SQLITE_CORRUPT,
        Engine::Io { .. } | Engine::FlushFailed | Engine::EnvironmentFailed => ffi::SQLITE_IOERR,
        Engine::KeyLength { .. } | Engine::ValueLength(_) | Engine::DuplicateLength { .. } => {
            ffi::SQLITE_TOOBIG
        }
        Engine::MapFull(_) | Engine::GrownBeyondBound(_) | Engine::HeldByReader(_) => {
            ffi::SQLITE_FULL
        }
        Engine::ReadOnly => ffi::SQLITE_READONLY,
        Engine::WriterBusy | Engine::ReadersFull(_) | Engine::ReaderBusy => ffi::SQLITE_BUSY,
        _ => ffi::SQLITE_ERROR,
    }
}
