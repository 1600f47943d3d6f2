//! Column affinity: the type that SQLite prefers for the values of a column.

use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

use crate::error::Result;

/// A column's preferred type (SQLite's documentation, "Datatypes In SQLite", section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Affinity {
    Integer,
    Real,
    Numeric,
    Text,
    Blob,
}

impl Affinity {
    /// Finds the affinity of a declared type, by the rules in SQLite's order.
    pub(crate) fn of_declared(declared: &str) -> Affinity {
        let declared = declared.to_ascii_uppercase();
        let has = |part: &str| declared.contains(part);
        match () {
            () if has("INT") => Affinity::Integer,
            () if has("CHAR") || has("CLOB") || has("TEXT") => Affinity::Text,
            () if declared.is_empty() || has("BLOB") => Affinity::Blob,
            () if has("REAL") || has("FLOA") || has("DOUB") => Affinity::Real,
            () => Affinity::Numeric,
        }
    }

    /// Returns true if comparisons turn readable text into numbers.
    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Affinity::Integer | Affinity::Real | Affinity::Numeric)
    }

    const fn column(self) -> &'static str {
        match self {
            Affinity::Integer => "i",
            Affinity::Real => "r",
            Affinity::Numeric => "n",
            Affinity::Text => "t",
            Affinity::Blob => "b",
        }
    }
}

/// Converts values as SQLite does: by letting a table of SQLite store them.
pub(crate) struct Conversion {
    scratch: Connection,
}

impl Conversion {
    /// Makes the table that converts.
    pub(crate) fn new() -> Result<Conversion> {
        let scratch = Connection::open_in_memory()?;
        scratch.execute_batch(
            "CREATE TABLE v(i INTEGER, r REAL, n NUMERIC, t TEXT, b BLOB); INSERT INTO v DEFAULT VALUES",
        )?;
        Ok(Conversion { scratch })
    }

    /// Returns a value as a column stores it. Costs two statements if the type changes.
    pub(crate) fn apply(&self, affinity: Affinity, value: ValueRef<'_>) -> Result<Value> {
        let stays = matches!(
            (affinity, value),
            (_, ValueRef::Null | ValueRef::Blob(_))
                | (Affinity::Blob, _)
                | (Affinity::Text, ValueRef::Text(_))
                | (Affinity::Integer | Affinity::Numeric, ValueRef::Integer(_))
                | (Affinity::Real, ValueRef::Real(_))
        );
        if stays {
            return Ok(owned(value));
        }
        let column = affinity.column();
        let value = owned(value);
        self.scratch
            .execute(&format!("UPDATE v SET {column} = ?1"), [&value])?;
        self.scratch
            .query_row(&format!("SELECT {column} FROM v"), [], |row| row.get(0))
    }
}

/// Copies a value. Text that is no UTF-8 stays as it is, as a blob.
pub(crate) fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Blob(text.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
