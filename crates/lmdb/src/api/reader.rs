//! The reader table: listed, and cleared of readers whose process died.

use alloc::ffi::CString;
use core::ffi::{CStr, c_int, c_void};

use fulgurite::{joined, number_text};

use crate::codes::Outcome;
use crate::ffi::{CHandle, Out, exported};
use crate::types::{MDB_env, MDB_msg_func};

exported! {
    /// Lists the reader slots in use, line by line, through a function. Returns the last result of
    /// that function; a negative one ends the listing. -1 for NULL.
    fn mdb_reader_list(env: *mut MDB_env, func: Option<MDB_msg_func>, ctx: *mut c_void) -> c_int {
        value_of(env, -1, list)
    }

    /// Frees the reader slots of processes that died, and stores their number in dead, which may be
    /// NULL.
    ///
    /// Writers do this themselves before an old reader makes them extend the file.
    fn mdb_reader_check(env: *mut MDB_env, dead: *mut c_int) -> c_int { code_of(env, check) }
}

fn list(env: CHandle<MDB_env>, func: Option<MDB_msg_func>, ctx: *mut c_void) -> Outcome<c_int> {
    let env = env.find()?;
    let open = env.get().open()?;
    let Some(func) = func else { return Ok(-1) };
    // SAFETY: the program passed the function to be called with any text and this context.
    let pass = |line: &CStr| unsafe { func(line.as_ptr(), ctx) };
    let Some(readers) = open.environment.readers() else {
        return Ok(pass(c"(no reader locks)\n"));
    };
    if readers.is_empty() {
        return Ok(pass(c"(no active readers)\n"));
    }
    let mut answer = pass(c"    pid     thread     txnid\n");
    for reader in readers {
        if answer < 0 {
            break;
        }
        let snapshot = reader.snapshot.map(|id| number_text(id.0, 10, 0));
        let line = joined(&[
            &number_text(reader.pid.into(), 10, 10),
            " ",
            &number_text(reader.thread, 16, 0),
            " ",
            snapshot.as_deref().unwrap_or("-"),
            "\n",
        ]);
        answer = pass(&CString::new(line).unwrap_or_default());
    }
    Ok(answer)
}

fn check(env: CHandle<MDB_env>, dead: Out<'_, c_int>) -> Outcome {
    let env = env.find()?;
    let cleared = match env.get().opened.get() {
        Some(open) => open.environment.clear_stale_readers()?,
        None => 0,
    };
    dead.store_if_wanted(c_int::try_from(cleared).unwrap_or(c_int::MAX));
    Ok(())
}
