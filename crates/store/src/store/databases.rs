//! The named databases of a store.

use crate::error::StoreError;
use fulgurite::{Database, KeyOrder, ReadTxn, Snapshot, WriteTxn};

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
}

impl Databases {
    /// Creates all databases.
    pub(crate) fn create(txn: &mut WriteTxn<'_>) -> Result<Databases, StoreError> {
        Databases::each(true, |name| {
            Ok(txn.create_database(name, KeyOrder::Lexical)?)
        })
    }

    /// Opens all databases; without those of the log if the store has none.
    pub(crate) fn open(txn: &ReadTxn<'_>, has_log: bool) -> Result<Databases, StoreError> {
        Databases::each(has_log, |name| Ok(txn.open_database(Some(name))?))
    }

    /// Creates the databases that the layout before this one lacks.
    pub(crate) fn create_missing(txn: &mut WriteTxn<'_>) -> Result<(), StoreError> {
        for name in [CHANGES, CHANGE_CSN, TOMBSTONES] {
            txn.create_database(name, KeyOrder::Lexical)?;
        }
        Ok(())
    }

    fn each(
        has_log: bool,
        mut database: impl FnMut(&str) -> Result<Database, StoreError>,
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
            entries: database("entries")?,
            names: database("names")?,
            counts: database("counts")?,
            index: database("index")?,
            values: database("values")?,
            changes,
            change_csn,
            tombstones,
            has_log,
        })
    }
}

/// Opens the database of the store's description; `None` if the environment holds no store.
pub(crate) fn open_meta(txn: &impl Snapshot) -> Result<Option<Database>, StoreError> {
    match txn.open_database(Some(META)) {
        Ok(db) => Ok(Some(db)),
        Err(fulgurite::Error::NoDatabase(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Name of the database of the store's description.
const META: &str = "meta";

const CHANGES: &str = "changes";
const CHANGE_CSN: &str = "change_csn";
const TOMBSTONES: &str = "tombstones";
