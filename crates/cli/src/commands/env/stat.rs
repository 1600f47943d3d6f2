//! `fulgurite env stat`.

use std::io;

use fulgurite_engine_tools::stat;

use crate::arguments::env::Stat;
use crate::commands::unless_pipe_closed;

pub(crate) fn run(command: Stat) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    let result = stat(&command.environment.path, command.json, &mut output);
    unless_pipe_closed(result.map_err(Into::into))
}
