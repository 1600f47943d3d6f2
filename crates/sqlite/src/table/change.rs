//! Changes of a table: a row and its index entries go together.

use std::hash::{BuildHasher, RandomState};

use fulgurite::{Database, Snapshot, WriteTxn};
use rusqlite::ffi;
use rusqlite::types::{Value, ValueRef};

use super::definition::{Definition, Index};
use super::key;
use super::row::{self, Values};
use crate::error::{Result, corrupt, engine, failure};

/// How many rowids are tried at random when the greatest one is in use, as SQLite does.
const ATTEMPTS: u32 = 100;

/// The databases of a table within a write transaction.
pub(super) struct Change<'t, 'env> {
    pub(super) table: &'t str,
    pub(super) definition: &'t Definition,
    pub(super) rows: Database,
    /// In the order of the definition's indexes.
    pub(super) indexes: Vec<Database>,
    pub(super) txn: &'t mut WriteTxn<'env>,
}

impl Change<'_, '_> {
    /// Returns the number after the greatest rowid; if there is none, one at random that is free.
    pub(super) fn new_rowid(&self) -> Result<i64> {
        let mut cursor = self.txn.cursor(self.rows).map_err(engine)?;
        let Some((last, _)) = cursor.last().map_err(engine)? else {
            return Ok(1);
        };
        if let Some(next) = key::rowid(last)?.checked_add(1) {
            return Ok(next);
        }
        for attempt in 0..ATTEMPTS {
            // Each `RandomState` has random keys.
            let random = RandomState::new().hash_one(attempt);
            let rowid = (random >> 1) as i64;
            let key = key::of_rowid(rowid);
            if self.txn.get(self.rows, &key).map_err(engine)?.is_none() {
                return Ok(rowid);
            }
        }
        Err(failure(ffi::SQLITE_FULL, "no free rowid was found"))
    }

    /// Adds a row. Rows that it conflicts with are removed, or the addition is refused.
    pub(super) fn add(&mut self, rowid: i64, values: &[Value], replaces: bool) -> Result<()> {
        let entries = self.entries(rowid, values)?;
        for other in self.conflicts(rowid, values, None)? {
            if !replaces {
                return Err(self.refusal(&other));
            }
            self.remove(other.rowid)?;
        }
        self.store(rowid, values, &entries)
    }

    /// Replaces a row by another, which may have another rowid.
    pub(super) fn replace(
        &mut self,
        old: i64,
        rowid: i64,
        values: &[Value],
        replaces: bool,
    ) -> Result<()> {
        let is_here = self
            .txn
            .get(self.rows, &key::of_rowid(old))
            .map_err(engine)?
            .is_some();
        if !is_here {
            // A row before it has replaced it.
            return Ok(());
        }
        let entries = self.entries(rowid, values)?;
        for other in self.conflicts(rowid, values, Some(old))? {
            if !replaces {
                return Err(self.refusal(&other));
            }
            self.remove(other.rowid)?;
        }
        self.remove(old)?;
        self.store(rowid, values, &entries)
    }

    /// Removes a row. Returns false if there is none.
    pub(super) fn remove(&mut self, rowid: i64) -> Result<bool> {
        let rows_key = key::of_rowid(rowid);
        let Some(row) = self.txn.get(self.rows, &rows_key).map_err(engine)? else {
            return Ok(false);
        };
        let row = row.to_vec();
        for (index, database) in self.definition.indexes.iter().zip(&self.indexes) {
            let columns = index.columns.iter();
            let values = columns.map(|column| self.value(&row, rowid, *column));
            let values: Vec<_> = values.collect::<Result<_>>()?;
            let entry = key::entry(values.into_iter(), rowid, &index.name)?;
            if !self.txn.delete(*database, &entry).map_err(engine)? {
                let text = format!("the index {} lacks a row", index.name);
                return Err(corrupt(text));
            }
        }
        self.txn.delete(self.rows, &rows_key).map_err(engine)
    }

    /// Returns the entries of a row in the indexes. A refusal comes before any change.
    fn entries(&self, rowid: i64, values: &[Value]) -> Result<Vec<Vec<u8>>> {
        let indexes = self.definition.indexes.iter();
        indexes
            .map(|index| key::entry(self.indexed(index, rowid, values), rowid, &index.name))
            .collect()
    }

    fn store(&mut self, rowid: i64, values: &[Value], entries: &[Vec<u8>]) -> Result<()> {
        for (entry, database) in entries.iter().zip(&self.indexes) {
            self.txn.put(*database, entry, b"").map_err(engine)?;
        }
        let row = row::encode(values);
        self.txn
            .put(self.rows, &key::of_rowid(rowid), &row)
            .map_err(engine)
    }

    /// Returns the values of a row's columns of an index.
    fn indexed<'v>(
        &'v self,
        index: &'v Index,
        rowid: i64,
        values: &'v [Value],
    ) -> impl Iterator<Item = ValueRef<'v>> {
        let columns = index.columns.iter();
        columns.map(move |column| match self.definition.rowid_column {
            Some(found) if found == *column => ValueRef::Integer(rowid),
            _ => ValueRef::from(&values[*column]),
        })
    }

    fn value<'r>(&self, row: &'r [u8], rowid: i64, column: usize) -> Result<ValueRef<'r>> {
        match self.definition.rowid_column {
            Some(found) if found == column => Ok(ValueRef::Integer(rowid)),
            _ => Values::new(row).column(column),
        }
    }

    /// Finds the rows that must not be there together with a new one.
    fn conflicts(
        &self,
        rowid: i64,
        values: &[Value],
        but_for: Option<i64>,
    ) -> Result<Vec<Conflict>> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        let is_taken = self
            .txn
            .get(self.rows, &key::of_rowid(rowid))
            .map_err(engine)?
            .is_some();
        if is_taken && but_for != Some(rowid) {
            conflicts.push(Conflict { rowid, index: None });
        }
        let indexes = self.definition.indexes.iter().zip(&self.indexes);
        for (number, (index, database)) in indexes.enumerate() {
            let has_null = self
                .indexed(index, rowid, values)
                .any(|value| value == ValueRef::Null);
            if !index.is_unique || has_null {
                continue;
            }
            let mut entry = key::entry(self.indexed(index, rowid, values), rowid, &index.name)?;
            entry.truncate(entry.len() - 8);
            let found = self.txn.prefix(*database, &entry).map_err(engine)?;
            for record in found {
                let (found, _) = record.map_err(engine)?;
                let other = key::rowid(found)?;
                let is_known = conflicts.iter().any(|known| known.rowid == other);
                if but_for != Some(other) && !is_known {
                    conflicts.push(Conflict {
                        rowid: other,
                        index: Some(number),
                    });
                }
            }
        }
        Ok(conflicts)
    }

    /// Returns the refusal of a row, in SQLite's words.
    fn refusal(&self, conflict: &Conflict) -> rusqlite::Error {
        let (code, columns) = match conflict.index {
            None => (
                ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
                self.definition.rowid_column.into_iter().collect(),
            ),
            Some(number) => (
                ffi::SQLITE_CONSTRAINT_UNIQUE,
                self.definition.indexes[number].columns.clone(),
            ),
        };
        let names = columns.iter().map(|column| {
            let column = &self.definition.columns[*column];
            format!("{}.{}", self.table, column.name)
        });
        let mut names = names.collect::<Vec<_>>().join(", ");
        if names.is_empty() {
            names = format!("{}.rowid", self.table);
        }
        failure(code, format!("UNIQUE constraint failed: {names}"))
    }
}

/// A row that is in the way of another.
struct Conflict {
    rowid: i64,
    /// The number of the index that says so; `None` is the rowid.
    index: Option<usize>,
}
