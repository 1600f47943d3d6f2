//! `fulgurite serve`.

use anyhow::Context as _;
use fulgurite_config::{Layer, Settings};
use fulgurite_server::{Hangup, Service, ServiceOptions};

use crate::arguments::Serve;
use crate::lock::DataLock;
use crate::logging::{self, Destinations, Selection};

pub(crate) fn run(command: Serve) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    begin_log(&settings)?;
    let suffixes: Vec<String> = settings
        .stores()
        .flat_map(|database| &database.content.suffixes)
        .map(|suffix| suffix.value.clone())
        .collect();
    let mut locks = Vec::new();
    for database in settings.stores() {
        locks.push(DataLock::take_or_make(database.directory()?)?);
        if database.content.root_dn.is_none() {
            tracing::info!("no root name is set: only the access rules allow changes");
        }
    }
    let options = ServiceOptions {
        hangup: Hangup::Reload,
        make_folders: true,
        ..ServiceOptions::default()
    };
    // No configuration of this command is one that clients change.
    let read = |_: Option<Layer>| {
        // Log rotation uses the same signal.
        logging::reopen();
        command.flags.settings()
    };
    let service = Service::start(settings, options, read)?;
    for address in service.server().addresses() {
        tracing::info!("serving {} at ldap://{address}", suffixes.join(" and "));
    }
    service.run()?;
    tracing::info!("stopped");
    Ok(())
}

/// Logs to the file if there is one, otherwise to standard error.
fn begin_log(settings: &Settings) -> anyhow::Result<()> {
    let selection = Selection {
        level: *settings.global.log_level,
        operations: true,
    };
    let mut destinations = Destinations::default();
    let file = settings.global.log_file.value.clone();
    match &file {
        Some(path) => destinations.file = Some((path.clone(), selection)),
        None => destinations.terminal = Some(selection),
    }
    let opened = logging::begin_with(destinations);
    opened.with_context(|| {
        format!(
            "cannot open the log file {}",
            file.unwrap_or_default().display()
        )
    })
}
