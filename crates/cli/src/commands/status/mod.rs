//! `fulgurite status`: one screen about a running server.
//!
//! ```text
//!   report  what cn=Monitor and the root DSE say, and what is worth a warning
//!   shown   the screen, and JSON
//! ```

mod report;
mod shown;

use std::io::Write as _;
use std::process::ExitCode;

use crate::arguments::status::Status;
use crate::commands::one_line;
use crate::remote::login::Login;

/// The exit status for a server that cannot be asked.
const UNREACHABLE: u8 = 2;

pub(crate) fn run(command: &Status) -> ExitCode {
    match show(command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("fulgurite: {}", one_line(&error));
            ExitCode::from(UNREACHABLE)
        }
    }
}

fn show(command: &Status) -> anyhow::Result<u8> {
    let (url, mut client) = Login::new(&command.server)?.connect_named()?;
    let report = report::Report::read(url, &mut client)?;
    let text = match command.json {
        true => shown::json(&report),
        false => shown::screen(&report),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(u8::from(!report.warnings.is_empty()))
}
