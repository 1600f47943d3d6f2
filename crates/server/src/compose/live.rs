//! A directory whose configuration can change while it serves.
//!
//! ```text
//!   generation 0      generation 1      generation 2 = newest     each a Directory; shared stores
//!      ^ a search that began then        ^ every request from now on
//! ```
//! The generation that is the newest when a request arrives answers it. Old generations stay until
//! the server ends. So a request finds the newest one without a lock and without a write, and never
//! has to release it. An old generation holds its rules and limits, and its schema if that has
//! changed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use fulgurite_directory::{Directory, TreeRefusal, WriteReply, WriteRequest};
use fulgurite_policy::Syncrepl;
use fulgurite_schema::Dn;

use super::audit_files::AuditFiles;
use super::configure::Configuration;
use crate::admin::monitor::Monitor;
use crate::backup_status::BackupStatus;
use crate::forwarding::Forwarders;
use crate::metrics::health::{Health, ServedDatabase};
use crate::replication::directory_source::{DirectorySource, ToldConfiguration};
use crate::replication_status::ReplicationStatus;
use crate::statistics::lock;

/// The number of generations, after which the server needs a restart.
const GENERATIONS_MAX: usize = 4096;

/// The directory that is served, and the configuration that makes the next generation of it.
pub struct Live<'r> {
    /// Filled from the front. Boxed, so that empty slots cost little.
    generations: Box<[OnceLock<Box<Directory>>]>,
    newest: AtomicUsize,
    configuration: Option<Configuration<'r>>,
    /// Locked while the next generation is made.
    reloading: Mutex<()>,
    /// Shared by those who apply updates of entries. Locked alone while the definitions change, so
    /// that no update ends with definitions that are no longer in force.
    updating: RwLock<()>,
    monitor: Option<Arc<Monitor>>,
    /// The states of the consumers of other servers.
    pub(super) replication: Arc<ReplicationStatus>,
    /// The connections that updates of copies go out on.
    pub(super) forwarders: Forwarders,
    /// The files of the logs of changes.
    pub(super) audit_files: AuditFiles,
    /// The state of the server, and the databases of the newest generation.
    pub(super) health: Arc<Health>,
    /// The backups that the settings ask for.
    pub(super) backups: Arc<BackupStatus>,
}

impl<'r> Live<'r> {
    /// Serves a directory that does not change.
    #[must_use]
    pub fn new(directory: Directory) -> Live<'r> {
        let mut generations = vec![OnceLock::from(Box::new(directory))];
        generations.resize_with(GENERATIONS_MAX, OnceLock::new);
        Live {
            generations: generations.into_boxed_slice(),
            newest: AtomicUsize::new(0),
            configuration: None,
            reloading: Mutex::new(()),
            updating: RwLock::new(()),
            monitor: None,
            replication: Arc::default(),
            forwarders: Forwarders::default(),
            audit_files: AuditFiles::default(),
            health: Arc::default(),
            backups: Arc::default(),
        }
    }

    /// Sets the configuration, which makes the next generation when an administrator asks for it.
    #[must_use]
    pub(super) fn with_configuration(mut self, configuration: Configuration<'r>) -> Live<'r> {
        self.configuration = Some(configuration);
        self
    }

    /// Sets the monitor whose figures are logged on request.
    #[must_use]
    pub fn with_monitor(mut self, monitor: Arc<Monitor>) -> Live<'r> {
        self.replication = monitor.replication();
        self.monitor = Some(monitor);
        self
    }

    /// Sets the value in which the probes find the state of the server.
    #[must_use]
    pub(super) fn with_health(mut self, health: Arc<Health>) -> Live<'r> {
        self.health = health;
        self.show_databases();
        self
    }

    /// Sets the plan and the state of the backups.
    #[must_use]
    pub(super) fn with_backups(mut self, backups: Arc<BackupStatus>) -> Live<'r> {
        self.backups = backups;
        self
    }

    /// Returns the end of the certificate in force, in seconds since 1970.
    pub(super) fn certificate_end_s(&self) -> Option<u64> {
        self.monitor.as_ref()?.certificate_end_s()
    }

    fn show_databases(&self) {
        let databases = self.current().databases().iter();
        let shown = databases.map(|database| ServedDatabase {
            suffix: database
                .suffixes()
                .first()
                .map(Dn::to_string)
                .unwrap_or_default(),
            store: database.shared_store(),
            // One of several providers may be the first, and have nothing to copy yet.
            is_copy: !database.consumers().is_empty() && !database.is_multi_provider(),
        });
        self.health.set_databases(shown.collect());
    }

    /// Returns the newest generation.
    #[must_use]
    pub fn current(&self) -> &Directory {
        let newest = self.newest.load(Ordering::Acquire);
        // `renew` fills a slot before it publishes its number; `new` fills the first slot.
        let directory = self.generations.get(newest).and_then(OnceLock::get);
        directory
            .or_else(|| self.generations.iter().find_map(OnceLock::get))
            .unwrap_or_else(|| unreachable!("there is a first generation"))
    }

    /// Returns the newest generation for updates of entries. The definitions stay until the guard
    /// is dropped.
    pub(super) fn current_for_updates(&self) -> (&Directory, RwLockReadGuard<'_, ()>) {
        let guard = self.updating.read();
        let guard = guard.unwrap_or_else(PoisonError::into_inner);
        (self.current(), guard)
    }

    /// Does the same if no change of the definitions is on its way.
    pub(super) fn current_for_updates_at_once(
        &self,
    ) -> Option<(&Directory, RwLockReadGuard<'_, ()>)> {
        let guard = match self.updating.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some((self.current(), guard))
    }

    /// Returns the figures of the monitor as lines for a log; none without a monitor.
    pub(super) fn monitor_lines(&self) -> Vec<String> {
        let monitor = self.monitor.as_ref();
        monitor.map(|monitor| monitor.dump()).unwrap_or_default()
    }

    /// Makes the next generation.
    ///
    /// # Errors
    /// The reason. The current generation stays in force.
    pub fn renew(&self) -> Result<(), String> {
        let Some(configuration) = &self.configuration else {
            return Err("there is no configuration to read again".to_owned());
        };
        let _guard = lock(&self.reloading);
        self.require_slot()?;
        let next = configuration.reload(self.current(), &self.updating)?;
        self.publish(next.directory);
        Ok(())
    }

    /// Carries out an update of the configuration. With success, the next generation is in force.
    pub(super) fn change_configuration(&self, request: &WriteRequest) -> WriteReply {
        let _guard = lock(&self.reloading);
        let current = self.current();
        let update = match current.begin_tree_update(request) {
            Ok(update) => update,
            Err(reply) => return *reply,
        };
        let none = || TreeRefusal::Unwilling("there is no configuration to change".to_owned());
        let next = self.require_slot().map_err(TreeRefusal::Unwilling);
        let next = next.and_then(|()| {
            let configuration = self.configuration.as_ref().ok_or_else(none)?;
            if let Some(urls) = configuration.updated_at().filter(|_| !update.is_relaxed()) {
                return Err(TreeRefusal::Elsewhere(urls));
            }
            configuration.change(current, &update, &self.updating)
        });
        let outcome = next.map(|next| {
            if let Some(next) = next {
                self.publish(next.directory);
            }
        });
        update.finish(outcome)
    }

    /// Fails if there have been too many generations.
    fn require_slot(&self) -> Result<(), String> {
        if self.newest.load(Ordering::Acquire) + 1 < self.generations.len() {
            return Ok(());
        }
        Err(format!(
            "the configuration has changed {GENERATIONS_MAX} times: restart the server"
        ))
    }

    /// Puts the next generation in force. The caller holds the lock.
    fn publish(&self, directory: Directory) {
        let next = self.newest.load(Ordering::Acquire) + 1;
        if let Some(slot) = self.generations.get(next) {
            let _ = slot.set(Box::new(directory));
            self.newest.store(next, Ordering::Release);
            self.current().replaced();
            self.show_databases();
        }
    }
}

impl DirectorySource for Live<'_> {
    fn newest(&self) -> &Directory {
        self.current()
    }

    fn newest_for_changes(&self) -> (&Directory, RwLockReadGuard<'_, ()>) {
        self.current_for_updates()
    }

    fn newest_for_changes_at_once(&self) -> Option<(&Directory, RwLockReadGuard<'_, ()>)> {
        self.current_for_updates_at_once()
    }

    fn configuration_consumers(&self) -> Vec<Syncrepl> {
        let configuration = self.configuration.as_ref();
        configuration
            .map(Configuration::consumers)
            .unwrap_or_default()
    }

    fn copy_configuration(&self, told: ToldConfiguration) -> Result<bool, String> {
        let _guard = lock(&self.reloading);
        self.require_slot()?;
        let Some(configuration) = &self.configuration else {
            return Err("there is no configuration to change".to_owned());
        };
        let next = configuration.copy(self.current(), told, &self.updating);
        let Some(next) = next.map_err(|refusal| refusal.to_string())? else {
            return Ok(false);
        };
        self.publish(next.directory);
        Ok(true)
    }
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live")
            .field("newest", &self.newest)
            .finish_non_exhaustive()
    }
}
