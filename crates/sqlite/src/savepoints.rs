//! SQLite's savepoints for tables: the three calls that rusqlite's modules lack.

use std::ffi::{CString, c_int};

use rusqlite::ffi::{self, sqlite3_module, sqlite3_vtab};
use rusqlite::vtab::{Module, TransactionVTab};

use crate::error::Result;
use crate::session::Session;

/// A table whose changes belong to a session.
pub(crate) trait HasSession {
    /// Returns the session; `None` if the table has none.
    fn session(&self) -> Option<&Session>;
}

/// Adds the calls for savepoints to a module.
pub(crate) const fn with_savepoints<'table, T: TransactionVTab<'table> + HasSession>(
    module: Module<'table, T>,
) -> Module<'table, T> {
    // SAFETY: a `Module` is `repr(transparent)` over SQLite's structure, so both have one layout.
    let mut base: sqlite3_module = unsafe { std::mem::transmute_copy(&module) };
    base.iVersion = 2;
    base.xSavepoint = Some(savepoint::<T>);
    base.xRelease = Some(release::<T>);
    base.xRollbackTo = Some(rollback_to::<T>);
    // SAFETY: as above. Nothing is dropped twice, as SQLite's structure holds plain pointers.
    unsafe { std::mem::transmute_copy(&base) }
}

unsafe extern "C" fn savepoint<T: HasSession>(table: *mut sqlite3_vtab, number: c_int) -> c_int {
    // SAFETY: SQLite passes a table of this module.
    unsafe { call::<T>(table, |session| session.savepoint(number)) }
}

unsafe extern "C" fn release<T: HasSession>(table: *mut sqlite3_vtab, number: c_int) -> c_int {
    // SAFETY: SQLite passes a table of this module.
    unsafe { call::<T>(table, |session| session.release(number)) }
}

unsafe extern "C" fn rollback_to<T: HasSession>(table: *mut sqlite3_vtab, number: c_int) -> c_int {
    // SAFETY: SQLite passes a table of this module.
    unsafe { call::<T>(table, |session| session.rollback_to(number)) }
}

/// Does something with the session of a table, and returns SQLite's code.
///
/// # Safety
/// The pointer is that of a live `T`, whose first field is SQLite's part.
unsafe fn call<T: HasSession>(
    table: *mut sqlite3_vtab,
    work: impl FnOnce(&Session) -> Result<()>,
) -> c_int {
    // SAFETY: the caller promises it.
    let ours = unsafe { &*table.cast::<T>() };
    let Some(Err(error)) = ours.session().map(work) else {
        return ffi::SQLITE_OK;
    };
    // SAFETY: the caller promises that the table is alive.
    unsafe { set_message(table, &error.to_string()) };
    match error {
        rusqlite::Error::SqliteFailure(code, _) => code.extended_code,
        _ => ffi::SQLITE_ERROR,
    }
}

/// Gives SQLite the text of an error.
///
/// # Safety
/// The table is alive, and its text is null or memory of SQLite.
unsafe fn set_message(table: *mut sqlite3_vtab, text: &str) {
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    let bytes = text.as_bytes_with_nul();
    // SAFETY: SQLite's allocator takes any size, and returns null if it has no memory.
    let copy = unsafe { ffi::sqlite3_malloc64(bytes.len() as u64) }.cast::<u8>();
    if copy.is_null() {
        return;
    }
    // SAFETY: the new memory has this size, and overlaps nothing.
    unsafe { copy.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    // SAFETY: the caller promises that the table is alive.
    let message = unsafe { &mut (*table).zErrMsg };
    let old = std::mem::replace(message, copy.cast());
    // SAFETY: the caller promises that the old text is null or SQLite's.
    unsafe { ffi::sqlite3_free(old.cast()) };
}
