//! `fulgurite serve`.

use fulgurite_server::{Hangup, Service, ServiceOptions};

use crate::arguments::Serve;
use crate::lock::DataLock;
use crate::logging;

pub(crate) fn run(command: Serve) -> anyhow::Result<()> {
    let settings = command.settings()?;
    logging::begin(*settings.global.log_level);
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
    };
    let service = Service::start(settings, options, || command.settings())?;
    for address in service.server().addresses() {
        tracing::info!("serving {} at ldap://{address}", suffixes.join(" and "));
    }
    service.run()?;
    tracing::info!("stopped");
    Ok(())
}
