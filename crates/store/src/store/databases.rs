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
}

impl Databases {
    /// Creates all databases.
    pub(crate) fn create(txn: &mut WriteTxn<'_>) -> Result<Databases, StoreError> {
        Databases::each(|name| Ok(txn.create_database(name, KeyOrder::Lexical)?))
    }

    /// Opens all databases.
    pub(crate) fn open(txn: &ReadTxn<'_>) -> Result<Databases, StoreError> {
        Databases::each(|name| Ok(txn.open_database(Some(name))?))
    }

    fn each(
        mut database: impl FnMut(&str) -> Result<Database, StoreError>,
    ) -> Result<Databases, StoreError> {
        Ok(Databases {
            meta: database(META)?,
            attributes: database("attributes")?,
            entries: database("entries")?,
            names: database("names")?,
            counts: database("counts")?,
            index: database("index")?,
            values: database("values")?,
        })
    }
}

/// Opens the database of the store's description; `None` if the environment holds no store.
pub(crate) fn open_meta(txn: &ReadTxn<'_>) -> Result<Option<Database>, StoreError> {
    match txn.open_database(Some(META)) {
        Ok(db) => Ok(Some(db)),
        Err(fulgurite::Error::NoDatabase(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Name of the database of the store's description.
const META: &str = "meta";
