//! `fulgurite env`: each tool is a function of the `envtools` crate, called by a module of its own here.

mod stat;

use crate::arguments::env::{Env, EnvTool};

pub(crate) fn run(command: Env) -> anyhow::Result<()> {
    match command.tool {
        EnvTool::Stat(command) => stat::run(command),
    }
}
