//! Statistics of an open environment, flushing and copying it.

use core::ffi::{c_char, c_int, c_uint, c_void};
use fulgurite::fd::BorrowedFd;
use fulgurite::platform::path_from_bytes;

use fulgurite::Stat;

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Out, Text, exported};
use crate::types::{MDB_CP_COMPACT, MDB_env, MDB_envinfo, MDB_stat, mdb_filehandle_t};

exported! {
    /// Gets the statistics of the main database, as last committed.
    fn mdb_env_stat(env: *mut MDB_env, stat: *mut MDB_stat) -> c_int { code_of(env, stat_main) }

    /// Gets information about the environment.
    fn mdb_env_info(env: *mut MDB_env, info: *mut MDB_envinfo) -> c_int { code_of(env, get_info) }

    /// Makes all commits so far durable, for environments with MDB_NOSYNC or the like. With force 0
    /// it does nothing if MDB_NOSYNC is set.
    ///
    /// EACCES: the environment is read-only. EBADF: it is not open.
    fn mdb_env_sync(env: *mut MDB_env, force: c_int) -> c_int { code_of(env, sync) }

    /// Copies the environment to a new data file. path is a directory, or with MDB_NOSUBDIR the
    /// file, which must not exist.
    ///
    /// The copy is a snapshot; writers are not blocked. EEXIST, ENOENT and the other errors of the
    /// system.
    fn mdb_env_copy(env: *mut MDB_env, path: *const c_char) -> c_int { code_of(env, copy) }

    /// As mdb_env_copy; with MDB_CP_COMPACT the copy omits free pages and sorts the others.
    fn mdb_env_copy2(env: *mut MDB_env, path: *const c_char, flags: c_uint) -> c_int {
        code_of(env, copy_with)
    }

    /// As mdb_env_copy, to a descriptor, such as that of a pipe.
    fn mdb_env_copyfd(env: *mut MDB_env, fd: mdb_filehandle_t) -> c_int { code_of(env, copy_to) }

    /// As mdb_env_copy2, to a descriptor.
    fn mdb_env_copyfd2(env: *mut MDB_env, fd: mdb_filehandle_t, flags: c_uint) -> c_int {
        code_of(env, copy_to_with)
    }
}

fn stat_main(env: CHandle<MDB_env>, stat: Out<'_, MDB_stat>) -> Outcome {
    let env = env.find()?;
    stat.store(stat_of(&env.get().open()?.environment.stat()?))
}

fn get_info(env: CHandle<MDB_env>, info: Out<'_, MDB_envinfo>) -> Outcome {
    let env = env.find()?;
    let env = env.get();
    let found = env.open()?.environment.info()?;
    let readers_max = match found.readers_max {
        0 => env.settings().readers_max,
        slots => slots,
    };
    info.store(MDB_envinfo {
        me_mapaddr: found.map_address as usize as *mut c_void,
        me_mapsize: found.map_size as usize,
        me_last_pgno: found.last_page as usize,
        me_last_txnid: found.last_txnid as usize,
        me_maxreaders: readers_max,
        me_numreaders: found.readers_used,
    })
}

fn sync(env: CHandle<MDB_env>, force: c_int) -> Outcome {
    let env = env.find()?;
    let open = env.get().open().map_err(|_| Code(libc::EBADF))?;
    open.environment.sync(force != 0).map_err(Code::from)
}

fn copy(env: CHandle<MDB_env>, path: Text<'_>) -> Outcome {
    copy_with(env, path, 0)
}

fn copy_with(env: CHandle<MDB_env>, path: Text<'_>, flags: c_uint) -> Outcome {
    let env = env.find()?;
    let environment = &env.get().open()?.environment;
    let path = path.get().ok_or(Code::INVALID_ARGUMENT)?;
    let path = path_from_bytes(path.to_bytes());
    environment
        .copy_to_path(path, flags & MDB_CP_COMPACT != 0)
        .map_err(Code::from)
}

fn copy_to(env: CHandle<MDB_env>, fd: mdb_filehandle_t) -> Outcome {
    copy_to_with(env, fd, 0)
}

fn copy_to_with(env: CHandle<MDB_env>, fd: mdb_filehandle_t, flags: c_uint) -> Outcome {
    let env = env.find()?;
    let environment = &env.get().open()?.environment;
    if fd < 0 {
        return Err(Code(libc::EBADF));
    }
    // SAFETY: it is not -1. The program keeps its descriptor open during the call; a closed one is
    // an error of the system.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    environment
        .copy_to_fd(fd, flags & MDB_CP_COMPACT != 0)
        .map_err(Code::from)
}

/// Converts statistics for C.
pub(super) fn stat_of(stat: &Stat) -> MDB_stat {
    MDB_stat {
        ms_psize: stat.page_size as c_uint,
        ms_depth: c_uint::from(stat.depth),
        ms_branch_pages: stat.branch_pages as usize,
        ms_leaf_pages: stat.leaf_pages as usize,
        ms_overflow_pages: stat.overflow_pages as usize,
        ms_entries: stat.entries as usize,
    }
}
