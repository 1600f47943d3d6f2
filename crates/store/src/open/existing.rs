//! Opening a store that exists.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::environment::open_environment;
use super::suffixes::stored_suffixes;
use crate::attributes::{AttributeTable, TableError};
use crate::changes::SharedRetention;
use crate::error::{OpenError, StoreError};
use crate::index::{IndexState, Indexes};
use crate::overflow_values::INLINE_MAX;
use crate::store::{
    Databases, Description, LAYOUT, LAYOUT_UNCHAINED, LAYOUT_WITHOUT_LOG, StateTables, Store,
    StoreOptions, add_bind_state, recover_log, renew_layout,
};
use fulgurite::{Environment, Snapshot as _};
use fulgurite_schema::Schema;

impl Store {
    /// Opens the store in the directory `path`.
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::NotAStore`] if there is none.
    pub fn open(
        path: &Path,
        options: &StoreOptions,
        schema: Arc<Schema>,
    ) -> Result<Store, OpenError> {
        match FoundFile::at(path) {
            FoundFile::None => return Err(OpenError::NotAStore { path: path.into() }),
            FoundFile::OpenLdap => return Err(OpenError::OpenLdap { path: path.into() }),
            FoundFile::Other => {}
        }
        let env = Arc::new(open_environment(path, options)?);
        Store::of_environment(env, path, options, schema)
    }

    /// Returns true if `path` holds an engine file: a store, or a file that [`Store::open`] will
    /// refuse. A file without any record is none: its maker was killed before the first commit, and
    /// [`Store::create`] takes it.
    #[must_use]
    pub fn exists(path: &Path) -> bool {
        !matches!(FoundFile::at(path), FoundFile::None)
    }

    /// Opens the same store with another schema, for a schema that grows while the server runs.
    ///
    /// Both handles may be used at the same time. The older handle cannot read attributes that only
    /// the newer schema defines.
    ///
    /// # Errors
    /// [`OpenError::SchemaLacks`] if the schema does not define a stored attribute type.
    pub fn with_schema(&self, schema: Arc<Schema>) -> Result<Store, OpenError> {
        self.with(schema, Vec::new())
    }

    /// Opens the same store with another schema and, if it has no entries, with other suffixes.
    ///
    /// # Errors
    /// As above, and [`OpenError::Suffixes`] for a store with entries below other suffixes.
    pub fn with_suffixes(
        &self,
        schema: Arc<Schema>,
        suffixes: &[String],
    ) -> Result<Store, OpenError> {
        self.with(schema, suffixes.to_vec())
    }

    fn with(&self, schema: Arc<Schema>, suffixes: Vec<String>) -> Result<Store, OpenError> {
        let options = StoreOptions {
            suffixes,
            rdn_hash_bits_ignored: !self.rdn_hash_mask,
            entry_bytes_max: Some(self.entry_bytes_max.load(Ordering::Relaxed)),
            inline_values_max: Some(self.inline_values_max),
            // Without a log, the other handle was opened for reading only.
            read_only: !self.dbs.has_log,
            ..StoreOptions::default()
        };
        let mut store = Store::of_environment(Arc::clone(&self.env), &self.path, &options, schema)?;
        store.commit_counters = Arc::clone(&self.commit_counters);
        store.newest_rename = Arc::clone(&self.newest_rename);
        store.log_readers = Arc::clone(&self.log_readers);
        store.keep_changes(self.retention());
        Ok(store)
    }

    fn of_environment(
        env: Arc<Environment>,
        path: &Path,
        options: &StoreOptions,
        schema: Arc<Schema>,
    ) -> Result<Store, OpenError> {
        let read = |source: StoreError| OpenError::Read {
            path: path.into(),
            source,
        };
        let description = Description::read(&env)
            .map_err(read)?
            .ok_or_else(|| not_a_store(&env, path))?;
        let is_older = [LAYOUT_UNCHAINED, LAYOUT_WITHOUT_LOG].contains(&&*description.layout);
        if !is_older && description.layout != LAYOUT {
            return Err(OpenError::Layout {
                path: path.into(),
                found: description.layout,
                expected: LAYOUT,
            });
        }
        // A reader takes the store as it is.
        let has_log = !options.read_only || description.layout != LAYOUT_WITHOUT_LOG;
        if is_older && !options.read_only {
            renew_layout(&env).map_err(read)?;
        }
        if !options.read_only {
            add_bind_state(&env).map_err(read)?;
        }
        let asked = (options.suffixes.as_slice(), options.read_only);
        let suffixes = stored_suffixes((path, &env), &schema, &description, asked)?;
        let tables = read_tables(&env, &schema, has_log);
        let (dbs, state, table) = tables.map_err(|error| match error {
            TableError::Store(source) => read(source),
            TableError::Undefined(attribute) => OpenError::SchemaLacks {
                path: path.into(),
                attribute,
            },
        })?;
        if !options.read_only {
            recover_log(&env, &dbs).map_err(read)?;
        }
        let indexes = Indexes::of_state(&schema, &state, &table);
        let indexes = indexes.map_err(|damage| read(damage.into()))?;
        let store = Store {
            env,
            dbs,
            tables: StateTables::new(Arc::clone(&schema), dbs, table, indexes),
            schema,
            rdn_hash_mask: !options.rdn_hash_bits_ignored,
            entry_bytes_max: AtomicU64::new(options.entry_bytes_max.unwrap_or(u64::MAX)),
            inline_values_max: options.inline_values_max.unwrap_or(INLINE_MAX),
            suffixes,
            retention: SharedRetention::of_bytes(options.log_bytes_max),
            commit_counters: Arc::default(),
            newest_rename: Arc::default(),
            log_readers: Arc::default(),
            path: path.into(),
        };
        store.settle_indexes(&state, options)?;
        Ok(store)
    }

    /// Starts to rebuild the indexes whose matching rules have changed in the schema, and requests
    /// the indexes of the options.
    fn settle_indexes(&self, state: &IndexState, options: &StoreOptions) -> Result<(), OpenError> {
        let outdated = state.outdated(&self.schema);
        if options.read_only {
            return match outdated.first() {
                None => Ok(()),
                Some(spec) => Err(OpenError::IndexRules {
                    path: self.path.clone(),
                    index: spec.to_string(),
                }),
            };
        }
        if !outdated.is_empty() {
            self.renew_outdated_indexes()?;
        }
        if let Some(requested) = &options.indexes {
            self.request_indexes(requested)?;
        }
        Ok(())
    }
}

/// Returns the error of an environment without a description.
fn not_a_store(env: &Environment, path: &Path) -> OpenError {
    match is_openldap(env) {
        true => OpenError::OpenLdap { path: path.into() },
        false => OpenError::NotAStore { path: path.into() },
    }
}

/// The file of a directory, by a look that changes nothing.
enum FoundFile {
    /// There is none, or one without any record.
    None,
    OpenLdap,
    /// A store, or a file that cannot be opened as one.
    Other,
}

impl FoundFile {
    fn at(path: &Path) -> FoundFile {
        let length = std::fs::metadata(path.join("data.mdb")).map(|file| file.len());
        if length.map_or(true, |length| length == 0) {
            return FoundFile::None;
        }
        let options = Environment::options().read_only(true).no_lock(true);
        match options.open(path) {
            Ok(env) if env.stat().is_ok_and(|main| main.entries == 0) => FoundFile::None,
            Ok(env) if is_openldap(&env) => FoundFile::OpenLdap,
            Ok(_) | Err(_) => FoundFile::Other,
        }
    }
}

/// Returns true if the environment has OpenLDAP's table of entries.
fn is_openldap(env: &Environment) -> bool {
    let txn = env.read();
    txn.is_ok_and(|txn| txn.open_database(Some("id2e")).is_ok())
}

/// Opens the databases and reads the attribute table and the state of the indexes.
fn read_tables(
    env: &Environment,
    schema: &Schema,
    has_log: bool,
) -> Result<(Databases, IndexState, AttributeTable), TableError> {
    let txn = env.read()?;
    let dbs = Databases::open(&txn, has_log)?;
    let table = AttributeTable::load(&txn, dbs.attributes, schema)?;
    let state = IndexState::read(&txn, dbs.meta)?;
    Ok((dbs, state, table))
}
