//! `fulgurite top`: what a running server does, now.
//!
//! ```text
//!   sample   the counters of cn=Monitor at one moment
//!   report   the difference of two samples, as a screen or JSON
//! ```

mod report;
mod sample;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::thread;

use anyhow::bail;
use fulgurite_client::{Client, ResultCode};

use self::report::Report;
use self::sample::Sample;
use super::{exit_code, unless_pipe_closed};
use crate::arguments::top::Top;
use crate::remote::login::connect;
use crate::remote::printer::shown;

/// Moves to the first place of a terminal and clears it.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

/// The entry above those of connections.
const CONNECTIONS: &str = "cn=Connections,cn=Monitor";

pub(crate) fn run(command: Top) -> ExitCode {
    exit_code(unless_pipe_closed(watch(&command)))
}

/// Ends what an entry of cn=Monitor shows.
fn end(client: &mut Client, entry: &str, what: &str) -> anyhow::Result<()> {
    let result = client.delete(entry)?;
    match result.code {
        ResultCode::Success => Ok(()),
        ResultCode::NoSuchObject => bail!("there is no such {what}; it may have ended"),
        code => bail!(
            "the {what} goes on: {} {}",
            code.name(),
            shown(result.diagnostic.as_bytes())
        ),
    }
}

fn watch(command: &Top) -> anyhow::Result<()> {
    let mut client = connect(&command.server)?;
    if let Some((connection, operation)) = command.cancel {
        let entry = format!("cn=Operation {operation},cn=Connection {connection},{CONNECTIONS}");
        return end(&mut client, &entry, "operation");
    }
    if let Some(connection) = command.close {
        return end(
            &mut client,
            &format!("cn=Connection {connection},{CONNECTIONS}"),
            "client",
        );
    }
    let mut output = io::stdout().lock();
    let replaces = output.is_terminal() && !command.json && !command.once;
    let mut before = Sample::take(&mut client)?;
    loop {
        thread::sleep(command.interval);
        let now = Sample::take(&mut client)?;
        let report = Report::between(&before, &now);
        let text = match command.json {
            true => report.json(command.clients),
            false => report.screen(command.clients),
        };
        if replaces {
            output.write_all(CLEAR.as_bytes())?;
        }
        output.write_all(text.as_bytes())?;
        output.flush()?;
        if command.once {
            return Ok(());
        }
        before = now;
    }
}
