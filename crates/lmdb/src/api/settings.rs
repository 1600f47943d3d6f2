//! Settings of an environment, before it is opened or while it is open.

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::Ordering;
use fulgurite::fd::AsRawFd;
use fulgurite::platform::sync::PoisonError;

use crate::api::env::{CHANGEABLE, durability};
use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Out, exported, note_assert};
use crate::objects::environment::OpenEnv;
use crate::types::{MDB_MAPASYNC, MDB_assert_func, MDB_dbi, MDB_env, mdb_filehandle_t};

/// Longest key, name, or value of a MDB_DUPSORT database, in bytes.
const KEY_MAX: c_int = 511;

exported! {
    /// Sets or (onoff 0) clears flags: MDB_NOSYNC, MDB_NOMETASYNC, MDB_MAPASYNC and MDB_NOMEMINIT,
    /// at any time.
    ///
    /// EINVAL: any other flag. Nothing is changed then.
    fn mdb_env_set_flags(env: *mut MDB_env, flags: c_uint, onoff: c_int) -> c_int {
        code_of(env, set_flags)
    }

    /// Gets the flags of the environment.
    fn mdb_env_get_flags(env: *mut MDB_env, flags: *mut c_uint) -> c_int {
        code_of(env, get_flags)
    }

    /// Gets the path given to mdb_env_open; NULL before that. The text belongs to the environment,
    /// and lives as long.
    fn mdb_env_get_path(env: *mut MDB_env, path: *mut *const c_char) -> c_int {
        code_of(env, get_path)
    }

    /// Gets the descriptor of the data file; -1 before it is open. The environment closes it.
    fn mdb_env_get_fd(env: *mut MDB_env, fd: *mut mdb_filehandle_t) -> c_int {
        code_of(env, get_fd)
    }

    /// Sets the size of the map in bytes: the limit of the data file. 0 takes the size that the
    /// file states, 1 MiB for a new one. A size too small for the pages in use is raised to them.
    ///
    /// While the environment is open, it may be set if this process has no write transaction (else
    /// EINVAL). After MDB_MAP_RESIZED, set it to 0 and go on. Data that read transactions of this
    /// process have returned stays where it is.
    fn mdb_env_set_mapsize(env: *mut MDB_env, size: usize) -> c_int {
        code_of(env, set_map_size)
    }

    /// Sets the number of reader slots of a new lock file; 126 unless set. A lock file in use keeps
    /// its number.
    ///
    /// EINVAL for 0, or when the environment is open.
    fn mdb_env_set_maxreaders(env: *mut MDB_env, readers: c_uint) -> c_int {
        code_of(env, set_readers_max)
    }

    /// Gets the number of reader slots.
    fn mdb_env_get_maxreaders(env: *mut MDB_env, readers: *mut c_uint) -> c_int {
        code_of(env, get_readers_max)
    }

    /// Sets the number of named databases that may be open at a time; none unless set.
    ///
    /// EINVAL when the environment is open.
    fn mdb_env_set_maxdbs(env: *mut MDB_env, dbs: MDB_dbi) -> c_int {
        code_of(env, set_databases_max)
    }

    /// Returns the length of the longest key in bytes: 511. Names, and values of MDB_DUPSORT
    /// databases, have the same limit.
    fn mdb_env_get_maxkeysize(env: *mut MDB_env) -> c_int { plain(key_bytes_max) }

    /// Stores a pointer for the program.
    fn mdb_env_set_userctx(env: *mut MDB_env, ctx: *mut c_void) -> c_int {
        code_of(env, set_user_context)
    }

    /// Returns the pointer stored by mdb_env_set_userctx; NULL if there is none.
    fn mdb_env_get_userctx(env: *mut MDB_env) -> *mut c_void {
        value_of(env, ptr::null_mut(), user_context)
    }

    /// Sets a function that receives the message of an internal error of the library. NULL unsets
    /// it.
    ///
    /// The thread that met the error calls it; then the process ends by abort(). With several
    /// environments, the function that was set last is called. It must not call this library.
    /// Damaged files and misuse are no internal errors: they have codes. A build with Rust's
    /// standard library returns MDB_PANIC instead of ending, and calls the environment's own
    /// function.
    fn mdb_env_set_assert(env: *mut MDB_env, func: Option<MDB_assert_func>) -> c_int {
        code_of(env, set_assert)
    }
}

fn set_flags(env: CHandle<MDB_env>, flags: c_uint, onoff: c_int) -> Outcome {
    let env = env.find()?;
    let env = env.get();
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
}

fn get_flags(env: CHandle<MDB_env>, flags: Out<'_, c_uint>) -> Outcome {
    let env = env.find()?;
    let env = env.get();
    flags.store(match env.opened.get() {
        Some(open) => open.flags.load(Ordering::Relaxed),
        None => env.settings().flags,
    })
}

fn get_path(env: CHandle<MDB_env>, path: Out<'_, *const c_char>) -> Outcome {
    let env = env.find()?;
    let open = env.get().opened.get();
    path.store(open.map_or(ptr::null(), |open| open.path.as_ptr()))
}

fn get_fd(env: CHandle<MDB_env>, fd: Out<'_, mdb_filehandle_t>) -> Outcome {
    let env = env.find()?;
    let open = env.get().opened.get();
    fd.store(open.map_or(-1, |open| open.environment.fd().as_raw_fd()))
}

fn set_map_size(env: CHandle<MDB_env>, size: usize) -> Outcome {
    let env = env.find()?;
    let env = env.get();
    match env.opened.get() {
        Some(open) => open.environment.set_map_size(size as u64)?,
        None => env.settings().map_size = size,
    }
    Ok(())
}

fn set_readers_max(env: CHandle<MDB_env>, readers: c_uint) -> Outcome {
    if readers == 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    let env = env.find()?;
    env.get()
        .set_before_opening(|settings| settings.readers_max = readers)
}

fn get_readers_max(env: CHandle<MDB_env>, readers: Out<'_, c_uint>) -> Outcome {
    let env = env.find()?;
    let env = env.get();
    let slots = match env.opened.get() {
        Some(open) => slots(open)?,
        None => None,
    };
    readers.store(slots.unwrap_or_else(|| env.settings().readers_max))
}

/// Returns the reader slots of an open environment; `None` without a lock file.
fn slots(open: &OpenEnv) -> Outcome<Option<c_uint>> {
    let info = open.environment.info()?;
    Ok(Some(info.readers_max).filter(|slots| *slots != 0))
}

fn set_databases_max(env: CHandle<MDB_env>, databases: MDB_dbi) -> Outcome {
    let env = env.find()?;
    env.get()
        .set_before_opening(|settings| settings.databases_max = databases)
}

const fn key_bytes_max(_env: *mut MDB_env) -> c_int {
    KEY_MAX
}

fn set_user_context(env: CHandle<MDB_env>, ctx: *mut c_void) -> Outcome {
    let env = env.find()?;
    env.get().user_context.store(ctx, Ordering::Release);
    Ok(())
}

fn user_context(env: CHandle<MDB_env>) -> Outcome<*mut c_void> {
    let env = env.find()?;
    Ok(env.get().user_context.load(Ordering::Acquire))
}

fn set_assert(env: CHandle<MDB_env>, func: Option<MDB_assert_func>) -> Outcome {
    let env = env.find()?;
    note_assert(env.handle(), func);
    let mut assert = env
        .get()
        .assert
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    *assert = func;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::sync::Mutex;

    use crate::api::{mdb_env_close, mdb_env_create, mdb_env_set_assert};
    use crate::codes::MDB_PANIC;
    use crate::ffi::code_of;

    use super::*;

    /// Calls the library.
    macro_rules! c {
        ($call:expr) => {
            // SAFETY: the test passes room for a handle, or the environment that no other thread
            // uses.
            unsafe { $call }
        };
    }

    #[test]
    fn the_assert_function_receives_the_message_of_a_panic() {
        static MESSAGE: Mutex<String> = Mutex::new(String::new());
        extern "C" fn receive(env: *mut MDB_env, message: *const c_char) {
            // SAFETY: the library passes a text that ends with a NUL.
            let message = unsafe { CStr::from_ptr(message) };
            *MESSAGE.lock().unwrap() = message.to_string_lossy().into_owned();
            c!(mdb_env_close(env));
        }
        let mut env = ptr::null_mut();
        assert_eq!(c!(mdb_env_create(&mut env)), 0);
        assert_eq!(c!(mdb_env_set_assert(env, Some(receive))), 0);
        assert_eq!(code_of(env, || panic!("on purpose, and told")), MDB_PANIC);
        assert!(MESSAGE.lock().unwrap().contains("on purpose, and told"));
        // The function closed the environment; from here on no function receives messages.
        MESSAGE.lock().unwrap().clear();
        assert_eq!(code_of(env, || panic!("on purpose")), MDB_PANIC);
        assert_eq!(*MESSAGE.lock().unwrap(), "");
    }
}
