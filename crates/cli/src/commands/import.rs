//! `fulgurite import`.

use anyhow::bail;

use crate::arguments::tools::Import;

pub(crate) fn run(command: Import) -> anyhow::Result<()> {
    bail!("import is not built yet: {command:?}")
}
