//! A table that is open: its environment, its definition, and the rules for the values of rows.

use std::rc::Rc;

use fulgurite::{Database, Snapshot};
use rusqlite::ffi;
use rusqlite::types::{Value, ValueRef};

use super::affinity::{Affinity, Conversion};
use super::change::Change;
use super::definition::Definition;
use super::plan::Source;
use crate::error::{Result, engine, failure};
use crate::session::Session;

/// The database with the definitions of all tables.
pub(super) const DEFINITIONS: &str = "sqlite";

/// A table without SQLite's part.
pub(super) struct Opened {
    pub(super) session: Rc<Session>,
    pub(super) definition: Definition,
    pub(super) names: Names,
    pub(super) conversion: Conversion,
}

/// The names of the databases of a table.
pub(super) struct Names {
    pub(super) table: String,
    pub(super) rows: String,
    /// In the order of the definition's indexes.
    pub(super) indexes: Vec<String>,
}

impl Names {
    pub(super) fn new(table: &str, definition: &Definition) -> Names {
        let rows = format!("{DEFINITIONS}/{table}");
        let index = |name: &str| format!("{rows}/{name}");
        Names {
            table: table.to_owned(),
            indexes: definition
                .indexes
                .iter()
                .map(|found| index(&found.name))
                .collect(),
            rows,
        }
    }
}

impl Opened {
    /// Returns the affinities of the columns of an index.
    pub(super) fn key_columns(&self, source: Source) -> Vec<Affinity> {
        match source {
            Source::All => Vec::new(),
            Source::Rowid => vec![Affinity::Integer],
            Source::Index(number) => {
                let index = &self.definition.indexes[number];
                let columns = index.columns.iter();
                columns
                    .map(|column| self.definition.columns[*column].affinity)
                    .collect()
            }
        }
    }

    /// Opens the databases, and makes a change.
    pub(super) fn change<T>(&self, work: impl FnOnce(Change<'_, '_>) -> Result<T>) -> Result<T> {
        self.session.write(|txn| {
            let open = |name: &String| txn.open_database(Some(name)).map_err(engine);
            let rows = open(&self.names.rows)?;
            let indexes = self.names.indexes.iter().map(open);
            let indexes: Vec<Database> = indexes.collect::<Result<_>>()?;
            work(Change {
                table: &self.names.table,
                definition: &self.definition,
                rows,
                indexes,
                txn,
            })
        })
    }

    /// Reads the values of a change, as the columns store them.
    pub(super) fn values<'v>(
        &self,
        values: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<Vec<Value>> {
        let columns = &self.definition.columns;
        let pairs = columns.iter().zip(values);
        let values = pairs.map(|(column, value)| self.conversion.apply(column.affinity, value));
        let mut values: Vec<Value> = values.collect::<Result<_>>()?;
        values.resize(columns.len(), Value::Null);
        Ok(values)
    }

    /// Takes the rowid from its column, or else from SQLite. `None` asks for a new one.
    ///
    /// An update passes the old rowid, which its column still has if the update names the rowid by
    /// another name.
    pub(super) fn take_rowid(
        &self,
        values: &mut [Value],
        given: ValueRef<'_>,
        old: Option<i64>,
    ) -> Result<Option<i64>> {
        if let Some(column) = self.definition.rowid_column {
            // The rowid is in the key; its column is empty in the row.
            let value = std::mem::replace(&mut values[column], Value::Null);
            let by_column = rowid(&value)?;
            if by_column != old {
                return Ok(by_column);
            }
        }
        rowid(&self.conversion.apply(Affinity::Integer, given)?)
    }

    pub(super) fn check_required(&self, values: &[Value]) -> Result<()> {
        for (number, (column, value)) in self.definition.columns.iter().zip(values).enumerate() {
            let is_rowid = self.definition.rowid_column == Some(number);
            if column.is_required && !is_rowid && *value == Value::Null {
                let text = format!(
                    "NOT NULL constraint failed: {}.{}",
                    self.names.table, column.name
                );
                return Err(failure(ffi::SQLITE_CONSTRAINT_NOTNULL, text));
            }
        }
        Ok(())
    }
}

/// Reads a rowid; NULL is none.
fn rowid(value: &Value) -> Result<Option<i64>> {
    match value {
        Value::Integer(rowid) => Ok(Some(*rowid)),
        Value::Null => Ok(None),
        _ => Err(failure(ffi::SQLITE_MISMATCH, "datatype mismatch")),
    }
}
