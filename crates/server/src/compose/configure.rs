//! Changes of `cn=config` by LDAP operations: tried as a whole, written, then in force.
//!
//! ```text
//!   files --change--> files in memory --the parser of a start--> settings --open--> a Directory
//!     ^                                                                                |
//!     '------------- written durably <---- nobody is locked out <----------------------'
//! ```
//!
//! So the server starts with everything that it has accepted.

mod checks;
mod plan;
mod refusals;

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};

use fulgurite_config::{ListenScheme, Settings};
use fulgurite_directory::{Directory, TreeRefusal, TreeUpdate};
use fulgurite_policy::Syncrepl;
use fulgurite_schema::Schema;

use self::checks::{refuse_closed_log, refuse_moves};
pub(super) use self::plan::ChangePlan;
use self::refusals::unwilling;
pub(super) use self::refusals::{check_refusal, open_refusal};
use super::check::check_settings;
use super::convert;
use super::open;
use super::reload::{kept_differences, renew};
use super::replication;
use super::source::{RunningServer, SettingsSource};
use crate::driver::settings::ServerSettings;
use crate::replication::directory_source::ToldConfiguration;
use crate::statistics::{Statistics, lock};
use crate::tls::error::TlsError;
use crate::tls::reload::Tls;

const LOCKED_OUT: &str =
    "you could not change cn=config any more: use the relax control if that is what you want";

/// The settings in force, and the means to change them.
pub(super) struct Configuration<'r> {
    settings: Mutex<Settings>,
    source: Box<dyn SettingsSource + 'r>,
    statistics: Arc<Statistics>,
    running: RunningServer,
}

impl<'r> Configuration<'r> {
    pub(super) fn new(
        settings: Settings,
        source: Box<dyn SettingsSource + 'r>,
        statistics: Arc<Statistics>,
        running: RunningServer,
    ) -> Configuration<'r> {
        Configuration {
            settings: Mutex::new(settings),
            source,
            statistics,
            running,
        }
    }

    /// Reads the settings again and makes the directory that replaces the current one.
    pub(super) fn reload<'l>(
        &self,
        current: &Directory,
        updating: &'l RwLock<()>,
    ) -> Result<Next<'l>, String> {
        let mut held = lock(&self.settings);
        let wanted = self.source.read(None).map_err(|error| error.to_string())?;
        let tls = new_tls(&held, &wanted).map_err(|error| error.to_string())?;
        let schema = open::schema_of(&wanted, current).map_err(|error| error.to_string())?;
        let definitions = hold_updates(current, (&schema, false), updating);
        let directory = renew(current, &held, &wanted, (schema, &self.statistics))?;
        self.put_in_force(wanted, tls, &mut held);
        Ok(Next {
            directory,
            _definitions: definitions,
        })
    }

    /// Carries out a change and makes the directory that replaces the current one; `None` for a
    /// trial.
    pub(super) fn change<'l>(
        &self,
        current: &Directory,
        update: &TreeUpdate,
        updating: &'l RwLock<()>,
    ) -> Result<Option<Next<'l>>, TreeRefusal> {
        let mut held = lock(&self.settings);
        let read = |layer| self.source.read(Some(layer));
        let plan = ChangePlan::of(&held, current, update.change(), &read)?;
        if update.is_trial() {
            refuse_moves(current, &held, &plan.wanted)?;
            new_tls(&held, &plan.wanted).map_err(|error| TreeRefusal::Failed(error.to_string()))?;
            return check_settings(&plan.wanted)
                .map(|_| None)
                .map_err(|error| check_refusal(error, &plan.wanted));
        }
        let locks_out = |next: &Directory| !update.is_relaxed() && update.locks_out(current, next);
        self.carry_out((current, &mut held), plan, updating, &locks_out)
            .map(Some)
    }

    /// Returns the providers that the configuration is copied from.
    pub(super) fn consumers(&self) -> Vec<Syncrepl> {
        replication::configuration_consumers(&lock(&self.settings))
    }

    /// Returns the URLs of the servers that take changes, if this one only copies them.
    pub(super) fn updated_at(&self) -> Option<Vec<String>> {
        let held = lock(&self.settings);
        let takes_updates = *held.config.content.multi_provider;
        if takes_updates || replication::configuration_consumers(&held).is_empty() {
            return None;
        }
        let urls = held.config.content.update_refs.iter();
        Some(urls.map(|url| url.value.clone()).collect())
    }

    /// Takes the entries that a provider has, and makes the directory that replaces the current
    /// one. Among several providers, they are merged with those of this server. `None` if nothing
    /// changes.
    pub(super) fn copy<'l>(
        &self,
        current: &Directory,
        told: ToldConfiguration,
        updating: &'l RwLock<()>,
    ) -> Result<Option<Next<'l>>, TreeRefusal> {
        let mut held = lock(&self.settings);
        let read = |layer| self.source.read(Some(layer));
        let plan = match *held.config.content.multi_provider {
            true => ChangePlan::of_merge(&held, current, told, &read),
            false => ChangePlan::of_copy(&held, current.schema(), told, &read),
        };
        let plan = plan?;
        let Some(plan) = plan else {
            return Ok(None);
        };
        self.carry_out((current, &mut held), plan, updating, &|_| false)
            .map(Some)
    }

    /// Writes changed files, and makes the directory that replaces the current one.
    fn carry_out<'l>(
        &self,
        (current, held): (&Directory, &mut Settings),
        plan: ChangePlan,
        updating: &'l RwLock<()>,
        locks_out: &dyn Fn(&Directory) -> bool,
    ) -> Result<Next<'l>, TreeRefusal> {
        let (wanted, name) = (plan.wanted, plan.name);
        let renames = refuse_moves(current, held, &wanted)?;
        let tls = new_tls(held, &wanted);
        let tls = tls.map_err(|error| TreeRefusal::Failed(error.to_string()))?;
        let stores = open::StorePlan {
            make: true,
            make_folders: false,
            existing: Some(current),
        };
        let schema = open::schema_of(&wanted, current);
        let schema = schema.map_err(|error| open_refusal(error, &wanted))?;
        // From here on nobody can store a value of a definition that goes. The same holds for
        // entries below a suffix that goes.
        let definitions = hold_updates(current, (&schema, renames), updating);
        let opened = open::open_with(&wanted, schema, &stores, Some(&self.statistics));
        let (next, _) = opened.map_err(|error| open_refusal(error, &wanted))?;
        if locks_out(&next) {
            return Err(unwilling(LOCKED_OUT));
        }
        refuse_closed_log(held, &wanted)?;
        let flushed = plan.old_files.replace_by(&plan.new_files);
        if let Some(error) = flushed.map_err(|error| TreeRefusal::Failed(error.to_string()))? {
            tracing::error!("the configuration has changed, but may be lost in a crash: {error}");
        }
        if let Err(error) = open::apply_to_stores(&wanted, &next) {
            tracing::error!("the configuration has changed, but not all indexes: {error}");
        }
        tracing::info!("the configuration has changed: {name}");
        if plan.new_files.is_in_memory() {
            let file = plan.new_files.directory().display();
            tracing::warn!("the change ends with the server: it is not in {file}");
        }
        for difference in kept_differences(held, &wanted) {
            tracing::warn!("at the next start: {difference}");
        }
        self.put_in_force(wanted, tls, held);
        Ok(Next {
            directory: next,
            _definitions: definitions,
        })
    }

    /// Puts the settings of the server itself in force: TLS, limits of connections, the log.
    fn put_in_force(&self, wanted: Settings, tls: Option<Option<Tls>>, held: &mut Settings) {
        if let Some(tls) = tls {
            self.running.tls.set(tls);
        }
        let mut settings = ServerSettings::from(&wanted);
        if held.global.connections.value != wanted.global.connections.value {
            settings.fit_descriptors();
        } else {
            settings.connections_max = self.running.live.load().connections_max;
        }
        self.running.live.set(&settings);
        let backups = convert::backups(&wanted.global);
        self.statistics.backups().set_plan(backups);
        self.source.in_force(&wanted);
        *held = wanted;
    }
}

/// The directory that replaces the current one.
pub(super) struct Next<'l> {
    pub(super) directory: Directory,
    /// Held until the directory is in force, if its definitions or suffixes are others.
    _definitions: Option<RwLockWriteGuard<'l, ()>>,
}

/// Waits for the updates of entries on their way, and lets no other begin, if the definitions or
/// suffixes change.
fn hold_updates<'l>(
    current: &Directory,
    (schema, renames): (&Arc<Schema>, bool),
    updating: &'l RwLock<()>,
) -> Option<RwLockWriteGuard<'l, ()>> {
    let is_same = Arc::ptr_eq(current.schema(), schema) && !renames;
    (!is_same).then(|| updating.write().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the TLS of new connections if its settings differ.
///
/// # Errors
/// [`TlsError`] for settings with which no server starts.
pub(super) fn new_tls(held: &Settings, wanted: &Settings) -> Result<Option<Option<Tls>>, TlsError> {
    if ServerSettings::from(wanted).tls == ServerSettings::from(held).tls {
        return Ok(None);
    }
    make_tls(wanted).map(Some)
}

/// Checks the certificates and keys that the settings name, as a start does.
///
/// # Errors
/// [`TlsError`] with the file and the reason.
pub fn check_tls(settings: &Settings) -> Result<(), TlsError> {
    make_tls(settings).map(drop)
}

fn make_tls(settings: &Settings) -> Result<Option<Tls>, TlsError> {
    let options = ServerSettings::from(settings).tls;
    let mut listeners = settings.global.listen.iter();
    if options.is_configured() {
        Tls::new(&options).map(Some)
    } else if let Some(url) = listeners.find(|url| url.scheme == ListenScheme::Ldaps) {
        Err(TlsError::NoCertificate(url.to_string()))
    } else {
        Ok(None)
    }
}
