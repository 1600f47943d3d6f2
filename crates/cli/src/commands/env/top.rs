//! `fulgurite env top`.

use std::io::{self, IsTerminal as _};

use fulgurite_engine_tools::{TopOptions, top};

use crate::arguments::env::Top;
use crate::commands::unless_pipe_closed;

pub(crate) fn run(command: Top) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    let options = TopOptions {
        interval: command.interval,
        once: command.once,
        is_terminal: output.is_terminal(),
    };
    let result = top(&command.environment.path, &options, &mut output);
    unless_pipe_closed(result.map_err(Into::into))
}
