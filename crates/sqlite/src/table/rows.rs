//! A table, as SQLite calls it.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fulgurite::{Database, KeyOrder, Snapshot, WriteTxn};
use rusqlite::ffi::{self, sqlite3_vtab};
use rusqlite::types::{Value, ValueRef};
use rusqlite::vtab::{
    ConflictMode, CreateVTab, IndexInfo, Inserts, TransactionVTab, UpdateVTab, Updates, VTab,
    VTabConfig, VTabConnection, VTabKind,
};

use super::affinity::{Affinity, Conversion};
use super::change::Change;
use super::cursor::TableCursor;
use super::definition::Definition;
use super::plan::{self, Source};
use crate::error::{Result, engine, failure, misuse};
use crate::savepoints::HasSession;
use crate::session::{Access, Session, SharedSessions};

/// The database with the definitions of all tables.
const DEFINITIONS: &str = "sqlite";

/// A table.
#[repr(C)]
pub(crate) struct Table {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab,
    inner: Rc<Inner>,
    connection: *mut ffi::sqlite3,
}

/// A table without SQLite's part.
pub(super) struct Inner {
    pub(super) session: Rc<Session>,
    pub(super) definition: Definition,
    pub(super) names: Names,
    pub(super) conversion: Conversion,
}

/// The names of the databases of a table.
pub(super) struct Names {
    table: String,
    pub(super) rows: String,
    /// In the order of the definition's indexes.
    pub(super) indexes: Vec<String>,
}

impl Names {
    fn new(table: &str, definition: &Definition) -> Names {
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

impl Inner {
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
    fn change<T>(&self, work: impl FnOnce(Change<'_, '_>) -> Result<T>) -> Result<T> {
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
    fn values<'v>(&self, values: impl Iterator<Item = ValueRef<'v>>) -> Result<Vec<Value>> {
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
    fn take_rowid(
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

    fn check_required(&self, values: &[Value]) -> Result<()> {
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

/// Opens a table, or makes it.
fn open(
    db: &mut VTabConnection,
    sessions: Option<&SharedSessions>,
    schema: &[u8],
    table: &[u8],
    arguments: &[&[u8]],
    is_new: bool,
) -> Result<(Cow<'static, CStr>, Table)> {
    let sessions = sessions.expect("the module has sessions");
    let definition = Definition::parse(arguments)?;
    let table = std::str::from_utf8(table)?;
    db.config(VTabConfig::ConstraintSupport)?;
    // SAFETY: the table uses the handle while SQLite calls it.
    let connection = unsafe { db.handle() };
    let directory = match &definition.directory {
        Some(directory) => directory.clone(),
        None => next_to_database(connection, schema)?,
    };
    let access = if is_new {
        Access::Create
    } else {
        Access::Write
    };
    let session = sessions.session(&directory, access)?;
    let names = Names::new(table, &definition);
    if is_new {
        make(&session, &definition, &names)?;
    } else {
        check_same(&session, &definition, table)?;
    }
    let declaration = CString::new(definition.declaration.as_str());
    let declaration = declaration.map_err(|_| misuse("a zero byte in the definition"))?;
    let inner = Inner {
        session,
        definition,
        names,
        conversion: Conversion::new()?,
    };
    let table = Table {
        base: sqlite3_vtab::default(),
        inner: Rc::new(inner),
        connection,
    };
    Ok((Cow::Owned(declaration), table))
}

/// Returns the default path: that of SQLite's file, with another ending.
fn next_to_database(connection: *mut ffi::sqlite3, schema: &[u8]) -> Result<PathBuf> {
    let schema = CString::new(schema).map_err(|_| misuse("a zero byte in a name"))?;
    // SAFETY: SQLite is calling with this handle, and the name is a C string.
    let path = unsafe { ffi::sqlite3_db_filename(connection, schema.as_ptr()) };
    if !path.is_null() {
        // SAFETY: SQLite returns null or a C string that lives as long as the file is attached.
        let path = unsafe { CStr::from_ptr(path) }.to_str()?;
        if !path.is_empty() {
            return Ok(Path::new(path).with_extension("fulgurite"));
        }
    }
    Err(misuse(
        "a table of a database in memory needs directory='PATH'",
    ))
}

/// Makes the databases of a table. One that has this definition already is taken over.
fn make(session: &Session, definition: &Definition, names: &Names) -> Result<()> {
    session.begin()?;
    let made = session.write(|txn| {
        let definitions = create(txn, DEFINITIONS)?;
        let key = names.table.as_bytes();
        match txn.get(definitions, key).map_err(engine)? {
            Some(found) if found == definition.text.as_bytes() => return Ok(()),
            Some(_) => {
                return Err(misuse(format!(
                    "the environment has a table {} with another definition",
                    names.table
                )));
            }
            None => {}
        }
        txn.put(definitions, key, definition.text.as_bytes())
            .map_err(engine)?;
        create(txn, &names.rows)?;
        for index in &names.indexes {
            create(txn, index)?;
        }
        Ok(())
    });
    made.and_then(|()| session.commit()).inspect_err(|_| {
        // The first error is the one to tell.
        let _ = session.rollback();
    })
}

fn create(txn: &mut WriteTxn<'_>, name: &str) -> Result<Database> {
    txn.create_database(name, KeyOrder::Lexical).map_err(engine)
}

fn check_same(session: &Session, definition: &Definition, table: &str) -> Result<()> {
    session.read(|view| {
        let definitions = view.database(Some(DEFINITIONS))?;
        match view.get(definitions, table.as_bytes())? {
            Some(found) if found == definition.text.as_bytes() => Ok(()),
            Some(_) => Err(misuse(format!(
                "the environment has a table {table} with another definition"
            ))),
            None => Err(misuse(format!("the environment has no table {table}"))),
        }
    })
}

// SAFETY: the type is `repr(C)`, and SQLite's part is its first field.
unsafe impl<'table> VTab<'table> for Table {
    type Aux = SharedSessions;
    type Cursor = TableCursor<'table>;

    fn connect(
        db: &mut VTabConnection,
        sessions: Option<&Self::Aux>,
        _: &[u8],
        schema: &[u8],
        table: &[u8],
        arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        open(db, sessions, schema, table, arguments, false)
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let rows = self.inner.session.read(|view| {
            let rows = view.database(Some(&self.inner.names.rows))?;
            Ok(view.stat(rows)?.entries)
        })?;
        plan::choose(info, &self.inner.definition, rows)?;
        Ok(true)
    }

    fn open(&'table mut self) -> Result<Self::Cursor> {
        Ok(TableCursor::new(Rc::clone(&self.inner)))
    }
}

impl CreateVTab<'_> for Table {
    const KIND: VTabKind = VTabKind::Default;

    fn create(
        db: &mut VTabConnection,
        sessions: Option<&Self::Aux>,
        _: &[u8],
        schema: &[u8],
        table: &[u8],
        arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        open(db, sessions, schema, table, arguments, true)
    }

    fn destroy(&self) -> Result<()> {
        let Inner { session, names, .. } = &*self.inner;
        session.begin()?;
        session.write(|txn| {
            let definitions = create(txn, DEFINITIONS)?;
            txn.delete(definitions, names.table.as_bytes())
                .map_err(engine)?;
            for name in names.indexes.iter().chain([&names.rows]) {
                let database = txn.open_database(Some(name)).map_err(engine)?;
                txn.drop_database(database).map_err(engine)?;
            }
            Ok(())
        })?;
        session.commit()
    }
}

impl UpdateVTab<'_> for Table {
    fn delete(&mut self, rowid: ValueRef<'_>) -> Result<()> {
        let rowid = rowid
            .as_i64()
            .map_err(|_| misuse("a rowid is an integer"))?;
        self.inner
            .change(|mut change| change.remove(rowid).map(|_| ()))
    }

    fn insert(&mut self, arguments: &Inserts<'_>) -> Result<i64> {
        // SAFETY: SQLite calls this function, so its handle is alive.
        let mode = unsafe { arguments.on_conflict(self.connection) };
        let given = arguments.iter().nth(1).unwrap_or(ValueRef::Null);
        let mut values = self.inner.values(arguments.iter().skip(2))?;
        let rowid = self.inner.take_rowid(&mut values, given, None)?;
        self.inner.check_required(&values)?;
        let replaces = mode == ConflictMode::Replace;
        self.inner.change(|mut change| {
            let rowid = match rowid {
                Some(rowid) => rowid,
                None => change.new_rowid()?,
            };
            change.add(rowid, &values, replaces)?;
            Ok(rowid)
        })
    }

    fn update(&mut self, arguments: &Updates<'_>) -> Result<()> {
        // SAFETY: SQLite calls this function, so its handle is alive.
        let mode = unsafe { arguments.on_conflict(self.connection) };
        let mut given = arguments.iter();
        let old = given.next().unwrap_or(ValueRef::Null);
        let old = old.as_i64().map_err(|_| misuse("a rowid is an integer"))?;
        let new = given.next().unwrap_or(ValueRef::Null);
        let mut values = self.inner.values(given)?;
        let rowid = self.inner.take_rowid(&mut values, new, Some(old))?;
        let rowid = rowid.ok_or_else(|| failure(ffi::SQLITE_MISMATCH, "datatype mismatch"))?;
        self.inner.check_required(&values)?;
        let replaces = mode == ConflictMode::Replace;
        self.inner
            .change(|mut change| change.replace(old, rowid, &values, replaces))
    }
}

impl TransactionVTab<'_> for Table {
    fn begin(&mut self) -> Result<()> {
        self.inner.session.begin()
    }

    // SQLite hears of an error here, and no more in `commit`.
    fn sync(&mut self) -> Result<()> {
        self.inner.session.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        self.inner.session.rollback()
    }
}

impl HasSession for Table {
    fn session(&self) -> Option<&Session> {
        Some(&self.inner.session)
    }
}
