//! The values with which a query compares, known while it is planned: literals, mostly.
//!
//! SQLite 3.38 gave extensions a function for them. The bindings are those of an older release, so
//! that the extension loads there. So the function is taken from SQLite's table here.

use std::ffi::c_int;
use std::sync::OnceLock;

use rusqlite::ffi::{self, sqlite3_api_routines, sqlite3_index_info, sqlite3_value};
use rusqlite::types::Value;
use rusqlite::vtab::IndexInfo;

/// The first release with the function.
const SINCE: c_int = 3_038_000;

type RightSide =
    unsafe extern "C" fn(*mut sqlite3_index_info, c_int, *mut *mut sqlite3_value) -> c_int;

/// SQLite's table of functions up to the one for values. A table only grows.
#[repr(C)]
struct LaterRoutines {
    known: sqlite3_api_routines,
    /// `changes64`, `total_changes64`, `autovacuum_pages` and `error_offset`.
    between: [Option<unsafe extern "C" fn()>; 4],
    right_side: Option<RightSide>,
}

static RIGHT_SIDE: OnceLock<RightSide> = OnceLock::new();

/// Takes the function from SQLite's table, if it has it.
///
/// # Safety
/// The table is that of the running SQLite.
pub(crate) unsafe fn take_function(functions: *const sqlite3_api_routines) {
    // SAFETY: the caller promises it.
    let version = unsafe { (*functions).libversion_number };
    // SAFETY: the function takes no arguments.
    let is_there = version.is_some_and(|version| unsafe { version() } >= SINCE);
    if !is_there {
        return;
    }
    // SAFETY: the table of this release is as long as this structure, or longer.
    let found = unsafe { (*functions.cast::<LaterRoutines>()).right_side };
    if let Some(found) = found {
        let _ = RIGHT_SIDE.set(found);
    }
}

/// Returns the value that a constraint compares with; `None` if it is not known yet.
pub(crate) fn value(info: &IndexInfo, number: usize) -> Option<Value> {
    const {
        assert!(size_of::<IndexInfo>() == size_of::<*mut sqlite3_index_info>());
    }
    let right_side = RIGHT_SIDE.get()?;
    // SAFETY: `IndexInfo` has one field, this pointer, and no room for anything else.
    let info: *mut sqlite3_index_info = unsafe { std::mem::transmute_copy(info) };
    let mut found: *mut sqlite3_value = std::ptr::null_mut();
    let number = c_int::try_from(number).ok()?;
    // SAFETY: SQLite is asking for a plan with this structure, which has this constraint.
    let code = unsafe { right_side(info, number, &raw mut found) };
    if code != ffi::SQLITE_OK || found.is_null() {
        return None;
    }
    // SAFETY: the value lives until the plan is made.
    Some(unsafe { owned(found) })
}

/// Copies a value.
///
/// # Safety
/// The value is SQLite's, and alive.
unsafe fn owned(value: *mut sqlite3_value) -> Value {
    // SAFETY: the caller promises it.
    match unsafe { ffi::sqlite3_value_type(value) } {
        // SAFETY: as promised.
        ffi::SQLITE_INTEGER => Value::Integer(unsafe { ffi::sqlite3_value_int64(value) }),
        // SAFETY: as promised.
        ffi::SQLITE_FLOAT => Value::Real(unsafe { ffi::sqlite3_value_double(value) }),
        ffi::SQLITE_TEXT => {
            // SAFETY: as promised.
            let text = unsafe { bytes(value) };
            Value::Text(String::from_utf8_lossy(&text).into_owned())
        }
        // SAFETY: as promised.
        ffi::SQLITE_BLOB => Value::Blob(unsafe { bytes(value) }),
        _ => Value::Null,
    }
}

/// Copies the bytes of a text or a blob.
///
/// # Safety
/// The value is SQLite's, and alive.
unsafe fn bytes(value: *mut sqlite3_value) -> Vec<u8> {
    // SAFETY: the caller promises it. Text stays text by this call.
    let start = unsafe { ffi::sqlite3_value_blob(value) }.cast::<u8>();
    // SAFETY: as promised.
    let len = usize::try_from(unsafe { ffi::sqlite3_value_bytes(value) }).unwrap_or(0);
    if start.is_null() {
        return Vec::new();
    }
    // SAFETY: SQLite returned this many bytes from there on.
    unsafe { std::slice::from_raw_parts(start, len) }.to_vec()
}
