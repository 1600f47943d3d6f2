//! What an environment holds, as text.

use std::io::Write;
use std::path::Path;

use fulgurite::Database;
use fulgurite::Snapshot as _;

use crate::{ToolError, open_read_only};

/// Writes what the environment at `path` holds.
/// # Errors
/// [`ToolError`].
pub fn stat(path: &Path, output: &mut dyn Write) -> Result<(), ToolError> {
    let environment = open_read_only(path)?;
    let txn = environment.read()?;
    let info = environment.info()?;
    let main = txn.stat(Database::MAIN)?;
    writeln!(output, "page size      {} octets", info.page_size)?;
    writeln!(output, "pages          {}", info.last_page + 1)?;
    writeln!(output, "map size       {} octets", info.map_size)?;
    writeln!(output, "transaction    {}", txn.id().0)?;
    writeln!(output, "records        {}", main.entries)?;
    Ok(())
}
