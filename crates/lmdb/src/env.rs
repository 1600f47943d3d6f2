//! The environment handle: made, opened, closed.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use fulgurite::{Durability, Environment, OpenOptions, SlotPolicy};

use crate::codes::{Code, Outcome};
use crate::cursor::end_cursors_of;
use crate::edge::{Caller, behind, code_of, note_panics, store, value_of};
use crate::ending::end_all_of;
use crate::handles::Handles;
use crate::slab::{Handle, Kept, Slab};
use crate::spare::{SpareReaders, SpareWriter};
use crate::types::{
    MDB_FIXEDMAP, MDB_MAPASYNC, MDB_NOLOCK, MDB_NOMEMINIT, MDB_NOMETASYNC, MDB_NORDAHEAD,
    MDB_NOSUBDIR, MDB_NOSYNC, MDB_NOTLS, MDB_RDONLY, MDB_WRITEMAP, MDB_assert_func, mdb_mode_t,
};

/// The flags that may be changed while the environment is open.
pub(crate) const CHANGEABLE: c_uint = MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC | MDB_NOMEMINIT;
/// All flags of an environment.
const FLAGS: c_uint = CHANGEABLE
    | MDB_FIXEDMAP
    | MDB_NOSUBDIR
    | MDB_RDONLY
    | MDB_WRITEMAP
    | MDB_NOTLS
    | MDB_NOLOCK
    | MDB_NORDAHEAD;

/// Reader slots of a new lock file unless the program says otherwise.
const READERS_DEFAULT: u32 = 126;
/// How far a growing map may grow unless the program says otherwise: 1 TiB.
const GROWTH_DEFAULT: u64 = 1 << 40;
/// Set to 1, lets every map grow.
const GROW_VARIABLE: &str = "FULGURITE_GROW";
/// Set to 0, leaves the handling of SIGBUS to the program.
const GUARD_VARIABLE: &str = "FULGURITE_BUS_GUARD";

/// An environment.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_env(());

/// What is behind an environment's handle.
#[derive(Debug)]
pub(crate) struct Env {
    /// What was asked for before opening.
    pub(crate) settings: Mutex<Settings>,
    pub(crate) opened: OnceLock<Box<Open>>,
    pub(crate) user_context: AtomicPtr<c_void>,
    /// Called before a fault of the library itself is answered with MDB_PANIC.
    pub(crate) assert: Mutex<Option<MDB_assert_func>>,
    /// Tells what belongs to it.
    pub(crate) number: usize,
    /// Transactions that could not be ended when it was closed: the last of them takes it along.
    pub(crate) lingering: AtomicUsize,
}

/// All environments.
pub(crate) static ENVS: Slab<Env> = Slab::new();

impl Kept for Env {
    type Handle = MDB_env;
    const SLOT: usize = 512;
    const FIRST: usize = 256;
    const WAITING: usize = 64;
    const ENDED: Code = Code::INVALID_ARGUMENT;

    fn slab() -> &'static Slab<Env> {
        &ENVS
    }
}

impl Handle for MDB_env {
    type Behind = Env;
}

/// What was asked for before opening.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) map_size: usize,
    /// Bound of a growing map; 0 for one of fixed size.
    pub(crate) growth_max: u64,
    pub(crate) readers_max: c_uint,
    pub(crate) databases_max: c_uint,
    pub(crate) flags: c_uint,
}

/// An open environment.
#[derive(Debug)]
pub(crate) struct Open {
    /// Dropped before the environment, which they refer to.
    pub(crate) spare_readers: SpareReaders,
    pub(crate) spare_writer: SpareWriter,
    pub(crate) environment: Environment,
    pub(crate) handles: Handles,
    pub(crate) path: CString,
    pub(crate) flags: AtomicU32,
    /// Whether a database was ever given an order of the program's own.
    pub(crate) has_orders: AtomicBool,
}

impl Env {
    /// The open environment; EINVAL before it is opened.
    #[inline]
    pub(crate) fn open(&self) -> Outcome<&Open> {
        self.opened
            .get()
            .map(|open| &**open)
            .ok_or(Code::INVALID_ARGUMENT)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    pub(crate) fn has(&self, flag: c_uint) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }
}

/// Makes a handle for an environment, to be configured and opened. mdb_env_close frees it.
///
/// ENOMEM; EINVAL for NULL.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_create(env: *mut *mut MDB_env) -> c_int {
    code_of(Caller::Nobody, || {
        static NUMBERS: AtomicUsize = AtomicUsize::new(1);
        if !heap_has_room() {
            return Err(Code::NO_MEMORY);
        }
        note_panics();
        fulgurite::set_bus_guard(guards_by_variable());
        if env.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let made = ENVS.insert(number, || Env {
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
        // SAFETY: not null; the caller's promise.
        unsafe { store(env, Slab::handle(made)) }
    })
}

/// Whether a process has any heap to speak of. Small allocations are not asked one by one for their success, so one whose
/// address space was used up in loading it is told here.
fn heap_has_room() -> bool {
    /// Less than what the system's allocator takes at once.
    const FIRST: usize = 64 << 10;
    Vec::<u8>::new().try_reserve_exact(FIRST).is_ok()
}

/// Opens an environment, making its files if there are none.
///
/// path is an existing directory, or with MDB_NOSUBDIR the data file; mode are the permissions of new files. flags come
/// on top of those set by mdb_env_set_flags. After a failure the handle may be used for another attempt, and has to
/// be closed in the end.
///
/// The errors of the system (ENOENT, EACCES, ...); MDB_INVALID if the file is of another kind; MDB_VERSION_MISMATCH;
/// EINVAL for unknown flags, NULL, or an environment that is open; EBUSY if the address of a MDB_FIXEDMAP is taken.
///
/// The first opening in a process handles SIGBUS from then on: a page of the data or lock file that is not there any more,
/// because the file was cut off or its disk failed, makes later calls answer MDB_PANIC in place of ending the process.
/// Signals that have nothing to do with an environment go to whoever handled them before. The environment variable
/// FULGURITE_BUS_GUARD=0 leaves the signal alone.
///
/// # Safety
/// The caller's promise; the path ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_open(
    env: *mut MDB_env,
    path: *const c_char,
    flags: c_uint,
    mode: mdb_mode_t,
) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let env = unsafe { behind(env) }?;
        if path.is_null() || flags & !FLAGS != 0 || env.opened.get().is_some() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise.
        let path = unsafe { CStr::from_ptr(path) };
        let mut settings = *env.settings();
        settings.flags |= flags;
        if settings.flags & MDB_RDONLY != 0 {
            settings.flags &= !MDB_WRITEMAP;
        }
        let environment = options(&settings, mode).open(OsStr::from_bytes(path.to_bytes()))?;
        let open = Open {
            spare_readers: SpareReaders::default(),
            spare_writer: SpareWriter::default(),
            environment,
            handles: Handles::new(settings.databases_max as usize),
            path: path.to_owned(),
            flags: AtomicU32::new(settings.flags),
            has_orders: AtomicBool::new(false),
        };
        // Two threads that open one handle at a time have a fault of their own; the second is told.
        let set = env.opened.set(Box::new(open));
        set.map_err(|_| Code::INVALID_ARGUMENT)
    })
}

/// Closes an environment and frees the handle. NULL is fine, and so is what is closed already.
///
/// Its transactions and cursors should have ended; those that have not are ended here, and their handles with them. What
/// they lent is gone. One that cannot be ended keeps the files open until it is: the write transaction of another thread
/// that lives, or one whose call is under way, in whose comparison function the program is. It answers MDB_BAD_TXN from
/// here on, and mdb_txn_abort or mdb_txn_commit end it.
///
/// In a forked child it lets go of what the child inherited, without effect on the parent.
///
/// # Safety
/// The caller's promise; nobody else is using anything of the environment at this moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_env_close(env: *mut MDB_env) {
    value_of(Caller::Nobody, (), || {
        let is_inherited = ENVS.find(env).is_err();
        let closed = ENVS.find_inherited(env)?;
        Slab::retire(closed);
        // SAFETY: it was found, and is removed below at the earliest.
        let number = unsafe { closed.as_ref() }.number;
        // One more than there are, so that none of them takes the environment along before all have been looked at.
        linger(closed, 1);
        // SAFETY: the caller's promise.
        unsafe { end_all_of(number, is_inherited, || linger(closed, 1)) };
        // SAFETY: as above.
        unsafe { end_cursors_of(number) };
        // SAFETY: as above.
        unsafe { stop_lingering(closed) };
        Ok(())
    });
}

/// Keeps a closed environment for so many more transactions.
fn linger(env: NonNull<Env>, more: usize) {
    // SAFETY: an environment is removed when nothing lingers, and this is called before.
    let env = unsafe { env.as_ref() };
    env.lingering.fetch_add(more, Ordering::AcqRel);
}

/// Frees a closed environment if nothing else keeps it.
///
/// # Safety
/// [`linger`] was called for the caller, who does not use it any more.
pub(crate) unsafe fn stop_lingering(env: NonNull<Env>) {
    // SAFETY: the caller's promise.
    let kept = unsafe { env.as_ref() };
    if kept.lingering.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: nothing of it is left.
        unsafe { ENVS.remove(env) };
    }
}

/// The engine's options for these settings.
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

/// What the flags say of durability.
pub(crate) const fn durability(flags: c_uint) -> Durability {
    if flags & MDB_NOSYNC != 0 {
        Durability::NoSync
    } else if flags & MDB_NOMETASYNC != 0 {
        Durability::NoMetaSync
    } else {
        Durability::Full
    }
}

/// Whether a page that is missing in a map is an error (MDB_PANIC), or a bus error.
fn guards_by_variable() -> bool {
    std::env::var_os(GUARD_VARIABLE).is_none_or(|value| value != "0")
}

fn growth_by_variable() -> u64 {
    let wanted = std::env::var_os(GROW_VARIABLE).is_some_and(|value| value == "1");
    if wanted { GROWTH_DEFAULT } else { 0 }
}
