//! `fulgurite serve`.

use fulgurite_server::{Server, ServerSettings, open_directory, raise_descriptor_limit};

use crate::arguments::Serve;
use crate::lock::DataLock;
use crate::logging;

/// Descriptors that are not connections: the store, event loops, logs.
const DESCRIPTORS_RESERVED: u64 = 64;

pub(crate) fn run(command: Serve) -> anyhow::Result<()> {
    let settings = command.settings()?;
    logging::begin(*settings.global.log_level);
    let data = settings.data()?;
    let _lock = DataLock::take(data)?;
    let directory = open_directory(&settings)?;
    let mut server_settings = ServerSettings::from(&settings);
    server_settings.handle_signals = true;
    fit_descriptors(&mut server_settings);
    let listen: Vec<_> = settings
        .global
        .listen
        .iter()
        .map(|url| url.value.clone())
        .collect();
    let server = Server::bind(&listen, server_settings)?;
    if settings.first_store()?.content.root_dn.is_none() {
        tracing::info!("no root name is set: only the access rules allow changes");
    }
    for address in server.addresses() {
        tracing::info!("serving {} at ldap://{address}", settings.suffix()?);
    }
    server.run(&directory)?;
    tracing::info!("stopped");
    Ok(())
}

/// Accepts no more connections than there are descriptors for.
fn fit_descriptors(settings: &mut ServerSettings) {
    let Some(descriptors) = raise_descriptor_limit() else {
        return;
    };
    let available = descriptors.saturating_sub(DESCRIPTORS_RESERVED).max(1);
    let available = usize::try_from(available).unwrap_or(usize::MAX);
    if available < settings.connections_max {
        tracing::warn!(
            "only {available} connections at once: the system's limit of open files is {descriptors}"
        );
        settings.connections_max = available;
    }
}
