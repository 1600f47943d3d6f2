//! The state that a statement reads: a snapshot, or that of the connection's write transaction.

use std::cmp::Ordering;

use fulgurite::{Cursor, Database, DatabaseFlags, ReadTxn, Snapshot, Stat, WriteTxn};

use crate::error::{Result, engine};
use crate::range::Range;

/// A transaction to read from.
#[derive(Clone, Copy)]
pub(crate) enum View<'t> {
    /// A snapshot.
    Snapshot(&'t ReadTxn<'t>),
    /// The state of the write transaction.
    Writer(&'t WriteTxn<'t>),
}

/// Calls a method of the transaction, whichever it is.
macro_rules! either {
    ($view:expr, $txn:ident => $call:expr) => {
        match $view {
            View::Snapshot($txn) => $call,
            View::Writer($txn) => $call,
        }
    };
}

impl<'t> View<'t> {
    /// Opens a database by name; `None` is the unnamed one.
    pub(crate) fn database(self, name: Option<&str>) -> Result<Database> {
        either!(self, txn => txn.open_database(name)).map_err(engine)
    }

    /// Returns the value of a key.
    pub(crate) fn get(self, database: Database, key: &[u8]) -> Result<Option<&'t [u8]>> {
        either!(self, txn => txn.get(database, key)).map_err(engine)
    }

    /// Returns a cursor without a position.
    pub(crate) fn cursor(self, database: Database) -> Result<Cursor<'t>> {
        either!(self, txn => txn.cursor(database)).map_err(engine)
    }

    /// Compares two keys in the order of a database.
    pub(crate) fn compare(self, database: Database, a: &[u8], b: &[u8]) -> Result<Ordering> {
        either!(self, txn => txn.compare_keys(database, a, b)).map_err(engine)
    }

    /// Returns the properties of a database.
    pub(crate) fn flags(self, database: Database) -> Result<DatabaseFlags> {
        either!(self, txn => txn.flags(database)).map_err(engine)
    }

    /// Estimates the number of records in a range.
    pub(crate) fn estimate(self, database: Database, range: &Range) -> Result<u64> {
        let bounds = (
            range.low.as_ref().map(Vec::as_slice),
            range.high.as_ref().map(Vec::as_slice),
        );
        either!(self, txn => txn.estimate_range(database, bounds)).map_err(engine)
    }

    /// Returns the size of a database.
    pub(crate) fn stat(self, database: Database) -> Result<Stat> {
        either!(self, txn => txn.stat(database)).map_err(engine)
    }
}
