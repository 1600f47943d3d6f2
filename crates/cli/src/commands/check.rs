//! `fulgurite check`.

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use fulgurite_engine_tools::{CheckOptions, CheckSettings, Verdict, check, repair};

use super::{one_line, unless_pipe_closed};
use crate::arguments::check::Check;

/// The exit status of a check that failed.
const UNCHECKED: u8 = 2;

pub(crate) fn run(command: Check) -> ExitCode {
    match verdict(command) {
        Ok(Verdict::Sound) => ExitCode::SUCCESS,
        Ok(Verdict::Damaged) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fulgurite: {}", one_line(&error));
            ExitCode::from(UNCHECKED)
        }
    }
}

fn verdict(command: Check) -> anyhow::Result<Verdict> {
    let mut options = CheckOptions::default().any_order_everywhere(command.any_order_everywhere);
    for database in command.any_order {
        options = options.any_order(database);
    }
    if let Some(txnid) = command.snapshot {
        options = options.snapshot(txnid);
    }
    let settings = CheckSettings {
        path: command.path,
        options,
        json: command.json,
        quiet: command.quiet,
        progress: !command.quiet,
    };
    let mut output = BufWriter::new(io::stdout().lock());
    let done = match &command.repair {
        None => check(&settings, &mut output),
        Some(to) => repair(&settings, to, &mut output),
    };
    // Print the findings also if the tool failed later.
    unless_pipe_closed(output.flush().map_err(Into::into))?;
    Ok(done?)
}
