//! Creating and opening a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::apart;
use crate::attributes::{AttributeTable, TableError};
use crate::error::{Damage, OpenError, StoreError};
use crate::hints::Hints;
use crate::ids::AttributeId;
use crate::index::{IndexSpec, IndexState, Indexes, ResolvedSpec};
use crate::view::View;
use crate::write::Writer;
use arc_swap::{ArcSwap, ArcSwapOption};
use fulgurite::{Database, Durability, Environment, KeyOrder, ReadTxn, Snapshot, Txnid, WriteTxn};
use fulgurite_schema::{AttributeDescription, Dn, Schema};

/// Layout of this release. It may change until the first release of the project.
const LAYOUT: &str = "fulgurite-store 6";
const KEY_LAYOUT: &[u8] = b"layout";
const KEY_SUFFIXES: &[u8] = b"suffixes";
const KEY_SECRET: &[u8] = b"secret";

/// How to create or open a store.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// Names of the topmost entries, as text. On opening, none means those stored.
    pub suffixes: Vec<String>,
    /// What to index. On creation, `None` means [`IndexSpec::defaults`]. On opening, `None` means the indexes that
    /// the store has; others than those are asked for, as [`Store::request_indexes`] does, unless it is opened read-only.
    pub indexes: Option<Vec<IndexSpec>>,
    /// Open without the right to write: works beside a running server.
    pub read_only: bool,
    /// When commits reach the disk.
    pub durability: Option<Durability>,
    /// Upper bound of the number of views held at once; the engine's default when `None`.
    pub readers_max: Option<u32>,
    /// Upper bound of the file in bytes; the engine's default when `None`.
    pub map_bytes_max: Option<u64>,
    /// Permissions of files that are made, before the process's mask; the engine's default when `None`.
    pub file_mode: Option<u32>,
    /// Octets of one entry's record at most, see [`Store::limit_entries`]; no bound when `None`.
    pub entry_bytes_max: Option<u64>,
    /// Makes RDN hashes collide, for tests.
    #[doc(hidden)]
    pub rdn_hash_bits_ignored: u64,
    /// Lets attributes of more than so many values lie apart, for tests.
    #[doc(hidden)]
    pub inline_values_max: Option<usize>,
}

/// A directory's entries, names and indexes in one engine environment. Share it by reference or in an `Arc`.
pub struct Store {
    env: Arc<Environment>,
    pub(crate) dbs: Databases,
    pub(crate) schema: Arc<Schema>,
    /// The newest indexes that this process has seen. Views keep their own, as their snapshot has them.
    indexes: ArcSwap<Indexes>,
    pub(crate) rdn_hash_mask: u64,
    entry_bytes_max: AtomicU64,
    /// Attributes with more values lie apart from the record.
    pub(crate) inline_values_max: usize,
    suffixes: Vec<Dn>,
    path: PathBuf,
    /// The newest table that this process has seen. Views keep their own reference and look here only when their
    /// snapshot has more attributes than that. Looking takes no lock: every search does.
    attributes: ArcSwap<AttributeTable>,
    /// Both of them for the newest state that this process has looked at: most snapshots are of the same state as the
    /// one before, and then need not be asked.
    tables: ArcSwapOption<Tables>,
}

/// What belongs to one state of the store.
struct Tables {
    state: Txnid,
    attributes: Arc<AttributeTable>,
    indexes: Arc<Indexes>,
}

/// Handles of the named databases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Databases {
    pub(crate) meta: Database,
    pub(crate) attributes: Database,
    pub(crate) entries: Database,
    pub(crate) names: Database,
    pub(crate) counts: Database,
    pub(crate) index: Database,
    pub(crate) values: Database,
}

impl Store {
    /// Makes a new, empty store in the directory `path`, which is created when it is missing.
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::Exists`] when there is a store already.
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
        std::fs::create_dir_all(path).map_err(|source| OpenError::Io {
            path: path.into(),
            source,
        })?;
        let env = environment(path, options)?;
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
        Ok(Store {
            env: Arc::new(env),
            dbs,
            schema,
            indexes: ArcSwap::from_pointee(indexes.map_err(|damage| read(damage.into()))?),
            rdn_hash_mask: !options.rdn_hash_bits_ignored,
            entry_bytes_max: AtomicU64::new(options.entry_bytes_max.unwrap_or(u64::MAX)),
            inline_values_max: options.inline_values_max.unwrap_or(apart::INLINE_MAX),
            suffixes,
            path: path.into(),
            attributes: ArcSwap::from_pointee(table),
            tables: ArcSwapOption::empty(),
        })
    }

    /// Opens the store in the directory `path`.
    ///
    /// # Errors
    /// [`OpenError`]; [`OpenError::NotAStore`] when there is none.
    pub fn open(
        path: &Path,
        options: &StoreOptions,
        schema: Arc<Schema>,
    ) -> Result<Store, OpenError> {
        if !Store::exists(path) {
            return Err(OpenError::NotAStore { path: path.into() });
        }
        let env = Arc::new(environment(path, options)?);
        Store::of_environment(env, path, options, schema)
    }

    /// The same store seen with another schema: for a schema that grows while the server runs. Both may be used side by
    /// side; what this one adds that the other does not know, the other cannot read.
    ///
    /// # Errors
    /// [`OpenError::SchemaLacks`] if the schema does not define an attribute type that the store has values of.
    pub fn with_schema(&self, schema: Arc<Schema>) -> Result<Store, OpenError> {
        let options = StoreOptions {
            rdn_hash_bits_ignored: !self.rdn_hash_mask,
            entry_bytes_max: Some(self.entry_bytes_max.load(Ordering::Relaxed)),
            inline_values_max: Some(self.inline_values_max),
            ..StoreOptions::default()
        };
        Store::of_environment(Arc::clone(&self.env), &self.path, &options, schema)
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
        let stored = Stored::read(&env)
            .map_err(read)?
            .ok_or_else(|| OpenError::NotAStore { path: path.into() })?;
        if stored.layout != LAYOUT {
            return Err(OpenError::Layout {
                path: path.into(),
                found: stored.layout,
                expected: LAYOUT,
            });
        }
        let suffixes = stored_suffixes(path, &schema, &stored, &options.suffixes)?;
        let (dbs, state, table) = open_databases(&env, &schema).map_err(|error| match error {
            TableError::Store(source) => read(source),
            TableError::Undefined(attribute) => OpenError::SchemaLacks {
                path: path.into(),
                attribute,
            },
        })?;
        let indexes = Indexes::of_state(&schema, &state, &table);
        let store = Store {
            env,
            dbs,
            schema,
            indexes: ArcSwap::from_pointee(indexes.map_err(|damage| read(damage.into()))?),
            rdn_hash_mask: !options.rdn_hash_bits_ignored,
            entry_bytes_max: AtomicU64::new(options.entry_bytes_max.unwrap_or(u64::MAX)),
            inline_values_max: options.inline_values_max.unwrap_or(apart::INLINE_MAX),
            suffixes,
            path: path.into(),
            attributes: ArcSwap::from_pointee(table),
            tables: ArcSwapOption::empty(),
        };
        store.settle_indexes(&state, options)?;
        Ok(store)
    }

    /// Indexes by rules that the schema has changed are made anew, and those asked for besides are begun.
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
        if let Some(asked) = &options.indexes {
            self.request_indexes(asked)?;
        }
        Ok(())
    }

    /// Whether `path` holds an engine file: a store, or something that [`Store::open`] will refuse.
    #[must_use]
    pub fn exists(path: &Path) -> bool {
        path.join("data.mdb").exists()
    }

    /// A view of the newest committed state.
    ///
    /// Takes a reader slot and a reference to the table of attributes, which other threads share: a thread
    /// that serves many requests keeps its view ([`View::refresh`], [`View::park`]) and then shares nothing.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance when all reader slots are taken.
    pub fn snapshot(&self) -> Result<View<'_>, StoreError> {
        let txn = self.env.read()?;
        let state = txn.id();
        let mut view = View::new(self, txn, state)?;
        view.hints = Some(Hints::default());
        Ok(view)
    }

    /// Has `take` the tables of a state, if they are known.
    pub(crate) fn with_tables<R>(
        &self,
        state: Txnid,
        take: impl FnOnce(&Arc<AttributeTable>, &Arc<Indexes>) -> R,
    ) -> Option<R> {
        let tables = self.tables.load();
        let tables = tables.as_ref().filter(|tables| tables.state == state)?;
        Some(take(&tables.attributes, &tables.indexes))
    }

    /// Takes note of the tables of a state.
    pub(crate) fn note_tables(
        &self,
        state: Txnid,
        attributes: &Arc<AttributeTable>,
        indexes: &Arc<Indexes>,
    ) {
        self.tables.store(Some(Arc::new(Tables {
            state,
            attributes: Arc::clone(attributes),
            indexes: Arc::clone(indexes),
        })));
    }

    /// The writer; waits until there is no other.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance when the store was opened read-only.
    pub fn write(&self) -> Result<Writer<'_>, StoreError> {
        self.writer(self.env.write()?)
    }

    /// As [`write`](Self::write), but `None` instead of waiting for another one.
    ///
    /// # Errors
    /// As there.
    pub fn try_write(&self) -> Result<Option<Writer<'_>>, StoreError> {
        let txn = self.env.try_write()?;
        txn.map(|txn| self.writer(txn)).transpose()
    }

    fn writer<'s>(&'s self, txn: WriteTxn<'s>) -> Result<Writer<'s>, StoreError> {
        // It has the id of the state to come.
        let state = Txnid(txn.id().0 - 1);
        Ok(Writer::new(View::new(self, txn, state)?))
    }

    /// Whether a commit waits for the disk.
    #[must_use]
    pub fn waits_for_disk(&self) -> bool {
        self.env.durability() != Durability::NoSync
    }

    /// Names of the topmost entries.
    #[must_use]
    pub fn suffixes(&self) -> &[Dn] {
        &self.suffixes
    }

    /// Whether the suffix is the empty name: every name belongs here, and what has one RDN is at the top. The empty name
    /// itself is no entry.
    #[must_use]
    pub fn holds_everything(&self) -> bool {
        self.suffixes.iter().any(Dn::is_root)
    }

    /// Whether an entry of this name hangs below no other one of the store.
    #[must_use]
    pub fn is_top(&self, dn: &Dn) -> bool {
        if self.holds_everything() {
            dn.depth() == 1
        } else {
            self.suffixes.contains(dn)
        }
    }

    /// The schema given on opening.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The directory of the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The engine's environment, for statistics and explicit syncs.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// The complete indexes, as text (`mail:eq,sub`), as they were last seen by this process.
    #[must_use]
    pub fn indexes(&self) -> Vec<String> {
        let indexes = self.indexes.load();
        let usable = indexes.list().iter().filter(|index| index.usable);
        let texts = usable.map(|index| {
            let kinds = crate::index::IndexKinds {
                presence: index.presence,
                equality: index.equality.is_some(),
                substring: index.substring.is_some(),
            };
            let attribute = self.schema.attribute_at(index.attribute);
            format!("{}:{kinds}", attribute.name())
        });
        texts.collect()
    }

    /// From now on entries are refused whose record takes more than so many octets: its name, its values, their descriptions
    /// and a few octets for each of them. Those that are there stay until they are changed.
    pub fn limit_entries(&self, bytes_max: Option<u64>) {
        let bytes_max = bytes_max.unwrap_or(u64::MAX);
        self.entry_bytes_max.store(bytes_max, Ordering::Relaxed);
    }

    /// Whether there is a bound of the size of entries.
    #[must_use]
    pub fn limits_entries(&self) -> bool {
        self.entry_bytes_max.load(Ordering::Relaxed) != u64::MAX
    }

    /// Refuses a record that is larger than entries may be.
    pub(crate) fn check_size(&self, record: &[u8]) -> Result<(), StoreError> {
        let (bytes, bytes_max) = (
            record.len() as u64,
            self.entry_bytes_max.load(Ordering::Relaxed),
        );
        if bytes > bytes_max {
            return Err(StoreError::EntryTooBig { bytes, bytes_max });
        }
        Ok(())
    }

    /// Octets that only this store's servers know: made once, of `made_up`, and kept with the database, so that what
    /// they authenticate outlives the process. Waits for another writer, the first time only.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance when there is none yet and the store was opened read-only.
    pub fn secret(&self, made_up: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], StoreError> {
        if let Some(secret) = secret_of(&self.env.read()?, self.dbs.meta)? {
            return Ok(secret);
        }
        let mut txn = self.env.write()?;
        // Another process may have been faster.
        if let Some(secret) = secret_of(&txn, self.dbs.meta)? {
            return Ok(secret);
        }
        let secret = made_up();
        txn.put(self.dbs.meta, KEY_SECRET, &secret)?;
        txn.commit()?;
        Ok(secret)
    }

    /// Which state of the indexes a snapshot has.
    pub(crate) fn index_generation(&self, txn: &impl Snapshot) -> Result<u64, StoreError> {
        IndexState::generation_of(txn, self.dbs.meta)
    }

    /// The indexes of a snapshot.
    pub(crate) fn indexes_of(
        &self,
        txn: &impl Snapshot,
        table: &AttributeTable,
    ) -> Result<Arc<Indexes>, StoreError> {
        let generation = self.index_generation(txn)?;
        let newest = self.indexes.load_full();
        if newest.generation == generation {
            return Ok(newest);
        }
        let state = IndexState::read(txn, self.dbs.meta)?;
        let indexes = Arc::new(Indexes::of_state(&self.schema, &state, table)?);
        self.indexes.rcu(|current| {
            let is_newer = generation > current.generation;
            Arc::clone(if is_newer { &indexes } else { current })
        });
        Ok(indexes)
    }

    /// Takes note of a committed table.
    pub(crate) fn publish(&self, table: &Arc<AttributeTable>) {
        self.attributes.rcu(|current| {
            let is_newer = table.len() > current.len();
            Arc::clone(if is_newer { table } else { current })
        });
    }

    /// A table that knows at least every attribute of the snapshot.
    pub(crate) fn attributes_of(
        &self,
        txn: &impl Snapshot,
    ) -> Result<Arc<AttributeTable>, StoreError> {
        let table = self.attributes.load_full();
        if self.knows_all(&table, txn)? {
            return Ok(table);
        }
        let newer = AttributeTable::load(txn, self.dbs.attributes, &self.schema);
        let newer = Arc::new(newer.map_err(|error| match error {
            TableError::Store(error) => error,
            TableError::Undefined(_) => Damage::Attribute.into(),
        })?);
        self.publish(&newer);
        Ok(newer)
    }

    pub(crate) fn knows_all(
        &self,
        table: &AttributeTable,
        txn: &impl Snapshot,
    ) -> Result<bool, StoreError> {
        Ok(table.len() as u64 >= txn.stat(self.dbs.attributes)?.entries)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

fn secret_of(txn: &impl Snapshot, meta: Database) -> Result<Option<[u8; 32]>, StoreError> {
    let stored = txn.get(meta, KEY_SECRET)?;
    let secret = stored.map(|octets| octets.try_into().map_err(|_| Damage::Description.into()));
    secret.transpose()
}

/// The store's description of itself.
struct Stored {
    layout: String,
    suffixes: Vec<String>,
}

impl Stored {
    fn read(env: &Environment) -> Result<Option<Stored>, StoreError> {
        let txn = env.read()?;
        let Some(meta) = optional(&txn, "meta")? else {
            return Ok(None);
        };
        let text = |key: &[u8]| -> Result<String, StoreError> {
            let bytes = txn.get(meta, key)?.ok_or(Damage::Description)?;
            Ok(std::str::from_utf8(bytes)
                .map_err(|_| Damage::Description)?
                .to_owned())
        };
        Ok(Some(Stored {
            layout: text(KEY_LAYOUT)?,
            suffixes: text(KEY_SUFFIXES)?.split('\n').map(str::to_owned).collect(),
        }))
    }
}

fn optional(txn: &ReadTxn<'_>, name: &str) -> Result<Option<Database>, StoreError> {
    match txn.open_database(Some(name)) {
        Ok(db) => Ok(Some(db)),
        Err(fulgurite::Error::NoDatabase(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn environment(path: &Path, options: &StoreOptions) -> Result<Environment, OpenError> {
    let mut open = Environment::options().read_only(options.read_only);
    if let Some(durability) = options.durability {
        open = open.durability(durability);
    }
    if let Some(readers) = options.readers_max {
        open = open.readers_max(readers);
    }
    if let Some(bytes) = options.map_bytes_max {
        open = open.map_bytes_max(bytes);
    }
    if let Some(mode) = options.file_mode {
        open = open.file_mode(mode);
    }
    open.open(path).map_err(|source| OpenError::Environment {
        path: path.into(),
        source,
    })
}

/// Creates databases and description; `None` when there are some already.
fn initialise(
    env: &Environment,
    schema: &Schema,
    suffixes: &[Dn],
    resolved: &[ResolvedSpec<'_>],
    state: &IndexState,
) -> Result<Option<(Databases, AttributeTable)>, StoreError> {
    if Stored::read(env)?.is_some() {
        return Ok(None);
    }
    let mut txn = env.write()?;
    let meta = txn.create_database("meta", KeyOrder::Lexical)?;
    let suffixes: Vec<&str> = suffixes.iter().map(Dn::pretty).collect();
    txn.put(meta, KEY_LAYOUT, LAYOUT.as_bytes())?;
    txn.put(meta, KEY_SUFFIXES, suffixes.join("\n").as_bytes())?;
    state.write(&mut txn, meta)?;
    let dbs = Databases {
        meta,
        attributes: txn.create_database("attributes", KeyOrder::Lexical)?,
        entries: txn.create_database("entries", KeyOrder::Lexical)?,
        names: txn.create_database("names", KeyOrder::Lexical)?,
        counts: txn.create_database("counts", KeyOrder::Lexical)?,
        index: txn.create_database("index", KeyOrder::Lexical)?,
        values: txn.create_database("values", KeyOrder::Lexical)?,
    };
    let table = number_indexed(&mut txn, dbs.attributes, schema, resolved)?;
    txn.commit()?;
    Ok(Some((dbs, table)))
}

/// Gives every indexed attribute type its number, whether it has values or not.
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
        let id: AttributeId = table.push(schema, description)?;
        txn.put(db, &id.key(), text.as_bytes())?;
    }
    Ok(table)
}

fn open_databases(
    env: &Environment,
    schema: &Schema,
) -> Result<(Databases, IndexState, AttributeTable), TableError> {
    let txn = env.read()?;
    let open = |name| txn.open_database(Some(name));
    let dbs = Databases {
        meta: open("meta")?,
        attributes: open("attributes")?,
        entries: open("entries")?,
        names: open("names")?,
        counts: open("counts")?,
        index: open("index")?,
        values: open("values")?,
    };
    let table = AttributeTable::load(&txn, dbs.attributes, schema)?;
    let state = IndexState::read(&txn, dbs.meta)?;
    Ok((dbs, state, table))
}

/// The default indexes, as far as the schema defines their attributes.
fn default_specs(schema: &Schema) -> Vec<IndexSpec> {
    let mut specs = IndexSpec::defaults();
    specs.retain(|spec| schema.attribute(&spec.attribute).is_some());
    specs
}

/// One resolved index per attribute type: kinds asked for in several places add up.
pub(crate) fn resolve<'s>(
    schema: &'s Schema,
    specs: &[IndexSpec],
) -> Result<Vec<ResolvedSpec<'s>>, OpenError> {
    let mut resolved: Vec<ResolvedSpec<'s>> = Vec::new();
    for spec in specs {
        let one = ResolvedSpec::resolve(schema, spec)?;
        match resolved
            .iter_mut()
            .find(|other| other.attribute.index == one.attribute.index)
        {
            Some(other) => other.kinds.merge(one.kinds),
            None => resolved.push(one),
        }
    }
    Ok(resolved)
}

fn stored_suffixes(
    path: &Path,
    schema: &Schema,
    stored: &Stored,
    asked: &[String],
) -> Result<Vec<Dn>, OpenError> {
    let suffixes = usable_suffixes(schema, &stored.suffixes)?;
    if !asked.is_empty() {
        let asked = usable_suffixes(schema, asked)?;
        if asked.len() != suffixes.len() || !asked.iter().all(|dn| suffixes.contains(dn)) {
            let list = |dns: &[Dn]| {
                dns.iter()
                    .map(|dn| format!("{:?}", dn.pretty()))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            return Err(OpenError::Suffixes {
                path: path.into(),
                stored: list(&suffixes),
                asked: list(&asked),
            });
        }
    }
    Ok(suffixes)
}

fn usable_suffixes(schema: &Schema, texts: &[String]) -> Result<Vec<Dn>, OpenError> {
    let mut suffixes: Vec<Dn> = Vec::new();
    for text in texts {
        let unusable = || OpenError::UnusableSuffix(text.clone());
        let dn = Dn::parse(schema, text).map_err(|_| unusable())?;
        if suffixes
            .iter()
            .any(|other| dn.is_within(other) || other.is_within(&dn))
        {
            return Err(unusable());
        }
        suffixes.push(dn);
    }
    if suffixes.is_empty() {
        Err(OpenError::UnusableSuffix(String::new()))
    } else {
        Ok(suffixes)
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
