//! The function `fulgurite_directory(DIR, FILTER, BASE, SCHEMA)`.

use std::borrow::Cow;
use std::ffi::CStr;

use rusqlite::ffi::sqlite3_vtab;
use rusqlite::vtab::{IndexConstraintOp, IndexInfo, VTab, VTabConfig, VTabConnection};

use super::column::{Column, DECLARATION};
use super::cursor::DirectoryCursor;
use super::opened::SharedDirectories;
use crate::error::Result;

/// The function.
#[repr(C)]
pub(crate) struct DirectoryTable {
    /// SQLite's part; it must come first.
    base: sqlite3_vtab,
    directories: SharedDirectories,
}

/// Rows of a directory of which nothing is known.
const ALL: f64 = 10_000_000.0;
/// Rows of an entry.
const OF_ENTRY: f64 = 20.0;

// SAFETY: the type is `repr(C)`, and SQLite's part is its first field.
unsafe impl<'table> VTab<'table> for DirectoryTable {
    type Aux = SharedDirectories;
    type Cursor = DirectoryCursor<'table>;

    fn connect(
        db: &mut VTabConnection,
        directories: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        // Files must not be read because a view or trigger of a strange database says so.
        db.config(VTabConfig::DirectOnly)?;
        let table = DirectoryTable {
            base: sqlite3_vtab::default(),
            directories: directories.expect("the module has directories").clone(),
        };
        Ok((Cow::Borrowed(DECLARATION), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut used: Vec<(usize, Column)> = Vec::new();
        let mut asks_unusable = false;
        for (number, constraint) in info.constraints().enumerate() {
            let is_equal = constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ;
            let column = Column::numbered(constraint.column()).filter(|_| is_equal);
            let Some(column) = column else {
                continue;
            };
            let is_usable = constraint.is_usable();
            // The order of NOCASE finds more names than the directory's rule may.
            let collation = info.collation(number).unwrap_or_default();
            let fits = column.is_argument()
                || collation == "BINARY"
                || column == Column::Attribute && collation == "NOCASE";
            if is_usable && fits && used.iter().all(|(_, known)| *known != column) {
                used.push((number, column));
            }
            asks_unusable |= column.is_argument() && !is_usable;
        }
        if asks_unusable {
            return Ok(false);
        }
        let mut plan = String::new();
        for (place, (number, column)) in (1..).zip(&used) {
            let mut usage = info.constraint_usage(*number);
            usage.set_argv_index(place);
            // SQLite tests comparisons of columns again; the arguments of the function are none.
            usage.set_omit(column.is_argument());
            plan.push(column.letter());
        }
        let has = |column| used.iter().any(|(_, used)| *used == column);
        let rows = rows(&has);
        info.set_estimated_rows(rows as i64);
        info.set_estimated_cost(if has(Column::Directory) {
            rows
        } else {
            f64::MAX
        });
        info.set_idx_str(&plan);
        Ok(true)
    }

    fn open(&'table mut self) -> Result<Self::Cursor> {
        Ok(DirectoryCursor::new(self.directories.clone()))
    }
}

/// Guesses the number of rows of a plan. The directory is known too late.
fn rows(has: &impl Fn(Column) -> bool) -> f64 {
    let entries = match () {
        () if has(Column::Entry) || has(Column::Dn) => 1.0,
        () if has(Column::Attribute) && has(Column::Value) => 10.0,
        () if has(Column::Parent) => 100.0,
        () if has(Column::Filter) => 1000.0,
        () if has(Column::Base) => ALL / OF_ENTRY / 4.0,
        () => ALL / OF_ENTRY,
    };
    match has(Column::Attribute) {
        true => entries * 2.0,
        false => entries * OF_ENTRY,
    }
}
