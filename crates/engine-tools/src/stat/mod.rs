//! What an environment holds: sizes, databases, free pages by age, and who keeps them from being used.
//!
//! ```text
//!   Facts::gather (one snapshot, the readers, the files) --> text | json
//! ```

mod facts;
mod json;
mod text;

use std::io::Write;
use std::path::Path;

use crate::{ToolError, open_read_only};

pub use facts::{AgeGroup, DatabaseFacts, Facts, FreeFacts};

/// Writes what the environment at `path` holds, as text or as one object of JSON. Changes nothing; takes a reader slot for as long
/// as it takes to read the free list and the records of the databases.
/// # Errors
/// [`ToolError`].
pub fn stat(path: &Path, json: bool, output: &mut dyn Write) -> Result<(), ToolError> {
    let environment = open_read_only(path)?;
    let facts = Facts::gather(&environment)?;
    if json {
        json::write(&facts, output)
    } else {
        text::write(&facts, output)
    }
}
