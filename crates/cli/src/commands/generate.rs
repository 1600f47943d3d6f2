//! `fulgurite generate`.

use std::io::{self, BufWriter, Write as _};

use fulgurite_directory_tools::{GenerateOptions, generate};

use super::unless_pipe_closed;
use crate::arguments::Generate;

/// Buffer size in bytes.
const BUFFER_BYTES: usize = 1 << 18;

pub(crate) fn run(command: Generate) -> anyhow::Result<()> {
    let options = GenerateOptions {
        users: command.users,
        seed: command.seed,
        suffix: command.suffix,
        groups: command.groups,
        group_members: command.group_members,
        hash: command.hash,
    };
    unless_pipe_closed(write(&options))
}

fn write(options: &GenerateOptions) -> anyhow::Result<()> {
    let mut output = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    generate(options, &mut output)?;
    Ok(output.flush()?)
}
