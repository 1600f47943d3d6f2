//! A loadable extension for SQLite: the records of LMDB's environments as tables.
//!
//! ```sql
//! .load libfulgurite_sqlite
//! SELECT key, value FROM fulgurite_raw('/etc/postfix/aliases.lmdb');
//! ```
//!
//! ```text
//!   raw          fulgurite_raw: keys and values of any environment
//!   table        fulgurite: tables with columns and indexes
//!   directory    fulgurite_directory: the entries of a directory's store
//!     planned_values  the values of a query that SQLite knows while it plans
//!     walk       a position in a range of records
//!     session    a connection's environments: one snapshot, one write transaction
//!     view       either of them, to read from
//!     shared     the state of a connection, in each of its modules
//!     savepoints the calls for savepoints, which rusqlite lacks
//! ```

mod directory;
mod error;
mod planned_values;
mod range;
mod raw;
mod readable;
mod savepoints;
mod session;
mod shared;
mod table;
mod view;
mod walk;

use std::ffi::{c_char, c_int};

use rusqlite::vtab::Module;
use rusqlite::{Connection, ffi};

use crate::directory::{DirectoryTable, SharedDirectories};
use crate::raw::RawTable;
use crate::session::SharedSessions;
use crate::table::Table;

/// The entry point: SQLite calls it when it loads the extension.
///
/// # Safety
/// SQLite passes its own handle, a place for a message, and its functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_fulguritesqlite_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    functions: *mut ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { planned_values::take_function(functions) };
    // SAFETY: as above.
    unsafe { Connection::extension_init2(db, message, functions, register) }
}

fn register(connection: Connection) -> rusqlite::Result<bool> {
    const RAW: &Module<'static, RawTable> =
        &savepoints::with_savepoints(Module::update_module_with_tx());
    let sessions = SharedSessions::default();
    connection.create_module(c"fulgurite_raw", RAW, Some(sessions.clone()))?;
    const TABLE: &Module<'static, Table> =
        &savepoints::with_savepoints(Module::update_module_with_tx());
    connection.create_module(c"fulgurite", TABLE, Some(sessions))?;
    const DIRECTORY: &Module<'static, DirectoryTable> = &Module::eponymous_only_module();
    let directories = SharedDirectories::default();
    connection.create_module(c"fulgurite_directory", DIRECTORY, Some(directories))?;
    // The extension is not unloaded with the connection.
    Ok(false)
}
