//! Creating a store.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::environment::open_environment;
use super::suffixes::usable_suffixes;
use crate::attributes::AttributeTable;
use crate::changes::SharedRetention;
use crate::error::{OpenError, StoreError};
use crate::index::{IndexSpec, IndexState, Indexes, ResolvedSpec, resolve};
use crate::overflow_values::INLINE_MAX;
use crate::store::{Databases, Description, StateTables, Store, StoreOptions};
use fulgurite::{Database, Environment, WriteTxn};
use fulgurite_schema::{AttributeDescription, Dn, Schema};

impl Store {
    /// Creates a new, empty store in the directory `path`. A missing directory is created too, for
    /// its owner only.
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::Exists`] if there is a store already.
    pub fn create(
        path: &Path,
        options: &StoreOptions,
        schema: Arc<Schema>,
    ) -> Result<Store, OpenError> {
        let suffixes = usable_suffixes(&schema, &options.suffixes)?;
        let specs = options
            .indexes
            .clone()
            .unwrap_or_else(|| default_specs(&schema));
        let resolved = resolve(&schema, &specs)?;
        let mut folder = std::fs::DirBuilder::new();
        folder.recursive(true).mode(0o700);
        folder.create(path).map_err(|source| OpenError::Io {
            path: path.into(),
            source,
        })?;
        let env = open_environment(path, options)?;
        let state = IndexState::of_new(&resolved);
        let read = |source: StoreError| OpenError::Read {
            path: path.into(),
            source,
        };
        let created = initialise(&env, &schema, &suffixes, &resolved, &state).map_err(read)?;
        let Some((dbs, table)) = created else {
            return Err(OpenError::Exists { path: path.into() });
        };
        let indexes = Indexes::of_state(&schema, &state, &table);
        let indexes = indexes.map_err(|damage| read(damage.into()))?;
        let tables = StateTables::new(Arc::clone(&schema), dbs, table, indexes);
        Ok(Store {
            env: Arc::new(env),
            dbs,
            schema,
            tables,
            rdn_hash_mask: !options.rdn_hash_bits_ignored,
            entry_bytes_max: AtomicU64::new(options.entry_bytes_max.unwrap_or(u64::MAX)),
            inline_values_max: options.inline_values_max.unwrap_or(INLINE_MAX),
            suffixes,
            retention: SharedRetention::of_bytes(options.log_bytes_max),
            commit_counters: Arc::default(),
            newest_rename: Arc::default(),
            log_readers: Arc::default(),
            path: path.into(),
        })
    }
}

/// Creates databases and description; `None` if there are some already.
fn initialise(
    env: &Environment,
    schema: &Schema,
    suffixes: &[Dn],
    resolved: &[ResolvedSpec<'_>],
    state: &IndexState,
) -> Result<Option<(Databases, AttributeTable)>, StoreError> {
    if Description::read(env)?.is_some() {
        return Ok(None);
    }
    let mut txn = env.write()?;
    let dbs = Databases::create(&mut txn)?;
    Description::write_new(&mut txn, dbs.meta, suffixes)?;
    state.write(&mut txn, dbs.meta)?;
    let table = number_indexed(&mut txn, dbs.attributes, schema, resolved)?;
    txn.commit()?;
    Ok(Some((dbs, table)))
}

/// Gives every indexed attribute type its number, even if no entry has a value of it yet.
fn number_indexed(
    txn: &mut WriteTxn<'_>,
    db: Database,
    schema: &Schema,
    resolved: &[ResolvedSpec<'_>],
) -> Result<AttributeTable, StoreError> {
    let mut table = AttributeTable::default();
    for spec in resolved {
        let description = AttributeDescription::plain(spec.attribute.index);
        let text = description.text(schema).into_owned();
        let id = table.push(schema, description)?;
        txn.put(db, &id.key(), text.as_bytes())?;
    }
    Ok(table)
}

/// Returns the default indexes of the attributes that the schema defines.
fn default_specs(schema: &Schema) -> Vec<IndexSpec> {
    let mut specs = IndexSpec::defaults();
    specs.retain(|spec| schema.attribute(&spec.attribute).is_some());
    specs
}
