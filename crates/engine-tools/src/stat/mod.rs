//! The contents of an environment: sizes, databases, free pages by age, and the readers that pin
//! them.
//!
//! ```text
//!   EnvironmentFacts::gather (one snapshot, the readers, the files) --> text | json
//! ```

mod facts;
mod json;
mod text;

use std::io::Write;
use std::path::Path;

use crate::{ToolError, open_read_only};

pub use facts::{AgeGroup, DatabaseFacts, EnvironmentFacts, FreeFacts};

/// Writes the facts about the environment at `path`, as text or as one JSON object.
///
/// It changes nothing. It takes a reader slot while it reads the free list and the records of the
/// databases.
/// # Errors
/// [`ToolError`].
pub fn stat(path: &Path, json: bool, output: &mut dyn Write) -> Result<(), ToolError> {
    let environment = open_read_only(path)?;
    let facts = EnvironmentFacts::gather(&environment)?;
    if json {
        json::write(&facts, output)
    } else {
        text::write(&facts, output)
    }
}
