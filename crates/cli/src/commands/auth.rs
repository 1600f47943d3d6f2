//! `fulgurite auth`.

use anyhow::bail;

use crate::arguments::tools::Auth;

pub(crate) fn run(command: Auth) -> anyhow::Result<()> {
    bail!("auth is not built yet: {command:?}")
}
