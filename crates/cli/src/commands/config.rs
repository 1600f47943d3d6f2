//! `fulgurite config` and `fulgurite check-config`.

use anyhow::bail;

use crate::arguments::tools::{CheckConfig, Config, ConfigAction};

pub(crate) fn run(command: Config) -> anyhow::Result<()> {
    match command.action {
        ConfigAction::Check(command) => check(command),
        ConfigAction::Show(command) => bail!("config show is not built yet: {command:?}"),
    }
}

/// `config check`.
pub(crate) fn check(command: CheckConfig) -> anyhow::Result<()> {
    bail!("config check is not built yet: {command:?}")
}
