//! `fulgurite doctor`: the state of an installation, for its administrator.
//!
//! ```text
//!   settings as serve reads them --> files, certificates, addresses, stores, machine --> findings
//! ```

mod addresses;
mod backups;
mod certificates;
mod files;
mod finding;
mod machine;
mod settings;
mod stores;

use std::process::ExitCode;

use self::finding::{Findings, Severity};
use crate::arguments::setup::Doctor;

pub(crate) use self::settings::CONFIG;

pub(crate) fn run(command: Doctor) -> ExitCode {
    let mut findings = Findings::default();
    match &command.url {
        Some(url) => addresses::check_url(url, &mut findings),
        None => examine(&command, &mut findings),
    }
    let report = match command.json {
        true => findings.json(),
        false => findings.text(),
    };
    print!("{report}");
    ExitCode::from(match findings.worst() {
        Severity::Ok | Severity::Note => 0,
        Severity::Warning => 1,
        Severity::Failure => 2,
    })
}

fn examine(command: &Doctor, findings: &mut Findings) {
    let Some(settings) = settings::read(&command.config, findings) else {
        return;
    };
    if command.answers {
        return addresses::check_answers(&settings, findings);
    }
    settings::check(&settings, findings);
    files::check(&settings, findings);
    certificates::check(&settings, findings);
    addresses::check(&settings, findings);
    for database in settings.served_stores() {
        if let Ok(directory) = database.directory() {
            machine::check_disk(directory, findings);
            machine::check_clock(directory, findings);
            stores::check(&settings, database, directory, findings);
        }
    }
    let own = backups::check(&settings, findings);
    if command.backups.is_some() || !own {
        machine::check_backups(command.backups.as_deref(), findings);
    }
}
