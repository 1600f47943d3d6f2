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

use super::affinity::Conversion;
use super::cursor::{self, TableCursor};
use super::definition::Definition;
use super::opened::{DEFINITIONS, Names, Opened};
use super::plan::{self, Plan};
use crate::error::{Result, engine, failure, misuse};
use crate::savepoints::HasSession;
use crate::session::{Access, Session, SharedSessions};

/// A table.
#[repr(C)]
pub(crate) struct Table {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab,
    opened: Rc<Opened>,
    connection: *mut ffi::sqlite3,
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
    if table.contains('/') {
        return Err(misuse("the name of a table of an environment has no slash"));
    }
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
    let opened = Opened {
        session,
        definition,
        names,
        conversion: Conversion::new()?,
    };
    let table = Table {
        base: sqlite3_vtab::default(),
        opened: Rc::new(opened),
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

/// Makes the databases of a table. One that has this definition already is taken over. SQLite makes
/// the table part of its transaction after this, and commits it there.
fn make(session: &Session, definition: &Definition, names: &Names) -> Result<()> {
    session.change_whole(|txn| {
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
    })?;
    Ok(())
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
        let rows = self.opened.session.read(|view| {
            let rows = view.database(Some(&self.opened.names.rows))?;
            Ok(view.stat(rows)?.entries)
        })?;
        let estimate = |plan: &Plan, values: &[Value]| {
            let values: Vec<ValueRef<'_>> = values.iter().map(ValueRef::from).collect();
            cursor::estimate(&self.opened, plan, &values)
        };
        plan::choose(info, &self.opened.definition, rows, &estimate)?;
        Ok(true)
    }

    fn open(&'table mut self) -> Result<Self::Cursor> {
        Ok(TableCursor::new(Rc::clone(&self.opened)))
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
        // SAFETY: SQLite calls this function, so its handle is alive.
        if unsafe { ffi::sqlite3_get_autocommit(self.connection) } == 0 {
            // SQLite tells a table no more whether its removal was rolled back.
            return Err(misuse(
                "a table of an environment is dropped outside of transactions",
            ));
        }
        let Opened { session, names, .. } = &*self.opened;
        session.change_whole(|txn| {
            let definitions = create(txn, DEFINITIONS)?;
            txn.delete(definitions, names.table.as_bytes())
                .map_err(engine)?;
            for name in names.indexes.iter().chain([&names.rows]) {
                let database = txn.open_database(Some(name)).map_err(engine)?;
                txn.drop_database(database).map_err(engine)?;
            }
            Ok(())
        })?;
        session.commit().inspect_err(|_| {
            // The first error is the one to tell.
            let _ = session.rollback();
        })
    }
}

impl UpdateVTab<'_> for Table {
    fn delete(&mut self, rowid: ValueRef<'_>) -> Result<()> {
        let rowid = rowid
            .as_i64()
            .map_err(|_| misuse("a rowid is an integer"))?;
        self.opened
            .change(|mut change| change.remove(rowid).map(|_| ()))
    }

    fn insert(&mut self, arguments: &Inserts<'_>) -> Result<i64> {
        // SAFETY: SQLite calls this function, so its handle is alive.
        let mode = unsafe { arguments.on_conflict(self.connection) };
        let given = arguments.iter().nth(1).unwrap_or(ValueRef::Null);
        let mut values = self.opened.values(arguments.iter().skip(2))?;
        let rowid = self.opened.take_rowid(&mut values, given, None)?;
        self.opened.check_required(&values)?;
        let replaces = mode == ConflictMode::Replace;
        self.opened.change(|mut change| {
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
        let mut values = self.opened.values(given)?;
        let rowid = self.opened.take_rowid(&mut values, new, Some(old))?;
        let rowid = rowid.ok_or_else(|| failure(ffi::SQLITE_MISMATCH, "datatype mismatch"))?;
        self.opened.check_required(&values)?;
        let replaces = mode == ConflictMode::Replace;
        self.opened
            .change(|mut change| change.replace(old, rowid, &values, replaces))
    }
}

impl TransactionVTab<'_> for Table {
    fn begin(&mut self) -> Result<()> {
        self.opened.session.begin()
    }

    // SQLite hears of an error here, and no more in `commit`.
    fn sync(&mut self) -> Result<()> {
        self.opened.session.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        self.opened.session.rollback()
    }
}

impl HasSession for Table {
    fn session(&self) -> Option<&Session> {
        Some(&self.opened.session)
    }
}
