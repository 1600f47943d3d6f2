//! The environment handle: created, opened, closed.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_uint};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use fulgurite::platform::sync::{Mutex, OnceLock};
use fulgurite::platform::{path_from_bytes, variable};

use fulgurite::{Durability, Environment, OpenOptions, SlotPolicy};

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, NoCaller, Out, Text, exported, note_panics};
use crate::objects::close::{end_all_of, end_cursors_of, linger, stop_lingering};
use crate::objects::environment::{ENVS, Env, OpenEnv, Settings};
use crate::types::{
    MDB_FIXEDMAP, MDB_MAPASYNC, MDB_NOLOCK, MDB_NOMEMINIT, MDB_NOMETASYNC, MDB_NORDAHEAD,
    MDB_NOSUBDIR, MDB_NOSYNC, MDB_NOTLS, MDB_RDONLY, MDB_WRITEMAP, MDB_env, mdb_mode_t,
};

/// The flags that may be changed while the environment is open.
pub(super) const CHANGEABLE: c_uint = MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC | MDB_NOMEMINIT;
/// All flags of an environment.
const FLAGS: c_uint = CHANGEABLE
    | MDB_FIXEDMAP
    | MDB_NOSUBDIR
    | MDB_RDONLY
    | MDB_WRITEMAP
    | MDB_NOTLS
    | MDB_NOLOCK
    | MDB_NORDAHEAD;

/// Reader slots of a new lock file unless the program sets another number.
const READERS_DEFAULT: u32 = 126;
/// Bound of a growing map unless the program sets another: 1 TiB.
const GROWTH_DEFAULT: u64 = 1 << 40;
/// The variable that lets every map grow if it is 1.
const GROW_VARIABLE: &CStr = c"FULGURITE_GROW";
/// The variable that leaves SIGBUS to the program if it is 0.
const GUARD_VARIABLE: &CStr = c"FULGURITE_BUS_GUARD";

exported! {
    /// Creates a handle for an environment, to be configured and opened. mdb_env_close frees it.
    ///
    /// ENOMEM; EINVAL for NULL.
    fn mdb_env_create(env: *mut *mut MDB_env) -> c_int { code_of(NoCaller, create) }

    /// Opens an environment, and creates its files if there are none.
    ///
    /// path is an existing directory, or with MDB_NOSUBDIR the data file. mode holds the
    /// permissions of new files. flags are added to those set by mdb_env_set_flags. After a failure
    /// the handle may be used for another attempt; it must be closed in the end.
    ///
    /// The errors of the system (ENOENT, EACCES, ...). MDB_INVALID: the file is not a data file.
    /// MDB_VERSION_MISMATCH. EINVAL: unknown flags, NULL, or an open environment. EBUSY: the
    /// address of a MDB_FIXEDMAP is taken.
    ///
    /// The first opening in a process installs a handler for SIGBUS. A page of a file may be
    /// missing, because the file was cut off or its disk failed. Then later calls return MDB_PANIC;
    /// the process lives on. Signals that do not concern an environment go to the previous handler.
    /// The environment variable FULGURITE_BUS_GUARD=0 leaves the signal alone.
    fn mdb_env_open(
        env: *mut MDB_env,
        path: *const c_char,
        flags: c_uint,
        mode: mdb_mode_t,
    ) -> c_int { code_of(env, open) }

    /// Closes an environment and frees the handle. Without effect for NULL and for a closed
    /// environment.
    ///
    /// Its transactions and cursors should have ended. Those that live are ended, with their
    /// handles; the data that they returned is no longer valid. A transaction that cannot be ended
    /// keeps the files open until its end. Such are the write transaction of another thread that
    /// lives, and one that runs a comparison function. It returns MDB_BAD_TXN from here on, and
    /// mdb_txn_abort or mdb_txn_commit end it.
    ///
    /// In a forked child this releases the inherited environment, without effect on the parent.
    fn mdb_env_close(env: *mut MDB_env) { value_of(NoCaller, (), close) }
}

fn create(env: Out<'_, *mut MDB_env>) -> Outcome {
    static NUMBERS: AtomicUsize = AtomicUsize::new(1);
    if !heap_has_room() {
        return Err(Code::NO_MEMORY);
    }
    note_panics();
    fulgurite::set_bus_guard(guards_by_variable());
    env.check()?;
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let created = ENVS.insert(number, || Env {
        settings: Mutex::new(Settings {
            map_size: 0,
            growth_max: growth_by_variable(),
            readers_max: READERS_DEFAULT,
            databases_max: 0,
            flags: 0,
        }),
        opened: OnceLock::new(),
        user_context: AtomicPtr::default(),
        assert: Mutex::default(),
        number,
        lingering: AtomicUsize::new(0),
    })?;
    env.store(created.handle())
}

/// Returns true if the process has heap. Small allocations are not checked one by one. This detects
/// an address space that loading the process has used up.
fn heap_has_room() -> bool {
    /// Bytes: less than the system's allocator takes at once.
    const FIRST_BYTES: usize = 64 << 10;
    Vec::<u8>::new().try_reserve_exact(FIRST_BYTES).is_ok()
}

fn open(env: CHandle<MDB_env>, path: Text<'_>, flags: c_uint, mode: mdb_mode_t) -> Outcome {
    let env = env.find()?;
    let env = env.get();
    let path = path.get().ok_or(Code::INVALID_ARGUMENT)?;
    if flags & !FLAGS != 0 || env.opened.get().is_some() {
        return Err(Code::INVALID_ARGUMENT);
    }
    let mut settings = *env.settings();
    settings.flags |= flags;
    if settings.flags & MDB_RDONLY != 0 {
        settings.flags &= !MDB_WRITEMAP;
    }
    let environment = options(&settings, mode).open(path_from_bytes(path.to_bytes()))?;
    let open = OpenEnv::new(environment, path.to_owned(), &settings);
    // Two threads may open one handle at the same time by mistake. The second fails.
    let set = env.opened.set(Box::new(open));
    set.map_err(|_| Code::INVALID_ARGUMENT)
}

fn close(env: CHandle<MDB_env>) -> Outcome {
    let (closed, is_inherited) = env.find_inherited()?;
    closed.end_handle();
    let number = closed.get().number;
    // For this call, so that no transaction frees the environment while others are being ended.
    linger(closed);
    end_all_of(number, is_inherited, || linger(closed));
    end_cursors_of(number);
    stop_lingering(closed);
    Ok(())
}

/// Returns the engine's options for these settings.
fn options(settings: &Settings, mode: mdb_mode_t) -> OpenOptions {
    let has = |flag| settings.flags & flag != 0;
    let slots = if has(MDB_NOTLS) {
        SlotPolicy::PerTransaction
    } else {
        SlotPolicy::PerThread
    };
    let options = Environment::options()
        .readers_max(settings.readers_max)
        // This library counts the names itself: closing one makes room.
        .databases_max(usize::MAX)
        .file_mode(mode)
        .durability(durability(settings.flags))
        .no_subdir(has(MDB_NOSUBDIR))
        .read_only(has(MDB_RDONLY))
        .write_map(has(MDB_WRITEMAP))
        .map_async(has(MDB_MAPASYNC))
        .no_lock(has(MDB_NOLOCK))
        .no_read_ahead(has(MDB_NORDAHEAD))
        .fixed_map(has(MDB_FIXEDMAP))
        .slots(slots);
    match settings.growth_max {
        0 => options.map_size(settings.map_size as u64),
        bound => options.map_bytes_max(bound.max(settings.map_size as u64)),
    }
}

/// Returns the durability that the flags ask for.
pub(super) const fn durability(flags: c_uint) -> Durability {
    if flags & MDB_NOSYNC != 0 {
        Durability::NoSync
    } else if flags & MDB_NOMETASYNC != 0 {
        Durability::NoMetaSync
    } else {
        Durability::Full
    }
}

/// Returns true if a missing page of a map is an error (MDB_PANIC), false if it is a bus error.
fn guards_by_variable() -> bool {
    variable(GUARD_VARIABLE).is_none_or(|value| value != b"0")
}

/// Returns the bound of a growing map; 0 for a map of fixed size.
fn growth_by_variable() -> u64 {
    let grows = variable(GROW_VARIABLE).is_some_and(|value| value == b"1");
    if grows { GROWTH_DEFAULT } else { 0 }
}
