//! The value behind an environment's handle.

use alloc::boxed::Box;
use alloc::ffi::CString;
use core::ffi::{c_uint, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use fulgurite::platform::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use fulgurite::Environment;

use crate::codes::{Code, Outcome};
use crate::ffi::Caller;
use crate::objects::databases::DatabaseHandles;
use crate::objects::txn_pool::{ReaderPool, WriterPool};
use crate::slab::{Handle, Slab, Slot};
use crate::types::{MDB_assert_func, MDB_env, MDB_txn};

/// The value behind an environment's handle.
#[derive(Debug)]
pub(crate) struct Env {
    /// Settings for opening.
    pub(crate) settings: Mutex<Settings>,
    pub(crate) opened: OnceLock<Box<OpenEnv>>,
    pub(crate) user_context: AtomicPtr<c_void>,
    /// Called before an internal error is returned as MDB_PANIC.
    pub(crate) assert: Mutex<Option<MDB_assert_func>>,
    /// Marks the transactions and cursors of this environment.
    pub(crate) number: usize,
    /// Transactions that could not be ended when this was closed: the last of them frees it.
    pub(crate) lingering: AtomicUsize,
}

/// All environments.
pub(crate) static ENVS: Slab<MDB_env> = Slab::new();

impl Handle for MDB_env {
    type Value = Env;
    const SLOT_BYTES: usize = 512;
    const FIRST_SLOTS: usize = 256;
    const WAITING_SLOTS: usize = 64;
    const ENDED: Code = Code::INVALID_ARGUMENT;

    fn slab() -> &'static Slab<MDB_env> {
        &ENVS
    }
}

/// Settings for opening.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) map_size: usize,
    /// Bound of a growing map; 0 for a map of fixed size.
    pub(crate) growth_max: u64,
    pub(crate) readers_max: c_uint,
    pub(crate) databases_max: c_uint,
    pub(crate) flags: c_uint,
}

/// An open environment.
#[derive(Debug)]
pub(crate) struct OpenEnv {
    /// The pools are dropped before the environment, which their transactions refer to.
    pub(crate) reader_pool: ReaderPool<MDB_txn>,
    pub(crate) writer_pool: WriterPool<MDB_txn>,
    pub(crate) environment: Environment,
    pub(crate) databases: DatabaseHandles,
    pub(crate) path: CString,
    pub(crate) flags: AtomicU32,
    /// True once a database was given a comparison function.
    pub(crate) has_orders: AtomicBool,
}

impl Env {
    /// Returns the open environment.
    /// # Errors
    /// EINVAL before it is opened.
    #[inline(always)]
    pub(crate) fn open(&self) -> Outcome<&OpenEnv> {
        self.opened
            .get()
            .map(|open| &**open)
            .ok_or(Code::INVALID_ARGUMENT)
    }

    /// Returns the settings for opening.
    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes settings that opening fixes.
    /// # Errors
    /// EINVAL once it is open.
    pub(crate) fn set_before_opening(&self, change: impl FnOnce(&mut Settings)) -> Outcome {
        if self.opened.get().is_some() {
            return Err(Code::INVALID_ARGUMENT);
        }
        change(&mut self.settings());
        Ok(())
    }
}

impl OpenEnv {
    /// Returns an open environment without transactions.
    pub(crate) fn new(environment: Environment, path: CString, settings: &Settings) -> OpenEnv {
        OpenEnv {
            reader_pool: ReaderPool::default(),
            writer_pool: WriterPool::default(),
            environment,
            databases: DatabaseHandles::new(settings.databases_max as usize),
            path,
            flags: AtomicU32::new(settings.flags),
            has_orders: AtomicBool::new(false),
        }
    }

    /// Returns true if a flag is set.
    #[inline]
    pub(crate) fn has(&self, flag: c_uint) -> bool {
        self.flags.load(Ordering::Relaxed) & flag != 0
    }
}

impl Caller for *mut MDB_env {
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)> {
        assert_function_of(ENVS.find(self).ok()?)
    }
}

/// Returns the handle of an environment, if it has one, and the function set with
/// mdb_env_set_assert.
pub(crate) fn assert_function_of(env: Slot<MDB_env>) -> Option<(*mut MDB_env, MDB_assert_func)> {
    let handle = env.handle();
    if handle.is_null() {
        return None;
    }
    let assert = *env
        .get()
        .assert
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Some((handle, assert?))
}
