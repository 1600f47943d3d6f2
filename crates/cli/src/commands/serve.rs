//! `fulgurite serve`.

use anyhow::Context as _;
use fulgurite_config::{ConfigError, Layer, Origin, Settings};
use fulgurite_directory::EndPoint;
use fulgurite_server::{Hangup, Service, ServiceEnd, ServiceOptions, SettingsSource};

use crate::arguments::Serve;
use crate::commands::cluster;
use crate::commands::stored_suffixes::with_stored_suffixes;
use crate::lock::DataLock;
use crate::logging::{self, Destinations, Selection, Selections};

pub(crate) fn run(command: Serve) -> anyhow::Result<()> {
    let settings = read(&command)?;
    begin_log(&settings)?;
    cluster::copy::fetch_missing(&settings)?;
    let mut end = serve(&command, settings)?;
    // A node of a cluster whose log does not reach back to it begins with a copy of another node.
    while end == ServiceEnd::WantsCopy {
        let settings = read(&command)?;
        cluster::copy::fetch_again(&settings)?;
        end = serve(&command, settings)?;
    }
    tracing::info!("stopped");
    Ok(())
}

/// Serves until the end.
fn serve(command: &Serve, settings: Settings) -> anyhow::Result<ServiceEnd> {
    for note in &settings.notes {
        // Notes about files are for `config check`; nobody checks variables.
        match &note.origin {
            _ if note.warning => tracing::warn!("{}: {}", note.origin, note.text),
            Origin::Variable(_) => tracing::info!("{}: {}", note.origin, note.text),
            _ => {}
        }
    }
    let suffixes: Vec<String> = settings
        .stores()
        .flat_map(|database| &database.content.suffixes)
        .map(|suffix| suffix.value.clone())
        .collect();
    // Nothing is made for a start that is refused.
    for database in settings.served_stores() {
        database.suffix()?;
    }
    let mut locks = Vec::new();
    for database in settings.served_stores() {
        let directory = database.directory()?;
        let is_new = !directory.exists();
        locks.push(DataLock::take_or_make(directory)?);
        if is_new {
            let shown = directory.display();
            tracing::warn!("{shown} did not exist and was created (is the path right?)");
        }
        if database.content.root_dn.is_none() {
            tracing::info!("no root name is set: only the access rules allow changes");
        }
    }
    let options = ServiceOptions {
        hangup: Hangup::Reload,
        make_folders: true,
        ..ServiceOptions::default()
    };
    let service = Service::start(settings, options, Source(command))?;
    for (url, address) in service.server().listeners() {
        let at = listener(url, address);
        tracing::info!("serving {} at {at}", suffixes.join(" and "));
    }
    for url in service.console_urls() {
        tracing::info!("console in the browser at {url}");
    }
    for url in service.metrics_urls() {
        tracing::info!("metrics and probes at {url}");
    }
    Ok(service.run()?)
}

/// Returns the URL of a listener with the address that it has: the port may be free to choose.
fn listener(url: &str, address: &EndPoint) -> String {
    match (address, url.split_once("://")) {
        (EndPoint::Ip(address), Some((scheme, _))) => format!("{scheme}://{address}"),
        _ => url.to_owned(),
    }
}

/// Reads the settings. A store that exists names its suffix, if the settings do not.
fn read(command: &Serve) -> Result<Settings, ConfigError> {
    Ok(with_stored_suffixes(command.flags.settings()?))
}

/// The settings of the command's flags and files.
struct Source<'c>(&'c Serve);

impl SettingsSource for Source<'_> {
    fn read(&self, changed: Option<Layer>) -> Result<Settings, ConfigError> {
        if let Some(changed) = changed {
            return Ok(with_stored_suffixes(self.0.flags.settings_with(changed)?));
        }
        // Log rotation uses the same signal as a reload.
        logging::reopen();
        read(self.0)
    }

    fn in_force(&self, settings: &Settings) {
        let Destinations {
            format,
            terminal,
            file,
            ..
        } = destinations(settings);
        let changed = logging::change(Selections {
            format,
            terminal,
            file,
            system: None,
        });
        if let Err(error) = changed {
            tracing::error!("the log stays where it is: {error}");
        }
    }
}

/// Logs to the file if there is one, otherwise to standard error.
fn destinations(settings: &Settings) -> Destinations {
    let selection = Selection {
        level: *settings.global.log_level,
        operations: true,
    };
    let mut destinations = Destinations {
        format: *settings.global.log_format,
        ..Destinations::default()
    };
    match settings.global.log_file.value.clone() {
        Some(path) => destinations.file = Some((path, selection)),
        None => destinations.terminal = Some(selection),
    }
    destinations
}

/// Begins the log.
fn begin_log(settings: &Settings) -> anyhow::Result<()> {
    let opened = logging::begin_with(destinations(settings));
    opened.with_context(|| {
        let file = settings.global.log_file.value.clone();
        let file = file.unwrap_or_default();
        format!("cannot open the log file {}", file.display())
    })
}
