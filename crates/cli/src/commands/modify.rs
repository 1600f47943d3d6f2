//! `fulgurite modify`.

use anyhow::bail;

use crate::arguments::tools::Modify;

pub(crate) fn run(command: Modify) -> anyhow::Result<()> {
    bail!("modify is not built yet: {command:?}")
}
