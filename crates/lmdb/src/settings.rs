//! What can be set of an environment and asked for, before it is opened or while it is.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::codes::{Code, Outcome};
use crate::edge::{behind, code_of, store, value_of};
use crate::env::{CHANGEABLE, MDB_env, Open, Settings, durability};
use crate::types::{MDB_MAPASYNC, MDB_assert_func, MDB_dbi, mdb_filehandle_t};

/// The longest key, name, or value of a MDB_DUPSORT database, in octets.
const KEY_MAX: c_int = 511;

/// Sets or (onoff 0) clears flags: MDB_NOSYNC, MDB_NOMETASYNC, MDB_MAPASYNC and MDB_NOMEMINIT, at any time.
///
/// EINVAL for any other flag; nothing is changed then.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_set_flags(
    env: *mut MDB_env,
    flags: c_uint,
    onoff: c_int,
) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        if flags & !CHANGEABLE != 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        let change = |old: c_uint| {
            if onoff == 0 {
                old & !flags
            } else {
                old | flags
            }
        };
        let mut settings = env.settings();
        let Some(open) = env.opened.get() else {
            settings.flags = change(settings.flags);
            return Ok(());
        };
        let changed = change(open.flags.load(Ordering::Relaxed));
        open.flags.store(changed, Ordering::Relaxed);
        open.environment.set_durability(durability(changed));
        open.environment.set_map_async(changed & MDB_MAPASYNC != 0);
        Ok(())
    })
}

/// Tells the flags of the environment.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_get_flags(env: *mut MDB_env, flags: *mut c_uint) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let now = match env.opened.get() {
            Some(open) => open.flags.load(Ordering::Relaxed),
            None => env.settings().flags,
        };
        // SAFETY: as above.
        unsafe { store(flags, now) }
    })
}

/// Tells the path given to mdb_env_open, NULL before that. The text is the environment's, and lives as long.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_get_path(env: *mut MDB_env, path: *mut *const c_char) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let text = env
            .opened
            .get()
            .map_or(ptr::null(), |open| open.path.as_ptr());
        // SAFETY: as above.
        unsafe { store(path, text) }
    })
}

/// Tells the descriptor of the data file, -1 before it is open. It stays the environment's.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_get_fd(env: *mut MDB_env, fd: *mut mdb_filehandle_t) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let descriptor = env
            .opened
            .get()
            .map_or(-1, |open| open.environment.fd().as_raw_fd());
        // SAFETY: as above.
        unsafe { store(fd, descriptor) }
    })
}

/// Sets the size of the map in octets: how large the data file may get. 0 takes the size that the file says, 1 MiB for
/// a new one; what is too small for the pages in use is raised to them.
///
/// While the environment is open it may be set as long as this process has no write transaction (else EINVAL). That
/// is how to go on after MDB_MAP_RESIZED: set it to 0. What read transactions of this process have been given stays
/// where it is.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_set_mapsize(env: *mut MDB_env, size: usize) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        match env.opened.get() {
            Some(open) => open.environment.set_map_size(size as u64)?,
            None => env.settings().map_size = size,
        }
        Ok(())
    })
}

/// Sets how many reader slots a new lock file gets; 126 unless set. A lock file in use keeps its number.
///
/// EINVAL for 0, or when the environment is open.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_set_maxreaders(env: *mut MDB_env, readers: c_uint) -> c_int {
    code_of(env, || {
        if readers == 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise.
        unsafe { before_opening(env, |settings| settings.readers_max = readers) }
    })
}

/// Tells how many reader slots there are.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_get_maxreaders(env: *mut MDB_env, readers: *mut c_uint) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        let slots = match env.opened.get() {
            Some(open) => slots(open)?,
            None => None,
        };
        let number = slots.unwrap_or_else(|| env.settings().readers_max);
        // SAFETY: as above.
        unsafe { store(readers, number) }
    })
}

/// Sets how many named databases may be open at a time; none unless set.
///
/// EINVAL when the environment is open.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_set_maxdbs(env: *mut MDB_env, dbs: MDB_dbi) -> c_int {
    // SAFETY: the caller's promise.
    code_of(env, || unsafe {
        before_opening(env, |settings| settings.databases_max = dbs)
    })
}

/// The longest key in octets: 511. Names, and values of MDB_DUPSORT databases, have the same limit.
///
/// # Safety
/// Any pointer will do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_get_maxkeysize(_env: *mut MDB_env) -> c_int {
    KEY_MAX
}

/// Keeps a pointer for the program.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_set_userctx(env: *mut MDB_env, ctx: *mut c_void) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        env.user_context.store(ctx, Ordering::Release);
        Ok(())
    })
}

/// The pointer kept by mdb_env_set_userctx; NULL if none.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_get_userctx(env: *mut MDB_env) -> *mut c_void {
    value_of(env, ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        Ok(env.user_context.load(Ordering::Acquire))
    })
}

/// Sets a function to be told of faults of the library itself, in words, before they are answered with MDB_PANIC. NULL
/// unsets it.
///
/// It is called in the thread that met the fault, after the call has let go of everything, and may do what it likes: end
/// the program too, which the library itself never does. Damaged files and misuse are no such faults, they have codes.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_set_assert(
    env: *mut MDB_env,
    func: Option<MDB_assert_func>,
) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        *env.assert.lock().unwrap_or_else(PoisonError::into_inner) = func;
        Ok(())
    })
}

/// Changes settings that opening fixes.
pub(crate) unsafe fn before_opening(
    env: *mut MDB_env,
    change: impl FnOnce(&mut Settings),
) -> Outcome {
    // SAFETY: the caller's promise.
    let env = unsafe { behind(env) }?;
    if env.opened.get().is_some() {
        return Err(Code::INVALID_ARGUMENT);
    }
    change(&mut env.settings());
    Ok(())
}

/// Reader slots of an open environment; `None` without a lock file.
fn slots(open: &Open) -> Outcome<Option<c_uint>> {
    let info = open.environment.info()?;
    Ok(Some(info.readers_max).filter(|slots| *slots != 0))
}
