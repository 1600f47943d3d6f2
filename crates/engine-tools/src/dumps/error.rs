//! Reasons why a dump is not loaded or not written.

use std::io;

use crate::ToolError;

/// Why a dump is not loaded or not written.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The dump is wrong in a line, or the environment refuses a record.
    #[error("line {number}: {reason}")]
    Line {
        /// The line's number, counting from 1.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// The dump cannot be read.
    #[error("cannot read the dump")]
    Input(#[source] io::Error),
    /// The dump cannot be written.
    #[error("cannot write the dump")]
    Output(#[from] io::Error),
    /// A name was given for a dump of several databases.
    #[error("line {0}: a second database begins, and one name was given for all")]
    SeveralDatabases(u64),
    /// A database cannot be written in a format.
    #[error("the database {database} cannot be written as {format}: {reason}")]
    Unfit {
        /// The database.
        database: String,
        /// The format.
        format: &'static str,
        /// The reason.
        reason: String,
    },
    /// The environment could not be used.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl From<fulgurite::Error> for DumpError {
    fn from(error: fulgurite::Error) -> DumpError {
        DumpError::Tool(ToolError::Engine(error))
    }
}
