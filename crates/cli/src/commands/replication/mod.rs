//! `fulgurite replication`: copies of databases, looked after.

mod check;
mod conflicts;
mod digest;
mod repair;
mod restore;
mod side;
mod status;
mod uuid_text;

use std::process::ExitCode;

use crate::arguments::replication::{Replication, ReplicationAction};
use crate::commands::one_line;

/// The exit status of a command that could not do its work.
const FAILED: u8 = 2;

pub(crate) fn run(command: Replication) -> ExitCode {
    let done = match command.question {
        ReplicationAction::Status(status) => {
            let shown = status::run(&status);
            return code(shown, 1);
        }
        ReplicationAction::Conflicts(command) => conflicts::run(&command).map(|()| 0),
        ReplicationAction::Check(command) => check::run(&command),
    };
    code(done, FAILED)
}

fn code(done: anyhow::Result<u8>, failed: u8) -> ExitCode {
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("fulgurite: {}", one_line(&error));
            ExitCode::from(failed)
        }
    }
}
