//! What an open environment says of itself, and what is done with it as a whole.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fulgurite::{Environment, Stat};

use crate::codes::{Code, Outcome};
use crate::edge::{behind, code_of, store};
use crate::env::MDB_env;
use crate::types::{MDB_CP_COMPACT, MDB_envinfo, MDB_stat, mdb_filehandle_t};

/// Tells the statistics of the main database, as last committed.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_stat(env: *mut MDB_env, stat: *mut MDB_stat) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let open = unsafe { behind(env) }?.open()?;
        let found = open.environment.stat()?;
        // SAFETY: as above.
        unsafe { store(stat, stat_of(&found)) }
    })
}

/// Tells facts about the environment.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_info(env: *mut MDB_env, info: *mut MDB_envinfo) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let facts = env.open()?.environment.info()?;
        let readers_max = match facts.readers_max {
            0 => env.settings().readers_max,
            slots => slots,
        };
        let found = MDB_envinfo {
            me_mapaddr: facts.map_address as usize as *mut c_void,
            me_mapsize: facts.map_size as usize,
            me_last_pgno: facts.last_page as usize,
            me_last_txnid: facts.last_txnid as usize,
            me_maxreaders: readers_max,
            me_numreaders: facts.readers_used,
        };
        // SAFETY: as above.
        unsafe { store(info, found) }
    })
}

/// Makes all commits so far durable, for environments with MDB_NOSYNC or the like. With force 0 nothing is done if
/// MDB_NOSYNC is set.
///
/// EACCES if the environment is read-only; EBADF before it is open.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_sync(env: *mut MDB_env, force: c_int) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let open = env.open().map_err(|_| Code(libc::EBADF))?;
        open.environment.sync(force != 0).map_err(Code::from)
    })
}

/// Copies the environment to a new data file: path is a directory, or with MDB_NOSUBDIR the file, which must not exist.
///
/// The copy is a snapshot; others may go on writing. EEXIST, ENOENT and the other errors of the system.
///
/// # Safety
/// The caller's promise; the path ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_copy(env: *mut MDB_env, path: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { mdb_env_copy2(env, path, 0) }
}

/// As mdb_env_copy; with MDB_CP_COMPACT free pages are left out, and the others put in order.
///
/// # Safety
/// As [`mdb_env_copy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_copy2(
    env: *mut MDB_env,
    path: *const c_char,
    flags: c_uint,
) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let environment = unsafe { copied(env) }?;
        if path.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: as above.
        let path = unsafe { CStr::from_ptr(path) };
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        environment
            .copy_to_path(path, flags & MDB_CP_COMPACT != 0)
            .map_err(Code::from)
    })
}

/// As mdb_env_copy, to a descriptor, such as that of a pipe.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_copyfd(env: *mut MDB_env, fd: mdb_filehandle_t) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { mdb_env_copyfd2(env, fd, 0) }
}

/// As mdb_env_copy2, to a descriptor.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_copyfd2(
    env: *mut MDB_env,
    fd: mdb_filehandle_t,
    flags: c_uint,
) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let environment = unsafe { copied(env) }?;
        if fd < 0 {
            return Err(Code(libc::EBADF));
        }
        // SAFETY: not -1; the caller keeps it open during the call.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        environment
            .copy_to_fd(fd, flags & MDB_CP_COMPACT != 0)
            .map_err(Code::from)
    })
}

unsafe fn copied<'a>(env: *mut MDB_env) -> Outcome<&'a Environment> {
    // SAFETY: the caller's promise.
    let open = unsafe { behind(env) }?.open()?;
    Ok(&open.environment)
}

/// Statistics as C has them.
pub(crate) fn stat_of(stat: &Stat) -> MDB_stat {
    MDB_stat {
        ms_psize: stat.page_size as c_uint,
        ms_depth: c_uint::from(stat.depth),
        ms_branch_pages: stat.branch_pages as usize,
        ms_leaf_pages: stat.leaf_pages as usize,
        ms_overflow_pages: stat.overflow_pages as usize,
        ms_entries: stat.entries as usize,
    }
}
