//! One module per sub-command.

pub(crate) mod access;
pub(crate) mod apply;
pub(crate) mod auth;
pub(crate) mod backup;
pub(crate) mod check;
mod check_store;
pub(crate) mod cluster;
pub(crate) mod config;
pub(crate) mod config_changes;
pub(crate) mod dbload;
pub(crate) mod dn;
pub(crate) mod doctor;
pub(crate) mod env;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod group;
pub(crate) mod import;
pub(crate) mod index;
mod listing;
pub(crate) mod load;
mod load_add;
pub(crate) mod log;
pub(crate) mod memcached;
pub(crate) mod migrate;
pub(crate) mod modify;
pub(crate) mod ou;
pub(crate) mod passwd;
pub(crate) mod replication;
pub(crate) mod schema_check;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod status;
mod stored_suffixes;
pub(crate) mod top;
pub(crate) mod user;

use std::io;
use std::process::ExitCode;

use crate::remote::answer::MissingEntry;

/// The exit status of a command about an entry that is not there.
const MISSING: u8 = 3;

/// Returns the exit status of a command at a server, and prints its error.
fn exit_code(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fulgurite: {}", one_line(&error));
            let is_missing = error.downcast_ref::<MissingEntry>().is_some();
            ExitCode::from(if is_missing { MISSING } else { 1 })
        }
    }
}

/// Formats an error with its causes on one line.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text = cause.to_string().replace('\n', "; ");
        // Skip a cause that the error message already contains.
        if !line.contains(&text) {
            line.push_str(if line.is_empty() { "" } else { ": " });
            line.push_str(&text);
        }
    }
    line
}

/// Turns the error of a closed pipe into success.
pub(crate) fn unless_pipe_closed(result: anyhow::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_printed_once() {
        let missing = io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = anyhow::Error::from(missing).context("cannot read x: no such file");
        assert_eq!(one_line(&error), "cannot read x: no such file");
        let error = anyhow::anyhow!("two\nlines").context("cannot load");
        assert_eq!(one_line(&error), "cannot load: two; lines");
    }
}
