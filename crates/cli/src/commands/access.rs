//! `fulgurite access`.

use anyhow::bail;

use crate::arguments::tools::Access;

pub(crate) fn run(command: Access) -> anyhow::Result<()> {
    bail!("access is not built yet: {command:?}")
}
