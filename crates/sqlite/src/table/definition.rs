//! The definition of a table, read by SQLite's own parser.
//!
//! An SQLite database in memory makes the table and its indexes. Its pragmas then tell what they
//! are.

use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::vtab::dequote;

use super::affinity::Affinity;
use crate::error::{Result, misuse};

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) affinity: Affinity,
    pub(crate) is_required: bool,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) columns: Vec<usize>,
    pub(crate) is_unique: bool,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The environment, if the arguments name one.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) columns: Vec<Column>,
    /// The column that is another name of the rowid (`INTEGER PRIMARY KEY`).
    pub(crate) rowid_column: Option<usize>,
    pub(crate) indexes: Vec<Index>,
    /// The statement that tells SQLite the columns.
    pub(crate) declaration: String,
    /// The arguments but for the path, as the environment keeps them.
    pub(crate) text: String,
}

impl Definition {
    /// Reads the arguments of `CREATE VIRTUAL TABLE t USING fulgurite(...)`.
    pub(crate) fn parse(arguments: &[&[u8]]) -> Result<Definition> {
        let (mut directory, mut columns, mut indexes) = (None, Vec::new(), Vec::new());
        for argument in arguments {
            let argument = std::str::from_utf8(argument)?.trim();
            let word = argument
                .split([' ', '=', '(', '\t', '\n'])
                .next()
                .unwrap_or("");
            match word.to_ascii_lowercase().as_str() {
                "directory" if argument[word.len()..].trim_start().starts_with('=') => {
                    let value = argument.split_once('=').map_or("", |(_, value)| value);
                    directory = Some(PathBuf::from(&*dequote(value.trim())));
                }
                "index" => indexes.push(argument[word.len()..].trim().to_owned()),
                _ => columns.push(argument),
            }
        }
        if columns.is_empty() {
            return Err(misuse("a table has columns"));
        }
        let declaration = format!("CREATE TABLE x({})", columns.join(", "));
        let text = [&declaration].into_iter().chain(&indexes);
        let text = text.map(String::as_str).collect::<Vec<_>>().join("\n");
        let scratch = Connection::open_in_memory()?;
        refuse_clauses(&declaration)?;
        scratch.execute(&declaration, [])?;
        for index in &indexes {
            let Some((name, columns)) = index.split_once('(') else {
                return Err(misuse(format!(
                    "an index is INDEX name(columns), not '{index}'"
                )));
            };
            scratch.execute(&format!("CREATE INDEX {name} ON x({columns}"), [])?;
        }
        let mut definition = Definition {
            directory,
            columns: columns_of(&scratch)?,
            rowid_column: None,
            indexes: Vec::new(),
            declaration,
            text,
        };
        definition.find_rowid_column(&scratch)?;
        definition.indexes = definition.indexes_of(&scratch)?;
        Ok(definition)
    }

    fn find_rowid_column(&mut self, scratch: &Connection) -> Result<()> {
        let mut statement =
            scratch.prepare("SELECT cid, upper(type) FROM pragma_table_info('x') WHERE pk > 0")?;
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        let keys: Vec<_> = rows.collect::<Result<_>>()?;
        if let [(column, declared)] = &keys[..]
            && declared == "INTEGER"
        {
            self.rowid_column = usize::try_from(*column).ok();
        }
        Ok(())
    }

    fn indexes_of(&self, scratch: &Connection) -> Result<Vec<Index>> {
        let mut statement = scratch
            .prepare("SELECT name, \"unique\", origin, partial FROM pragma_index_list('x')")?;
        let rows = statement.query_map([], |row| {
            Ok((
                row.get(0)?,
                row.get(1)?,
                row.get::<_, String>(2)?,
                row.get(3)?,
            ))
        })?;
        let mut indexes = Vec::new();
        for row in rows {
            let (name, is_unique, origin, is_partial): (String, bool, String, bool) = row?;
            if is_partial {
                return Err(misuse("partial indexes are not supported"));
            }
            let columns = index_columns(scratch, &name)?;
            let name = match origin.as_str() {
                "c" => name,
                // SQLite's own name has the number of the constraint, which is not a name to keep.
                _ => {
                    let names = columns
                        .iter()
                        .map(|column| self.columns[*column].name.as_str());
                    format!("unique {}", names.collect::<Vec<_>>().join(" "))
                }
            };
            indexes.push(Index {
                name,
                columns,
                is_unique,
            });
        }
        indexes.sort_by(|a, b| a.name.cmp(&b.name));
        if indexes.windows(2).any(|pair| pair[0].name == pair[1].name) {
            return Err(misuse("two indexes have one name"));
        }
        Ok(indexes)
    }
}

/// Refuses clauses that SQLite does not check for virtual tables.
fn refuse_clauses(declaration: &str) -> Result<()> {
    let words = declaration.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    for word in words {
        for clause in [
            "CHECK",
            "REFERENCES",
            "COLLATE",
            "GENERATED",
            "AUTOINCREMENT",
            "DEFAULT",
            "CONFLICT",
        ] {
            if word.eq_ignore_ascii_case(clause) {
                let text = format!("{clause} is not supported in tables of an environment");
                return Err(misuse(text));
            }
        }
    }
    Ok(())
}

fn columns_of(scratch: &Connection) -> Result<Vec<Column>> {
    let mut statement = scratch
        .prepare("SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo('x')")?;
    let rows = statement.query_map([], |row| {
        let declared: String = row.get(1)?;
        let column = Column {
            name: row.get(0)?,
            affinity: Affinity::of_declared(&declared),
            is_required: row.get(2)?,
        };
        Ok((column, row.get::<_, i64>(4)?))
    })?;
    let mut columns = Vec::new();
    for row in rows {
        let (column, hidden) = row?;
        if hidden != 0 {
            return Err(misuse("computed columns are not supported"));
        }
        columns.push(column);
    }
    Ok(columns)
}

fn index_columns(scratch: &Connection, name: &str) -> Result<Vec<usize>> {
    let mut statement = scratch.prepare(
        "SELECT cid, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno",
    )?;
    let rows = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut columns = Vec::new();
    for row in rows {
        let (column, is_descending, collation): (i64, bool, String) = row?;
        let column = usize::try_from(column)
            .map_err(|_| misuse("an index has columns of its table, no expressions"))?;
        if is_descending || collation != "BINARY" {
            return Err(misuse("an index is ascending and BINARY"));
        }
        columns.push(column);
    }
    Ok(columns)
}
