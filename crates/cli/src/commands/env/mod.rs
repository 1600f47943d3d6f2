//! `fulgurite env`: one module per tool, which calls a function of the `engine-tools` crate.

mod backup;
mod compact;
mod copy;
mod restore;
mod stat;
mod top;

use crate::arguments::env::{Env, EnvTool};

pub(crate) fn run(command: Env) -> anyhow::Result<()> {
    match command.tool {
        EnvTool::Stat(command) => stat::run(command),
        EnvTool::Top(command) => top::run(command),
        EnvTool::Copy(command) => copy::run(command),
        EnvTool::Backup(command) => backup::run(command),
        EnvTool::Restore(command) => restore::run(command),
        EnvTool::Compact(command) => compact::run(command),
    }
}
