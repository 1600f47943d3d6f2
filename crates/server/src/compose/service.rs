//! A whole server from its settings: stores, directory, monitor, listeners and process id file.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_config::{ConfigError, Settings};
use fulgurite_console::Console;
use fulgurite_directory::{Directory, StoreContent, Unsuitable};

use super::configure::Configuration;
use super::convert;
use super::live::Live;
use super::open::{self, OpenError};
use super::seed::{self, SeedError};
use super::seed_changes;
use super::source::{RunningServer, SettingsSource};
use crate::cluster::{ClusterError, ClusterNode};
use crate::console::ConsoleSockets;
use crate::driver::error::ServerError;
use crate::driver::server::Server;
use crate::driver::settings::{AddressFamilies, Hangup, ServerSettings};
use crate::metrics::health::Health;
use crate::metrics::listener::{MetricsListener, MetricsSettings};
use crate::statistics::{CertificateEnd, ClusterSource, Statistics};

/// A failure to start a service, or the reason of its end.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The settings are unreadable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The directory failed to open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// An entry that must exist from the first start on cannot be added.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// The server is no node of its cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The listeners failed to open, or the server failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The step between listeners and stores failed.
    #[error("{0}")]
    Between(String),
    /// The file of the process id or of the arguments is not writable.
    #[error("cannot write {what} to {}: {source}", path.display())]
    File {
        /// The content of the file.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// Options of a service that depend on the program name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceOptions {
    /// The effect of SIGHUP.
    pub hangup: Hangup,
    /// Create the folder of a missing store.
    pub make_folders: bool,
    /// The address families to listen on.
    pub families: AddressFamilies,
}

/// A service whose listeners are open.
pub struct Service<'r> {
    server: Server,
    live: Live<'r>,
    node: Option<ClusterNode>,
    metrics: Option<MetricsListener>,
    console: Option<(Console, Vec<SocketAddr>)>,
    /// True if figures and console speak TLS.
    speak_tls: (bool, bool),
    _files: Vec<RunFile>,
}

impl<'r> Service<'r> {
    /// Opens listeners and stores as the settings say, and creates missing stores, empty. The
    /// source reads the settings again when an administrator asks for a reload.
    ///
    /// # Errors
    /// [`ServiceError`], which names the file or address and the reason.
    pub fn start(
        settings: Settings,
        options: ServiceOptions,
        source: impl SettingsSource + 'r,
    ) -> Result<Service<'r>, ServiceError> {
        Service::start_after(settings, options, || Ok(()), source)
    }

    /// Starts as [`start`](Self::start) does, and calls `between` after the listeners and before
    /// the stores are opened. There the program drops privileges that only listeners need.
    ///
    /// # Errors
    /// [`ServiceError`]; [`ServiceError::Between`] with the message of `between`.
    pub fn start_after(
        settings: Settings,
        options: ServiceOptions,
        between: impl FnOnce() -> Result<(), String>,
        source: impl SettingsSource + 'r,
    ) -> Result<Service<'r>, ServiceError> {
        let statistics = Arc::<Statistics>::default();
        let stores = open::StorePlan {
            make: true,
            make_folders: options.make_folders,
            existing: None,
        };
        let mut server_settings = ServerSettings::from(&settings);
        server_settings.handle_signals = true;
        server_settings.hangup = if *settings.global.gentle_hup {
            Hangup::Stop
        } else {
            options.hangup
        };
        server_settings.families = options.families;
        server_settings.fit_descriptors();
        let listen: Vec<_> = settings
            .global
            .listen
            .iter()
            .map(|url| url.value.clone())
            .collect();
        let server =
            Server::bind(&listen, server_settings)?.with_statistics(Arc::clone(&statistics));
        let tls = server.tls();
        let end_s = move || tls.get()?.loaded().ends_s();
        statistics.set_certificate_end(CertificateEnd::new(end_s));
        let health = Arc::<Health>::default();
        let metrics = MetricsSettings::of(&settings.global).map(|metrics| {
            let (health, statistics) = (Arc::clone(&health), Arc::clone(&statistics));
            MetricsListener::start(&metrics, health, statistics, server.tls())
        });
        let metrics = metrics.transpose()?;
        let console = ConsoleSockets::open(&settings.global, &server)?;
        let mut node = ClusterNode::prepare(&settings)?;
        between().map_err(ServiceError::Between)?;
        let (mut directory, monitor) = open::open(&settings, &stores, Some(&statistics))?;
        match &mut node {
            // The entries of a start are in the database that began the cluster.
            Some(node) => {
                node.attach(&mut directory, &settings)?;
                health.set_node(node.state());
                let state = node.state();
                statistics.set_cluster(ClusterSource::new(move || state.figures()));
            }
            None => seed(&settings, &directory)?,
        }
        let files = write_files(&settings)?;
        let global = &settings.global;
        let speak_tls = (*global.metrics_tls, *global.console_tls);
        let running = RunningServer {
            tls: server.tls(),
            live: server.live(),
        };
        let backups = statistics.backups();
        backups.set_plan(convert::backups(&settings.global));
        let configuration = Configuration::new(settings, Box::new(source), statistics, running);
        let mut live = Live::new(directory)
            .with_configuration(configuration)
            .with_backups(backups)
            .with_health(health);
        if let Some(monitor) = monitor {
            live = live.with_monitor(monitor);
        }
        let console = console.map(ConsoleSockets::start).transpose()?;
        Ok(Service {
            server,
            live,
            node,
            metrics,
            console,
            speak_tls,
            _files: files,
        })
    }

    /// Returns the server before it runs.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the URLs of the figures, with the actual port if 0 was requested.
    #[must_use]
    pub fn metrics_urls(&self) -> Vec<String> {
        let metrics = self.metrics.as_ref();
        let addresses = metrics.map_or(&[][..], MetricsListener::addresses);
        urls(addresses, self.speak_tls.0)
    }

    /// Returns the URLs of the console, with the actual port if 0 was requested.
    #[must_use]
    pub fn console_urls(&self) -> Vec<String> {
        let console = self.console.as_ref();
        let addresses = console.map_or(&[][..], |(_, addresses)| addresses.as_slice());
        urls(addresses, self.speak_tls.1)
    }

    /// Serves until stopped.
    ///
    /// # Errors
    /// [`ServiceError::Server`].
    pub fn run(self) -> Result<ServiceEnd, ServiceError> {
        let Some(node) = self.node else {
            self.server.run(&self.live)?;
            return Ok(ServiceEnd::Stopped);
        };
        let (state, live, stop) = (node.state(), &self.live, self.server.stop_handle());
        std::thread::scope(|scope| {
            let node = node.start(scope, live, &stop);
            let served = self.server.run(live);
            // All clients have their answers.
            node.stop();
            served
        })?;
        Ok(match state.wants_copy() {
            true => ServiceEnd::WantsCopy,
            false => ServiceEnd::Stopped,
        })
    }
}

/// The reason why a service has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceEnd {
    /// It was stopped.
    Stopped,
    /// The node of a cluster needs a copy of another node's database, and then goes on.
    WantsCopy,
}

/// Makes the entries of the start, and the changes of its files.
fn seed(settings: &Settings, directory: &Directory) -> Result<(), SeedError> {
    let added = seed::add_missing(settings, directory)?;
    if added > 0 {
        tracing::info!("entries that were missing and have been added: {added}");
    }
    let changed = seed_changes::make(settings, directory)?;
    if changed > 0 {
        tracing::info!("changes of LDIF files that have been made: {changed}");
    }
    Ok(())
}

/// Begins a cluster with the database that the settings describe. Makes its store, and the entries
/// of the start, if they are missing.
///
/// # Errors
/// [`ServiceError`], also for a database that no cluster can have.
pub fn found_cluster(settings: &Settings) -> Result<(), ServiceError> {
    let directory = open::open_directory(settings)?;
    seed(settings, &directory)?;
    let folder = settings.cluster_folder()?;
    let database = directory.database_at(folder);
    let database = database.ok_or(ClusterError::Database(Unsuitable::NoMember))?;
    StoreContent::found(database).map_err(ClusterError::Database)?;
    Ok(())
}

fn urls(addresses: &[SocketAddr], speaks_tls: bool) -> Vec<String> {
    let scheme = if speaks_tls { "https" } else { "http" };
    let addresses = addresses.iter();
    addresses
        .map(|address| format!("{scheme}://{address}"))
        .collect()
}

impl std::fmt::Debug for Service<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// A file that is removed when the server ends.
struct RunFile(PathBuf);

impl RunFile {
    fn write(what: &'static str, path: &Path, text: &str) -> Result<RunFile, ServiceError> {
        fs::write(path, text).map_err(|source| ServiceError::File {
            what,
            path: path.to_owned(),
            source,
        })?;
        Ok(RunFile(path.to_owned()))
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        // Another program may have removed it already.
        let _ = fs::remove_file(&self.0);
    }
}

fn write_files(settings: &Settings) -> Result<Vec<RunFile>, ServiceError> {
    let mut files = Vec::new();
    if let Some(path) = &settings.global.pid_file.value {
        let text = format!("{}\n", std::process::id());
        files.push(RunFile::write("the process id", path, &text)?);
    }
    if let Some(path) = &settings.global.args_file.value {
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let text = format!("{}\n", arguments.collect::<Vec<_>>().join(" "));
        files.push(RunFile::write("the arguments", path, &text)?);
    }
    Ok(files)
}
