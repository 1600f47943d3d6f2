//! `fulgurite schema-check`.

use anyhow::bail;

use crate::arguments::tools::SchemaCheck;

pub(crate) fn run(command: SchemaCheck) -> anyhow::Result<()> {
    bail!("schema-check is not built yet: {command:?}")
}
