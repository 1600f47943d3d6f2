//! `fulgurite index`.

use anyhow::bail;

use crate::arguments::tools::Index;

pub(crate) fn run(command: Index) -> anyhow::Result<()> {
    bail!("index is not built yet: {command:?}")
}
