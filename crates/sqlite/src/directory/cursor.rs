//! A scan of a directory: its arguments and comparisons, and its rows.

use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;

use fulgurite_ldap::FilterBuf;
use fulgurite_store::EntryId;
use rusqlite::ffi::sqlite3_vtab_cursor;
use rusqlite::types::ValueRef;
use rusqlite::vtab::{Context, Filters, VTabCursor};

use super::column::Column;
use super::opened::{Opened, SharedDirectories};
use super::query::Query;
use super::rows::{Current, RowsCell};
use crate::error::{Result, misuse};
use crate::readable::shown;

/// A scan.
#[repr(C)]
pub(crate) struct DirectoryCursor<'table> {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab_cursor,
    directories: SharedDirectories,
    arguments: Arguments,
    rows: Option<RowsCell>,
    /// The store stays open until the end of the statement, which may scan again.
    opened: Option<Rc<Opened>>,
    /// SQLite closes all cursors before their table.
    table: PhantomData<&'table ()>,
}

/// The arguments of the function, as columns show them.
#[derive(Debug, Default)]
struct Arguments {
    directory: String,
    filter: Option<String>,
    base: Option<String>,
    schema: Option<String>,
}

impl DirectoryCursor<'_> {
    pub(super) fn new(directories: SharedDirectories) -> Self {
        DirectoryCursor {
            base: sqlite3_vtab_cursor::default(),
            directories,
            arguments: Arguments::default(),
            rows: None,
            opened: None,
            table: PhantomData,
        }
    }

    fn argument(&self, column: Column) -> Option<&str> {
        let arguments = &self.arguments;
        match column {
            Column::Directory => Some(&arguments.directory),
            Column::Filter => arguments.filter.as_deref(),
            Column::Base => arguments.base.as_deref(),
            _ => arguments.schema.as_deref(),
        }
    }

    /// Lends the current row.
    fn current<T>(&self, work: impl FnOnce(Current<'_>, &str) -> Result<T>) -> Result<T> {
        let rows = self.rows.as_ref();
        let rows = rows.ok_or_else(|| misuse("the scan has not begun"))?;
        rows.current(|current| match current {
            Some((current, dn)) => work(current, dn),
            None => Err(misuse("the scan is over")),
        })
    }
}

// SAFETY: the type is `repr(C)`, and SQLite's part is its first field.
unsafe impl VTabCursor for DirectoryCursor<'_> {
    fn filter(&mut self, _: c_int, plan: Option<&str>, values: &Filters<'_>) -> Result<()> {
        self.rows = None;
        self.arguments = Arguments::default();
        let mut query = Query::default();
        let mut finds_nothing = false;
        for (letter, value) in plan.unwrap_or("").bytes().zip(values.iter()) {
            match letter {
                b'd' => self.arguments.directory = text(value, "path")?.unwrap_or_default(),
                b'f' => self.arguments.filter = text(value, "filter")?,
                b'b' => self.arguments.base = text(value, "base")?,
                b's' => self.arguments.schema = text(value, "schema's path")?,
                letter => finds_nothing |= !narrow(&mut query, letter, value),
            }
        }
        if self.arguments.directory.is_empty() {
            return Err(misuse(
                "fulgurite_directory needs the folder of a directory",
            ));
        }
        if let Some(text) = &self.arguments.filter {
            let filter = FilterBuf::parse(text)
                .map_err(|error| misuse(format!("the filter '{text}': {error}")))?;
            query.filter = Some(filter);
        }
        query.base.clone_from(&self.arguments.base);
        let schema = self.arguments.schema.as_deref().map(Path::new);
        let directory = Path::new(&self.arguments.directory);
        let opened = self.directories.open(directory, schema)?;
        if !finds_nothing {
            self.rows = Some(RowsCell::begin(opened.view()?, &query)?);
        }
        self.opened = Some(opened);
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.rows.as_mut().map_or(Ok(()), RowsCell::next)
    }

    fn eof(&self) -> bool {
        let rows = self.rows.as_ref();
        rows.is_none_or(|rows| rows.current(|current| current.is_none()))
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let Some(column) = Column::numbered(column) else {
            return Ok(());
        };
        if column.is_argument() {
            return context.set_result(&self.argument(column));
        }
        self.current(|row, dn| match column {
            Column::Dn => context.set_result(&dn),
            Column::Attribute => context.set_result(&&*row.attribute.info.text),
            Column::Value => context.set_result(&shown(row.value)),
            Column::Entry => context.set_result(&integer(row.entry.id())),
            _ => context.set_result(&row.entry.parent().map(integer)),
        })
    }

    fn rowid(&self) -> Result<i64> {
        // SQLite tells rows of several scans by it.
        self.current(|row, _| {
            let mut hasher = DefaultHasher::new();
            (row.entry.id().0, row.attribute.info.id.0, row.number).hash(&mut hasher);
            Ok(hasher.finish() as i64)
        })
    }
}

/// Returns an id as SQLite's integer, which a store of any size fits in.
fn integer(id: EntryId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

/// Reads an argument. NULL is as good as none.
fn text(value: ValueRef<'_>, role: &str) -> Result<Option<String>> {
    let text = value.as_str_or_null();
    let text = text.map_err(|_| misuse(format!("the {role} is text")))?;
    Ok(text.map(str::to_owned))
}

/// Narrows a query by a comparison, which SQLite tests again. Returns false if no row can be equal.
fn narrow(query: &mut Query, letter: u8, value: ValueRef<'_>) -> bool {
    let id = || match value {
        ValueRef::Integer(id) => Some(u64::try_from(id).map(EntryId)),
        _ => None,
    };
    match (letter, value) {
        (_, ValueRef::Null) => return false,
        (b'n', ValueRef::Text(text)) => {
            query.dn = std::str::from_utf8(text).ok().map(str::to_owned);
        }
        (b'a', ValueRef::Text(text)) => {
            query.attribute = std::str::from_utf8(text).ok().map(str::to_owned);
        }
        (b'v', ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => query.value = Some(bytes.to_vec()),
        (b'v', ValueRef::Integer(number)) => query.value = Some(number.to_string().into_bytes()),
        (b'e' | b'p', _) => match id() {
            Some(Ok(id)) if letter == b'e' => query.entry = Some(id),
            Some(Ok(id)) => query.parent = Some(id),
            Some(Err(_)) => return false,
            None => {}
        },
        _ => {}
    }
    true
}
