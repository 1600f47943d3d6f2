//! The named databases of a store.

use crate::error::StoreError;
use fulgurite::{Database, Environment, KeyOrder, ReadTxn, Snapshot, WriteTxn};

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
    pub(crate) changes: Database,
    pub(crate) change_csn: Database,
    pub(crate) tombstones: Database,
    /// False for a store of the layout before that is only read. The three fields above have no
    /// meaning then.
    pub(crate) has_log: bool,
    /// `None` in a store of an earlier release that was opened read-only.
    pub(crate) bind_state: Option<Database>,
}

impl Databases {
    /// Creates all databases.
    pub(crate) fn create(txn: &mut WriteTxn<'_>) -> Result<Databases, StoreError> {
        let mut create = |name: &str| Ok(txn.create_database(name, KeyOrder::Lexical)?);
        let bind_state = create(BIND_STATE)?;
        Databases::each(true, create, Some(bind_state))
    }

    /// Opens all databases; without those of the log if the store has none.
    pub(crate) fn open(txn: &ReadTxn<'_>, has_log: bool) -> Result<Databases, StoreError> {
        let bind_state = open_bind_state(txn)?;
        Databases::each(
            has_log,
            |name| Ok(txn.open_database(Some(name))?),
            bind_state,
        )
    }

    /// Creates the databases that the layout before this one lacks.
    pub(crate) fn create_missing(txn: &mut WriteTxn<'_>) -> Result<(), StoreError> {
        for name in [CHANGES, CHANGE_CSN, TOMBSTONES] {
            txn.create_database(name, KeyOrder::Lexical)?;
        }
        Ok(())
    }

    /// Empties the databases of the log.
    pub(crate) fn clear_log(txn: &mut WriteTxn<'_>) -> Result<(), StoreError> {
        for name in [CHANGES, CHANGE_CSN, TOMBSTONES] {
            let database = txn.open_database(Some(name))?;
            txn.clear_database(database)?;
        }
        Ok(())
    }

    fn each(
        has_log: bool,
        mut database: impl FnMut(&str) -> Result<Database, StoreError>,
        bind_state: Option<Database>,
    ) -> Result<Databases, StoreError> {
        let meta = database(META)?;
        let mut of_log = |name| match has_log {
            true => database(name),
            false => Ok(meta),
        };
        let (changes, change_csn) = (of_log(CHANGES)?, of_log(CHANGE_CSN)?);
        let tombstones = of_log(TOMBSTONES)?;
        Ok(Databases {
            meta,
            attributes: database("attributes")?,
            entries: database(ENTRIES)?,
            names: database("names")?,
            counts: database("counts")?,
            index: database("index")?,
            values: database("values")?,
            changes,
            change_csn,
            tombstones,
            has_log,
            bind_state,
        })
    }
}

/// Creates the database of bind states in a store of an earlier release. A store that is open
/// read-only stays without.
pub(crate) fn add_bind_state(env: &Environment) -> Result<(), StoreError> {
    if open_bind_state(&env.read()?)?.is_some() {
        return Ok(());
    }
    let mut txn = match env.write() {
        Err(fulgurite::Error::ReadOnly) => return Ok(()),
        txn => txn?,
    };
    txn.create_database(BIND_STATE, KeyOrder::Lexical)?;
    Ok(txn.commit()?)
}

fn open_bind_state(txn: &impl Snapshot) -> Result<Option<Database>, StoreError> {
    open_if_exists(txn, BIND_STATE)
}

/// Opens the database of the store's description; `None` if the environment holds no store.
pub(crate) fn open_meta(txn: &impl Snapshot) -> Result<Option<Database>, StoreError> {
    open_if_exists(txn, META)
}

/// Opens the database of the entries; `None` if the environment holds no store.
pub(super) fn open_entries(txn: &impl Snapshot) -> Result<Option<Database>, StoreError> {
    open_if_exists(txn, ENTRIES)
}

fn open_if_exists(txn: &impl Snapshot, name: &str) -> Result<Option<Database>, StoreError> {
    match txn.open_database(Some(name)) {
        Ok(db) => Ok(Some(db)),
        Err(fulgurite::Error::NoDatabase(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Name of the database of the entries.
const ENTRIES: &str = "entries";

/// Name of the database of the store's description.
const META: &str = "meta";

const BIND_STATE: &str = "bind_state";
const CHANGES: &str = "changes";
const CHANGE_CSN: &str = "change_csn";
const TOMBSTONES: &str = "tombstones";
