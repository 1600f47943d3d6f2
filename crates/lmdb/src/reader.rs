//! The reader table: listed, and cleared of the dead.

use std::ffi::{CStr, CString, c_int, c_void};

use crate::codes::Outcome;
use crate::edge::{behind, code_of, store, value_of};
use crate::env::MDB_env;
use crate::types::MDB_msg_func;

/// Lists the reader slots in use, line by line, through a function. The result is what it answered last; a negative
/// answer ends the listing. -1 for NULL.
///
/// # Safety
/// The caller's promise; the function may be called with any text and `ctx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_reader_list(
    env: *mut MDB_env,
    func: Option<MDB_msg_func>,
    ctx: *mut c_void,
) -> c_int {
    value_of(env, -1, || {
        // SAFETY: the caller's promise.
        let open = unsafe { behind(env) }?.open()?;
        let Some(func) = func else { return Ok(-1) };
        // SAFETY: the caller's promise.
        let tell = |line: &CStr| unsafe { func(line.as_ptr(), ctx) };
        let Some(readers) = open.environment.readers() else {
            return Ok(tell(c"(no reader locks)\n"));
        };
        if readers.is_empty() {
            return Ok(tell(c"(no active readers)\n"));
        }
        let mut answer = tell(c"    pid     thread     txnid\n");
        for reader in readers {
            if answer < 0 {
                break;
            }
            let snapshot = reader
                .snapshot
                .map_or_else(|| "-".to_owned(), |id| id.0.to_string());
            let line = format!("{:10} {:x} {snapshot}\n", reader.pid, reader.thread);
            answer = tell(&CString::new(line).unwrap_or_default());
        }
        Ok(answer)
    })
}

/// Frees the reader slots of processes that died, and tells how many those were. dead may be NULL.
///
/// Writers do so by themselves before they let the file grow on account of an old reader.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_reader_check(env: *mut MDB_env, dead: *mut c_int) -> c_int {
    code_of(env, || -> Outcome {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let cleared = match env.opened.get() {
            Some(open) => open.environment.clear_stale_readers()?,
            None => 0,
        };
        if dead.is_null() {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { store(dead, c_int::try_from(cleared).unwrap_or(c_int::MAX)) }
    })
}
