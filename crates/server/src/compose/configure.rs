//! Changes of `cn=config` by LDAP operations: tried as a whole, written, then in force.
//!
//! ```text
//!   files --change--> files in memory --the parser of a start--> settings --open--> a Directory
//!     ^                                                                                |
//!     '------------- written durably <---- nobody is locked out <----------------------'
//! ```
//!
//! So the server starts with everything that it has accepted.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};

use fulgurite_config::{
    ConfigChange, ConfigChangeError, ConfigEntry, ConfigError, ConfigFiles, Database, Layer,
    ListenScheme, Origin, Settings,
};
use fulgurite_directory::{Directory, TreeChange, TreeEntry, TreeRefusal, TreeUpdate};
use fulgurite_policy::Syncrepl;
use fulgurite_schema::{Dn, Schema, SchemaError};

use super::check::{CheckError, check_settings, is_braced_scheme};
use super::convert;
use super::merge::{self, BUILT_IN};
use super::open::{self, OpenError};
use super::reload::{kept_differences, renew};
use super::replication;
use super::source::{RunningServer, SettingsSource};
use crate::driver::settings::ServerSettings;
use crate::replication::directory_source::ToldConfiguration;
use crate::statistics::{Statistics, lock};
use crate::tls::error::TlsError;
use crate::tls::reload::Tls;

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

/// A change that the parser of a start has accepted.
pub(super) struct ChangePlan {
    pub(super) old_files: Arc<ConfigFiles>,
    pub(super) new_files: ConfigFiles,
    /// The name of the changed entry.
    pub(super) name: String,
    /// The settings after the change.
    pub(super) wanted: Settings,
}

impl ChangePlan {
    /// Reads the files after a change.
    pub(super) fn of(
        held: &Settings,
        current: &Directory,
        change: &TreeChange,
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<ChangePlan, TreeRefusal> {
        let schema = current.schema();
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let change = resolve(schema, held, change)?;
        let is_new = matches!(change, ConfigChange::Add(_));
        refuse_duplicates(files, &change)?;
        refuse_schemes(files, &change)?;
        let (new_files, name) = files.changed(change).map_err(refusal)?;
        let new_files = numbered(current, files, new_files).map_err(config_refusal)?;
        let layer = new_files.layer().map_err(config_refusal)?;
        let before = if is_new { None } else { Some(&**files) };
        refuse_meaningless(before, &layer, &new_files, &name)?;
        let wanted = read(layer).map_err(config_refusal)?;
        refuse_covered(schema, &wanted)?;
        refuse_missing_folders(held, &wanted)?;
        Ok(ChangePlan {
            old_files: Arc::clone(files),
            new_files,
            name,
            wanted,
        })
    }

    /// Reads the files with the entries of a provider at and below `base`; `None` if they are the
    /// same. The built-in definitions are those of this server.
    fn of_copy(
        held: &Settings,
        schema: &Schema,
        told: ToldConfiguration,
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<Option<ChangePlan>, TreeRefusal> {
        let (base, entries) = (&*told.base, told.entries);
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let own = files.entries().map_err(config_refusal)?;
        let is_built_in = |entry: &ConfigEntry| entry.dn.eq_ignore_ascii_case(BUILT_IN);
        let has_built_in = own.iter().any(is_built_in);
        let kept = own.into_iter();
        let mut all: Vec<ConfigEntry> = kept
            .filter(|entry| !is_within(&entry.dn, base) || is_built_in(entry))
            .collect();
        let told = entries.into_iter();
        all.extend(told.filter(|entry| !has_built_in || !is_built_in(entry)));
        ChangePlan::of_entries(held, schema, (&all, format!("a copy of {base}")), read)
    }

    /// Reads the files after a merge with the entries of a provider; `None` if they are the same.
    fn of_merge(
        held: &Settings,
        current: &Directory,
        told: ToldConfiguration,
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<Option<ChangePlan>, TreeRefusal> {
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let own = files.entries().map_err(config_refusal)?;
        let merged = merge::merge(own, told.entries, &told.state, current.server_id());
        let name = "a merge with another provider".to_owned();
        let plan = ChangePlan::of_entries(held, current.schema(), (&merged.entries, name), read)?;
        if plan.is_some() {
            for lost in merged.lost {
                tracing::warn!("another entry of the merged configuration replaces \"{lost}\"");
            }
        }
        Ok(plan)
    }

    /// Reads the files of all entries of another server; `None` if they are the same.
    fn of_entries(
        held: &Settings,
        schema: &Schema,
        (all, name): (&[ConfigEntry], String),
        read: &dyn Fn(Layer) -> Result<Settings, ConfigError>,
    ) -> Result<Option<ChangePlan>, TreeRefusal> {
        let files = held.files.as_ref().ok_or_else(|| unwilling(NO_FILES))?;
        let is_told = |name: &&str| all.iter().any(|entry| entry.dn.eq_ignore_ascii_case(name));
        if let Some(missing) = NEEDED.iter().find(|name| !is_told(name)) {
            let text = format!("the provider has not told the entry \"{missing}\"");
            return Err(unwilling(text));
        }
        let new_files = files.with_entries(all).map_err(config_refusal)?;
        if new_files == **files {
            return Ok(None);
        }
        let wanted = read(new_files.layer().map_err(config_refusal)?).map_err(config_refusal)?;
        refuse_covered(schema, &wanted)?;
        refuse_missing_folders(held, &wanted)?;
        Ok(Some(ChangePlan {
            old_files: Arc::clone(files),
            new_files,
            name,
            wanted,
        }))
    }
}

/// Returns changed files with their numbers, if other servers merge them with theirs.
fn numbered(
    current: &Directory,
    before: &ConfigFiles,
    after: ConfigFiles,
) -> Result<ConfigFiles, ConfigError> {
    let entries = after.entries()?;
    // A server without a number cannot number its changes. They are those of no server.
    if current.server_id() == 0 || !merge::is_wanted(&entries) {
        return Ok(after);
    }
    let next = |floor| current.next_csn(floor);
    let noted = merge::note_change(&before.entries()?, entries, current.server_id(), &next);
    after.with_entries(&noted)
}

/// The entries without which no server can be configured.
const NEEDED: [&str; 2] = ["cn=config", "olcDatabase={0}config,cn=config"];

/// The attributes with definitions that have numbers, and slapd's word for one.
const DEFINITIONS: [(&str, &str); 2] = [
    ("olcAttributeTypes", "attributeType"),
    ("olcObjectClasses", "objectClass"),
];

/// Fails as slapd does if a new entry defines what another entry of the directory defines. It may
/// define what is only built in, because files of older releases do.
fn refuse_duplicates(files: &ConfigFiles, change: &ConfigChange) -> Result<(), TreeRefusal> {
    let ConfigChange::Add(new) = change else {
        return Ok(());
    };
    for (attribute, word) in DEFINITIONS {
        let numbers = |entry: &ConfigEntry| -> Vec<String> {
            let all = entry.attributes.iter();
            let all = all.filter(|(name, _)| name.eq_ignore_ascii_case(attribute));
            let values = all.flat_map(|(_, values)| values);
            values.filter_map(|value| number_of(value)).collect()
        };
        let wanted = numbers(new);
        if wanted.is_empty() {
            continue;
        }
        let held = files.entries().map_err(config_refusal)?;
        let held: Vec<String> = held.iter().flat_map(numbers).collect();
        if let Some(number) = wanted.iter().find(|number| held.contains(number)) {
            let text = format!("{attribute}: Duplicate {word}: \"{number}\"");
            return Err(TreeRefusal::Failed(text));
        }
    }
    Ok(())
}

/// Fails as slapd does if the first value of changed schemes for passwords has no known one. slapd
/// reads a value after the other, and needs a scheme after each.
fn refuse_schemes(files: &ConfigFiles, change: &ConfigChange) -> Result<(), TreeRefusal> {
    const SCHEMES: &str = "olcPasswordHash";
    let (ConfigChange::Replace(new) | ConfigChange::Add(new)) = change else {
        return Ok(());
    };
    let Some(first) = new.values(SCHEMES).first() else {
        return Ok(());
    };
    let mut words = first.split_ascii_whitespace();
    if words.any(is_braced_scheme) {
        return Ok(());
    }
    let held = files.entries().map_err(config_refusal)?;
    let mut held = held.iter();
    let is_held = |held: &ConfigEntry| {
        held.dn.eq_ignore_ascii_case(&new.dn) && held.values(SCHEMES) == new.values(SCHEMES)
    };
    match held.any(is_held) {
        true => Ok(()),
        false => Err(TreeRefusal::Failed(format!(
            "<{SCHEMES}> no valid hashes found"
        ))),
    }
}

/// Returns the number of a definition, such as `{0}( 1.2.3 NAME 'x' )`.
fn number_of(definition: &str) -> Option<String> {
    let (_, inside) = definition.split_once('(')?;
    Some(inside.split_whitespace().next()?.to_owned())
}

/// Returns true for a name at or below another one. Names of this tree have no escaped commas.
fn is_within(dn: &str, base: &str) -> bool {
    let (dn, base) = (dn.to_ascii_lowercase(), base.to_ascii_lowercase());
    let above = dn.strip_suffix(&base);
    above.is_some_and(|above| above.is_empty() || above.ends_with(','))
}

/// Returns the change of the files. Attributes that the schema lacks stay in their entry.
fn resolve(
    schema: &Schema,
    settings: &Settings,
    change: &TreeChange,
) -> Result<ConfigChange, TreeRefusal> {
    Ok(match change {
        TreeChange::Add(entry) => ConfigChange::Add(config_entry(entry)?),
        TreeChange::Remove(dn) => ConfigChange::Remove(dn.clone()),
        TreeChange::Rename { dn, rdn } => ConfigChange::Rename {
            dn: dn.clone(),
            rdn: rdn.clone(),
        },
        TreeChange::Replace(entry) => {
            let mut entry = config_entry(entry)?;
            let files = settings.files.iter();
            let held = files.flat_map(|files| files.entries().unwrap_or_default());
            let held = held.filter(|held| held.dn.eq_ignore_ascii_case(&entry.dn));
            let unknown = held.flat_map(|held| held.attributes);
            let unknown = unknown.filter(|(name, _)| schema.describe(name.as_bytes()).is_err());
            entry.attributes.extend(unknown.collect::<Vec<_>>());
            ConfigChange::Replace(entry)
        }
    })
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

/// The end of warnings of what a start ignores.
const NO_MEANING: &str = "has no meaning here";

/// The refusal of changes of settings that no directory holds.
const NO_FILES: &str = "the configuration is no directory";

const LOCKED_OUT: &str =
    "you could not change cn=config any more: use the relax control if that is what you want";

fn unwilling(text: impl Into<String>) -> TreeRefusal {
    TreeRefusal::Unwilling(text.into())
}

fn config_entry(entry: &TreeEntry) -> Result<ConfigEntry, TreeRefusal> {
    let mut attributes = Vec::new();
    for (name, values) in &entry.attributes {
        let values = values.iter().map(|value| String::from_utf8(value.clone()));
        let values = values.collect::<Result<Vec<_>, _>>();
        let values = values.map_err(|_| unwilling(format!("{name}: a value is not UTF-8")))?;
        attributes.push((name.clone(), values));
    }
    Ok(ConfigEntry {
        dn: entry.dn.clone(),
        attributes,
    })
}

/// Fails if a database would move to another directory, or if one with entries would get another
/// name. Returns true if a database without entries gets one.
fn refuse_moves(
    current: &Directory,
    held: &Settings,
    wanted: &Settings,
) -> Result<bool, TreeRefusal> {
    let places = |settings: &Settings| -> BTreeMap<_, _> {
        let stores = settings.stores();
        let stores =
            stores.filter_map(|store| Some((store.directory().ok()?.to_owned(), suffixes(store))));
        stores.collect()
    };
    let (held, wanted) = (places(held), places(wanted));
    let is_kept = |place: &Path| held.contains_key(place) && wanted.contains_key(place);
    let mut renames = false;
    for (place, suffixes) in &wanted {
        let again = "delete the database and add it again";
        match held.get(place) {
            Some(same) if same == suffixes => {}
            Some(_) if has_no_entries(current, place) => renames = true,
            Some(_) => {
                let text = format!("olcSuffix of a database with entries cannot change: {again}");
                return Err(unwilling(text));
            }
            None => {
                let mut others = held.iter().filter(|(other, _)| !is_kept(other));
                if others.any(|(_, other)| other == suffixes) {
                    let text = "olcDbDirectory cannot change while the server runs";
                    return Err(unwilling(format!("{text}: {again}")));
                }
            }
        }
    }
    Ok(renames)
}

fn has_no_entries(current: &Directory, place: &Path) -> bool {
    let mut stores = current.shared_stores().into_iter();
    let store = stores.find(|store| store.path() == place);
    let count = store.and_then(|store| store.snapshot().ok()?.entry_count().ok());
    count == Some(0)
}

/// Fails if a change gives an entry a part that a start warns of and ignores. `held` are the files
/// before the change if they have the entry.
fn refuse_meaningless(
    held: Option<&ConfigFiles>,
    layer: &Layer,
    files: &ConfigFiles,
    name: &str,
) -> Result<(), TreeRefusal> {
    let path = files.path_of(name).map_err(config_refusal)?;
    let ignored = |layer: &Layer| -> Vec<String> {
        let notes = layer.notes.iter().filter(|note| {
            let is_here = matches!(&note.origin, Origin::File { path: at, .. } if *at == path);
            is_here && note.text.ends_with(NO_MEANING)
        });
        notes.map(|note| note.text.clone()).collect()
    };
    let new = ignored(layer);
    if new.is_empty() {
        return Ok(());
    }
    let old = held.and_then(|files| files.layer().ok());
    let old = old.as_ref().map(ignored).unwrap_or_default();
    match new.into_iter().find(|text| !old.contains(text)) {
        Some(text) => Err(unwilling(format!("{text}: the server would ignore it"))),
        None => Ok(()),
    }
}

/// Fails if a file of the next start would be in a folder that does not exist.
fn refuse_missing_folders(held: &Settings, wanted: &Settings) -> Result<(), TreeRefusal> {
    let files = |settings: &Settings| {
        let global = &settings.global;
        [
            ("olcPidFile", global.pid_file.value.clone()),
            ("olcArgsFile", global.args_file.value.clone()),
            ("olcLogFile", global.log_file.value.clone()),
        ]
    };
    for ((name, path), (_, old)) in files(wanted).into_iter().zip(files(held)) {
        let Some(path) = path.filter(|path| Some(path) != old.as_ref()) else {
            continue;
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !folder.is_dir() {
            return Err(TreeRefusal::Failed(format!(
                "{name}: the directory {} does not exist",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// Fails if the server cannot write to a new file of the log.
fn refuse_closed_log(held: &Settings, wanted: &Settings) -> Result<(), TreeRefusal> {
    let file = wanted.global.log_file.value.as_ref();
    let Some(file) = file.filter(|_| wanted.global.log_file.value != held.global.log_file.value)
    else {
        return Ok(());
    };
    let mut options = std::fs::OpenOptions::new();
    let opened = options.append(true).create(true).open(file);
    opened.map(drop).map_err(|error| {
        TreeRefusal::Failed(format!(
            "olcLogFile: cannot open {}: {error}",
            file.display()
        ))
    })
}

/// Fails if a database is below an earlier one, as in slapd.
fn refuse_covered(schema: &Schema, wanted: &Settings) -> Result<(), TreeRefusal> {
    let mut earlier: Vec<Dn> = Vec::new();
    for suffix in wanted.stores().flat_map(|store| &store.content.suffixes) {
        let Ok(dn) = Dn::parse(schema, suffix) else {
            continue;
        };
        if earlier.iter().any(|other| dn.is_within(other)) {
            return Err(TreeRefusal::Failed(format!(
                "<olcSuffix> namingContext \"{}\" already served by a preceding mdb database",
                suffix.value
            )));
        }
        earlier.push(dn);
    }
    Ok(())
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

fn suffixes(store: &Database) -> Vec<String> {
    let suffixes = store.content.suffixes.iter();
    suffixes.map(|suffix| suffix.value.to_lowercase()).collect()
}

fn refusal(error: ConfigChangeError) -> TreeRefusal {
    match error {
        ConfigChangeError::Missing(_) => TreeRefusal::Missing,
        ConfigChangeError::Exists(_) => TreeRefusal::Exists,
        ConfigChangeError::Number(_) => TreeRefusal::Number,
        ConfigChangeError::Config(error) => config_refusal(error),
        ConfigChangeError::FixedNumber(_) => TreeRefusal::Naming(error.to_string()),
        ConfigChangeError::Defined(_)
        | ConfigChangeError::Backend
        | ConfigChangeError::Modules(_)
        | ConfigChangeError::SecondMonitor
        | ConfigChangeError::NoCopy(_) => TreeRefusal::Failed(error.to_string()),
        error => unwilling(error.to_string()),
    }
}

fn config_refusal(error: ConfigError) -> TreeRefusal {
    tracing::info!("a change of the configuration is refused: {error}");
    let text = match error {
        ConfigError::Directive { message, .. }
        | ConfigError::Meaning { message, .. }
        | ConfigError::Value { message, .. } => client_text(message),
        error => error.to_string(),
    };
    TreeRefusal::Failed(text)
}

fn schema_refusal(error: SchemaError, settings: &Settings) -> TreeRefusal {
    tracing::info!("a change of the configuration is refused: {error}");
    let text = match error {
        SchemaError::Definition {
            reason,
            origin,
            line,
        } => match attribute_at(settings, &origin, line) {
            Some(attribute) => {
                // The reason names the directive first.
                let words = reason.split_once(": ");
                let words = words.filter(|(directive, _)| !directive.contains(' '));
                let reason = words.map_or(reason.as_str(), |(_, rest)| rest);
                // The place of the other definition is in the log.
                let reason = reason.split(" is '").next().unwrap_or(reason);
                format!("{attribute}: {reason}")
            }
            None => reason,
        },
        error => error.to_string(),
    };
    TreeRefusal::Failed(text)
}

/// Returns the attribute of the definition at a line of a file.
fn attribute_at(settings: &Settings, file: &str, at: usize) -> Option<&'static str> {
    let mut parts = settings.global.schema.iter();
    let part = parts.find(|part| match &part.origin {
        fulgurite_config::Origin::File { path, line, .. } => {
            *line == at && path.display().to_string() == file
        }
        _ => false,
    });
    part?.value.attribute()
}

pub(super) fn check_refusal(error: CheckError, settings: &Settings) -> TreeRefusal {
    match error {
        CheckError::Config(error) => config_refusal(error),
        CheckError::Schema(error) => schema_refusal(error, settings),
    }
}

pub(super) fn open_refusal(error: OpenError, settings: &Settings) -> TreeRefusal {
    match error {
        OpenError::Config(error) => config_refusal(error),
        OpenError::Schema(error) => schema_refusal(error, settings),
        OpenError::Check(error) => check_refusal(error, settings),
        // Stored entries use a definition that would go.
        OpenError::Store(error @ fulgurite_store::OpenError::SchemaLacks { .. }) => {
            unwilling(error.to_string())
        }
        error => TreeRefusal::Failed(error.to_string()),
    }
}

/// Returns a message as slapd's clients get it: without the word that it is about, which is in the
/// log.
fn client_text(message: String) -> String {
    if let Some((_, reason)) = message
        .strip_prefix("invalid path ")
        .and_then(|rest| rest.split_once(": "))
    {
        let reason = reason.split(" (os error").next().unwrap_or(reason);
        return format!("olcDbDirectory: value #0: invalid path: {reason}");
    }
    if !message.starts_with("<olc") {
        return message.trim_end_matches('.').to_owned();
    }
    const ENDS: [&str; 5] = [
        "unknown factor",
        "unknown operation",
        "unknown level",
        "illegal server ID",
        "failed init",
    ];
    let end = ENDS
        .iter()
        .find_map(|end| Some(message.find(end)? + end.len()));
    let end = end.or_else(|| message.find(" \""));
    let text = end.and_then(|end| message.get(..end));
    text.unwrap_or(&message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_the_texts_of_slapd() {
        for (message, expected) in [
            (
                "<olcLogLevel> unknown level \"x\"",
                "<olcLogLevel> unknown level",
            ),
            (
                "<olcSecurity> unknown factor x=1",
                "<olcSecurity> unknown factor",
            ),
            (
                "<olcRequires> unknown feature #0 \"x\"",
                "<olcRequires> unknown feature #0",
            ),
            (
                "<olcRootPW> can only be set when rootdn is under suffix",
                "<olcRootPW> can only be set when rootdn is under suffix",
            ),
            ("index type \"x\" undefined", "index type \"x\" undefined"),
            (
                "invalid path /x: No such file or directory (os error 2)",
                "olcDbDirectory: value #0: invalid path: No such file or directory",
            ),
        ] {
            assert_eq!(client_text(message.to_owned()), expected);
        }
    }
}
