//! Opens the directory that the settings describe.

use std::path::PathBuf;
use std::sync::Arc;

use fulgurite_config::{
    AuditFormat, ConfigError, Database, DatabaseKind, NamedValues, ServerId, Settings, Sourced,
    Subordinate,
};
use fulgurite_directory::{
    AccessLogOptions, AuditStyle, DatabaseOptions, Directory, DirectoryOptions, TreeOptions,
    TreeSource, WarningLog,
};
use fulgurite_ldap::oid;
use fulgurite_schema::{Schema, SchemaError};
use fulgurite_store::{IndexKind, IndexKinds, IndexSpec, Store, StoreOptions};

use super::check::{self, CheckError};
use super::exposure::warn_if_exposed;
use super::schema::{publish_the_same, schema};
use super::{convert, replication};
use crate::admin::config_tree::ConfigTree;
use crate::admin::monitor::{Monitor, MonitoredDatabase, MonitoredKind};
use crate::statistics::Statistics;

/// The log of the server for the directory.
struct ServerLog;

impl WarningLog for ServerLog {
    fn warn(&self, line: &str) {
        tracing::warn!("{line}");
    }
}

/// The minimum of searches that can hold a snapshot at the same time.
const READERS_MIN: u32 = 4096;

/// The refusal of changes of settings that come from files other than a directory of slapd.
const FIXED_CONFIGURATION: &str = "the configuration is a file: change it there and restart or \
     reload the server, or start the server with a configuration directory (slapd -F)";

/// A failure to open a directory.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is missing or unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A schema file has an error.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The folder of a new store does not exist.
    #[error("the directory {} does not exist: create it, and the server creates an empty store in it", .0.display())]
    NoFolder(PathBuf),
    /// The store failed to open.
    #[error(transparent)]
    Store(#[from] fulgurite_store::OpenError),
    /// The schema lacks a name, or a rule has an error.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// A root name or an access rule has an error.
    #[error(transparent)]
    Directory(#[from] fulgurite_directory::OpenError),
}

/// Returns the options to create or open the store of a database.
///
/// # Errors
/// [`OpenError::Config`] if there is no suffix.
pub fn store_options(database: &Database) -> Result<StoreOptions, OpenError> {
    let storage = &database.storage;
    database.suffix()?;
    let suffixes = database.content.suffixes.iter();
    Ok(StoreOptions {
        suffixes: suffixes.map(|suffix| suffix.value.clone()).collect(),
        indexes: Some(indexes(database)),
        durability: Some(convert::durability(*storage.durability)),
        readers_max: Some((*storage.readers_max).max(READERS_MIN)),
        map_bytes_max: Some(*storage.map_bytes_max),
        log_bytes_max: Some(*storage.log_bytes_max),
        file_mode: Some(storage.mode.value.0),
        entry_bytes_max: *storage.entry_bytes_max,
        ..StoreOptions::default()
    })
}

/// Returns the indexes of a store. They include those that overlays and a copy need.
fn indexes(database: &Database) -> Vec<IndexSpec> {
    let indexes = database.indexes().iter().map(convert::index).collect();
    with_needed(database, indexes)
}

/// Adds the indexes that list the members of groups for `memberof` and `dynlist`. Those that the
/// `refint` of a container's variables looks up are added, too.
fn with_needed(database: &Database, mut indexes: Vec<IndexSpec>) -> Vec<IndexSpec> {
    let members = database.memberships().map(|(member, _)| member);
    // A consumer finds entries by their UUID.
    let uuid = (!database.content.syncrepl.is_empty()).then(|| "entryUUID".to_owned());
    let referring = database.attributes_of_unwritten_refint();
    let referring = referring.map(str::to_owned);
    for attribute in members.chain(uuid).chain(referring) {
        let known = indexes
            .iter_mut()
            .find(|index| index.attribute.eq_ignore_ascii_case(&attribute));
        match known {
            Some(index) => index.kinds.set(IndexKind::Equality, true),
            None => indexes.push(IndexSpec {
                attribute,
                kinds: IndexKinds::of(&[IndexKind::Equality]),
            }),
        }
    }
    indexes
}

/// Opens the directory that the settings describe, with its existing stores.
///
/// # Errors
/// [`OpenError`] for an error in the settings or a missing store.
pub fn open_directory(settings: &Settings) -> Result<Directory, OpenError> {
    let plan = StorePlan {
        make: true,
        make_folders: true,
        existing: None,
    };
    let (directory, _) = open(settings, &plan, None)?;
    Ok(directory)
}

/// The origin of the stores.
#[derive(Clone, Copy, Default)]
pub(crate) struct StorePlan<'d> {
    /// Create a missing store, empty.
    pub(crate) make: bool,
    /// Create its folder too.
    pub(crate) make_folders: bool,
    /// A directory that has opened stores already.
    pub(crate) existing: Option<&'d Directory>,
}

/// Opens the directory that the settings describe, and its monitor if there are statistics to show.
pub(crate) fn open(
    settings: &Settings,
    plan: &StorePlan<'_>,
    statistics: Option<&Arc<Statistics>>,
) -> Result<(Directory, Option<Arc<Monitor>>), OpenError> {
    open_with(settings, Arc::new(schema(settings)?), plan, statistics)
}

/// Returns the schema that the settings describe. It is that of a directory if both publish the
/// same, because its tables are large.
pub(crate) fn schema_of(
    settings: &Settings,
    existing: &Directory,
) -> Result<Arc<Schema>, OpenError> {
    let schema = schema(settings)?;
    Ok(match publish_the_same(existing.schema(), &schema) {
        true => Arc::clone(existing.schema()),
        false => Arc::new(schema),
    })
}

/// Does the same as [`open`], with the schema of the settings.
pub(crate) fn open_with(
    settings: &Settings,
    schema: Arc<Schema>,
    plan: &StorePlan<'_>,
    statistics: Option<&Arc<Statistics>>,
) -> Result<(Directory, Option<Arc<Monitor>>), OpenError> {
    check::check_names(settings, &schema)?;
    let stores = settings
        .served_stores()
        .map(|database| store(settings, database, &schema, plan))
        .collect::<Result<Vec<_>, _>>()?;
    let databases = settings.served_stores().zip(&stores);
    let databases = databases
        .map(|(database, store)| database_options(settings, database, Arc::clone(store)))
        .collect::<Result<Vec<_>, _>>()?;
    let monitor = statistics.map(|statistics| {
        let databases = monitored(settings, &stores);
        Arc::new(Monitor::new(Arc::clone(statistics), databases))
    });
    let mut options = directory_options(settings, schema, databases)?;
    options.monitor = monitor_options(settings, monitor.as_ref())?;
    if let Some(statistics) = statistics {
        options.slow_searches = statistics.slow_searches().clone();
    }
    let directory = match plan.existing {
        Some(existing) => existing.reopened(options)?,
        None => Directory::open(options)?,
    };
    Ok((directory, monitor))
}

/// Sets limits and durability, and requests the indexes of a directory whose stores were open
/// before.
pub(crate) fn apply_to_stores(settings: &Settings, directory: &Directory) -> Result<(), OpenError> {
    for (database, open) in settings.served_stores().zip(directory.databases()) {
        let store = open.shared_store();
        let storage = &database.storage;
        store.limit_entries(*storage.entry_bytes_max);
        store.limit_growth(*storage.map_bytes_max);
        store.limit_log(*storage.log_bytes_max);
        let set = store.set_durability(convert::durability(*storage.durability));
        set.map_err(|source| fulgurite_store::OpenError::Read {
            path: store.path().to_owned(),
            source,
        })?;
    }
    for (database, open) in settings.served_stores().zip(directory.databases()) {
        let store = open.shared_store();
        if database.names_indexes() {
            store.request_indexes(&indexes(database))?;
        } else {
            add_needed_indexes(database, &store)?;
        }
    }
    Ok(())
}

/// Returns what the settings add to the root DSE.
fn root_dse_attributes(settings: &Settings) -> Result<Vec<NamedValues>, OpenError> {
    let mut attributes = settings.global.root_dse_attributes()?;
    if settings.cluster()?.is_some() {
        let controls = [oid::LINEARIZABLE_READ, oid::CLUSTER_POSITION];
        let controls = controls.map(|oid| oid.as_bytes().to_vec());
        attributes.push(("supportedControl".to_owned(), controls.to_vec()));
    }
    Ok(attributes)
}

fn directory_options(
    settings: &Settings,
    schema: Arc<Schema>,
    databases: Vec<DatabaseOptions>,
) -> Result<DirectoryOptions, OpenError> {
    let global = &settings.global;
    let texts = |list: &[Sourced<String>]| list.iter().map(|text| text.value.clone()).collect();
    Ok(DirectoryOptions {
        access: convert::rules(&settings.frontend.access),
        without_rules: convert::without_rules(settings),
        auth: convert::auth(global)?,
        root_dse: root_dse_attributes(settings)?,
        limits: convert::limits(&settings.frontend),
        restrictions: convert::restrictions(&settings.frontend),
        allow: *global.allow,
        disallow: *global.disallow,
        referral: texts(&global.referrals),
        sorted_values: global.sort_values.value.clone(),
        default_search_base: global.default_search_base.value.clone(),
        config: Some(config_options(settings)?),
        access_logs: access_logs(settings)?,
        audit_style: AuditStyle {
            json: *global.audit_format == AuditFormat::Json,
            durable: *global.audit_durable,
        },
        overlays: settings.frontend_overlays.clone(),
        server_id: ServerId::own(&global.server_ids, &global.listen),
        log: Arc::new(ServerLog),
        ..DirectoryOptions::new(schema, databases)
    })
}

/// Returns the store of a database: the open one, a new one, or an existing one.
fn store(
    settings: &Settings,
    database: &Database,
    schema: &Arc<Schema>,
    plan: &StorePlan<'_>,
) -> Result<Arc<Store>, OpenError> {
    let mut options = store_options(database)?;
    options.checkpoints = settings.has_checkpoints(database);
    let folder = database.directory()?;
    let existing = plan.existing.map(Directory::shared_stores);
    let existing = existing.into_iter().flatten();
    if let Some(store) = existing.into_iter().find(|store| store.path() == folder) {
        if Arc::ptr_eq(store.schema(), schema) && store.has_suffixes(&options.suffixes) {
            return Ok(store);
        }
        let store = store.with_suffixes(Arc::clone(schema), &options.suffixes)?;
        return Ok(Arc::new(store));
    }
    if plan.make && !Store::exists(folder) {
        if !plan.make_folders && !folder.is_dir() {
            return Err(OpenError::NoFolder(folder.to_owned()));
        }
        let shown = folder.display();
        match folder.is_dir() {
            true => tracing::info!("{shown} contains no data: creating an empty store"),
            // Perhaps the path is wrong.
            false => tracing::warn!("{shown} does not exist: creating it, with an empty store"),
        }
        return Ok(Arc::new(Store::create(
            folder,
            &options,
            Arc::clone(schema),
        )?));
    }
    warn_if_exposed(database);
    if !database.names_indexes() {
        // The store keeps the indexes it was created with.
        options.indexes = None;
    }
    let store = Store::open(folder, &options, Arc::clone(schema))?;
    if !database.names_indexes() {
        add_needed_indexes(database, &store)?;
    }
    Ok(Arc::new(store))
}

/// Requests the indexes that overlays need in a store that keeps its other ones.
fn add_needed_indexes(database: &Database, store: &Store) -> Result<(), OpenError> {
    let needed = with_needed(database, Vec::new());
    if !needed.is_empty() {
        store.add_indexes(&needed)?;
    }
    Ok(())
}

fn database_options(
    settings: &Settings,
    database: &Database,
    store: Arc<Store>,
) -> Result<DatabaseOptions, OpenError> {
    let policy = &database.policy;
    Ok(DatabaseOptions {
        subordinate: *database.content.subordinate,
        hidden: *database.content.hidden,
        overlays: database.overlays.clone(),
        root: convert::root(database)?,
        access: convert::rules(&policy.access),
        limits: Some(convert::limits(policy)),
        restrictions: convert::restrictions(policy),
        replication: replication::options(settings, database)?,
        last_mod: *policy.last_mod,
        last_bind_s: policy.last_bind.then_some(*policy.last_bind_precision),
        add_content_acl: *policy.add_content_acl,
        max_deref_depth: *policy.max_deref_depth,
        snapshot_candidates_max: (*database.storage.snapshot_entries).into(),
        expanded_max: usize::try_from(*policy.expanded).unwrap_or(usize::MAX),
        tree_delete_max: bound(*policy.tree_delete),
        ..DatabaseOptions::new(store)
    })
}

/// Returns a bound as a length; `None` is no bound.
fn bound(entries: Option<u32>) -> usize {
    let entries = entries.map(usize::try_from);
    entries.map_or(usize::MAX, |entries| entries.unwrap_or(usize::MAX))
}

/// Returns the options of the database `cn=Monitor`, if the settings have one.
fn monitor_options(
    settings: &Settings,
    monitor: Option<&Arc<Monitor>>,
) -> Result<Option<TreeOptions>, OpenError> {
    let declared = settings
        .databases
        .iter()
        .find(|database| database.kind == DatabaseKind::Monitor);
    let Some((database, monitor)) = declared.zip(monitor) else {
        return Ok(None);
    };
    let policy = &database.policy;
    let source: Arc<dyn TreeSource> = Arc::<Monitor>::clone(monitor);
    Ok(Some(TreeOptions {
        root: convert::root(database)?,
        access: convert::rules(&policy.access),
        limits: Some(convert::limits(policy)),
        restrictions: convert::restrictions(policy),
        ..TreeOptions::new(source)
    }))
}

/// Returns the options of the trees that show logs of changes.
fn access_logs(settings: &Settings) -> Result<Vec<AccessLogOptions>, OpenError> {
    let logs = settings.access_logs().map(|database| {
        let policy = &database.policy;
        Ok(AccessLogOptions {
            root: convert::root(database)?,
            access: convert::rules(&policy.access),
            limits: Some(convert::limits(policy)),
            restrictions: convert::restrictions(policy),
            provides: database
                .served_overlays()
                .any(|overlay| overlay.name.eq_ignore_ascii_case("syncprov")),
            folder: database.directory().ok().map(std::path::Path::to_owned),
            ..AccessLogOptions::new(database.suffix()?)
        })
    });
    logs.collect()
}

/// Returns the options of the database `cn=config`.
pub(super) fn config_options(settings: &Settings) -> Result<TreeOptions, OpenError> {
    let policy = &settings.config.policy;
    Ok(TreeOptions {
        root: convert::root(&settings.config)?,
        access: convert::rules(&policy.access),
        limits: Some(convert::limits(policy)),
        restrictions: convert::restrictions(policy),
        refusal: settings
            .files
            .is_none()
            .then(|| FIXED_CONFIGURATION.to_owned()),
        provides: has_provider(&settings.config),
        ..TreeOptions::new(Arc::new(ConfigTree::new(settings)?))
    })
}

fn has_provider(database: &Database) -> bool {
    let mut overlays = database.overlays.iter();
    overlays.any(|overlay| overlay.name == "syncprov")
}

/// Returns true for a copy that clients may not update.
fn is_shadow(settings: &Settings, database: &Database) -> bool {
    let content = &database.content;
    let mut providers = content.syncrepl.iter();
    let has_provider = providers
        .any(|setting| replication::is_other_server(&settings.global, &setting.value.settings));
    let is_copy = has_provider || content.update_dn.is_some();
    is_copy && !*content.multi_provider
}

/// Returns all databases in the order of their numbers; the configuration is the first.
fn monitored(settings: &Settings, stores: &[Arc<Store>]) -> Vec<MonitoredDatabase> {
    let mut stores = stores.iter();
    let all = [&settings.config].into_iter().chain(&settings.databases);
    let suffixes = |database: &Database| -> Vec<String> {
        let suffixes = database.content.suffixes.iter();
        suffixes.map(|suffix| suffix.value.clone()).collect()
    };
    all.filter_map(|database| {
        let (kind, suffixes) = match database.kind {
            // No store is open for a log of changes.
            DatabaseKind::Mdb if settings.is_access_log(database) => return None,
            DatabaseKind::Mdb => (
                MonitoredKind::Store(Arc::clone(stores.next()?)),
                suffixes(database),
            ),
            DatabaseKind::Monitor => (MonitoredKind::Monitor, vec!["cn=Monitor".to_owned()]),
            DatabaseKind::Config => (MonitoredKind::Config, vec!["cn=config".to_owned()]),
        };
        Some(MonitoredDatabase {
            kind,
            suffixes,
            glued: *database.content.subordinate != Subordinate::No,
            read_only: *database.policy.read_only,
            shown: *database.content.monitoring,
            shadow: is_shadow(settings, database),
            update_refs: (database.content.update_refs.iter())
                .map(|url| url.value.clone())
                .collect(),
        })
    })
    .collect()
}
