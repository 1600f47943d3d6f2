//! `fulgurite passwd`.

use anyhow::bail;

use crate::arguments::tools::Passwd;

pub(crate) fn run(command: Passwd) -> anyhow::Result<()> {
    bail!("passwd is not built yet: {command:?}")
}
