//! `fulgurite dn`.

use anyhow::bail;

use crate::arguments::tools::DnForms;

pub(crate) fn run(command: DnForms) -> anyhow::Result<()> {
    bail!("dn is not built yet: {command:?}")
}
