//! `fulgurite check`.

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use fulgurite_engine_tools::{
    CheckOptions, CheckSettings, Verdict, check_pages, repair, write_check,
};

use super::check_store::StoreCheck;
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
    // Entries are read in the newest snapshot.
    let entries = !command.pages_only && command.snapshot.is_none();
    let settings = CheckSettings {
        path: command.path,
        options,
        json: command.json,
        quiet: command.quiet,
        progress: !command.quiet,
    };
    let mut output = BufWriter::new(io::stdout().lock());
    let done = match &command.repair {
        None => {
            let checked = check_pages(&settings)?;
            let store = StoreCheck::of(&checked, &command.config);
            let content = store.filter(|_| entries).map(StoreCheck::run).transpose();
            let report = content.as_ref().ok().and_then(Option::as_ref);
            let written = write_check(&checked, report, &settings, &mut output);
            written
                .map_err(Into::into)
                .and_then(|verdict| match content {
                    // Damage that was found is the more important result.
                    Err(error) if verdict == Verdict::Sound => Err(error),
                    _ => Ok(verdict),
                })
        }
        Some(to) => repair(&settings, to, &mut output).map_err(Into::into),
    };
    // Print the findings also if the tool failed later.
    unless_pipe_closed(output.flush().map_err(Into::into))?;
    done
}
