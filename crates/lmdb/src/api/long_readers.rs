//! Long readers: listing them, and what writers do about them.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};
use core::time::Duration;

use fulgurite::{Error, LongReader, Reader, ReaderPolicy};

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, In, exported};
use crate::objects::transaction::Kind;
use crate::types::{MDB_env, MDB_txn};

/// The value for an unknown number.
const UNKNOWN: usize = usize::MAX;

/// A reader of any process. Unknown numbers are SIZE_MAX: the age of readers that use LMDB, and the
/// snapshot of a reader between transactions.
#[allow(non_camel_case_types, reason = "named like the functions")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct fulgurite_reader {
    /// Id of its process.
    pub process: usize,
    /// Number of its thread, as the process names it.
    pub thread: usize,
    /// The snapshot that it reads: the id of a transaction.
    pub snapshot: usize,
    /// Number of transactions committed since.
    pub lag: usize,
    /// Milliseconds for which it has had the snapshot.
    pub age_ms: usize,
    /// Free pages that cannot be used again while it has the snapshot.
    pub held_pages: usize,
    /// 1 if a writer has asked it to end, else 0.
    pub asked_to_end: c_int,
}

/// Receives a reader, which is valid during the call. In lists, a negative result ends the listing.
#[allow(non_camel_case_types, reason = "named like the functions")]
pub type fulgurite_reader_func =
    unsafe extern "C" fn(reader: *const fulgurite_reader, ctx: *mut c_void) -> c_int;

/// Tells writers what to do when a reader's old snapshot would make them extend the file. Set
/// everything to 0 first.
///
/// A reader counts as long beyond any of the limits; a limit of 0 is none. Without limits every
/// reader is long that holds pages. The actions add up, in this order: warn is called, the reader
/// is asked to end, growth is refused.
#[allow(non_camel_case_types, reason = "named like the functions")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct fulgurite_reader_policy {
    /// Limit of transactions committed since the snapshot.
    pub lag_max: usize,
    /// Limit of milliseconds for which it has had the snapshot.
    pub age_ms_max: usize,
    /// Limit of pages that it holds.
    pub held_pages_max: usize,
    /// Called once for each snapshot that a long reader holds, by the thread that writes. It must
    /// not write to the environment. NULL for no call.
    pub warn: Option<fulgurite_reader_func>,
    /// Passed to warn.
    pub ctx: *mut c_void,
    /// 1: readers of the oldest snapshot are asked to end. The next call for such a transaction is
    /// MDB_BAD_TXN, in any process (fulgurite_txn_ended tells it from other reasons). Data it has
    /// returned stays valid until it is aborted or reset. Readers that use LMDB cannot be asked.
    pub end_oldest: c_int,
    /// Milliseconds for which a writer waits for that, once for each snapshot, before it goes on.
    pub grace_ms: c_uint,
    /// 1: the call that writes is MDB_MAP_FULL instead, and the transaction must be aborted.
    pub refuse_growth: c_int,
}

exported! {
    /// Sets the policy of this environment's writers about long readers, from now on; NULL for
    /// none, as at first.
    ///
    /// Any thread that writes may call warn with ctx, until another policy is set or the
    /// environment is closed. EINVAL unless the environment is open.
    fn fulgurite_env_set_reader_policy(
        env: *mut MDB_env,
        policy: *const fulgurite_reader_policy,
    ) -> c_int { code_of(env, set_policy) }

    /// Lists the reader slots in use of all processes, through a function. Returns the last result
    /// of that function, 0 without readers. As mdb_reader_list, with everything that is known of
    /// each reader.
    ///
    /// It reads the free list, and takes a reader slot for that. Where there is no slot left, the
    /// held pages are unknown. Errors are negative codes as elsewhere; EINVAL for NULL.
    fn fulgurite_reader_list(
        env: *mut MDB_env,
        func: Option<fulgurite_reader_func>,
        ctx: *mut c_void,
    ) -> c_int { answer_of(env, list) }

    /// Returns 1 if a writer has asked a read transaction to end, else 0. Every other call for such
    /// a transaction is MDB_BAD_TXN. It must be aborted, or reset and renewed. 0 for NULL and for
    /// write transactions.
    fn fulgurite_txn_ended(txn: *mut MDB_txn) -> c_int { value_of(txn, 0, is_ended) }
}

fn set_policy(env: CHandle<MDB_env>, policy: In<'_, fulgurite_reader_policy>) -> Outcome {
    let env = env.find()?;
    let open = env.get().open()?;
    open.environment
        .set_reader_policy(policy.get().map(policy_of));
    Ok(())
}

fn list(
    env: CHandle<MDB_env>,
    func: Option<fulgurite_reader_func>,
    ctx: *mut c_void,
) -> Outcome<c_int> {
    let env = env.find()?;
    let open = env.get().open()?;
    let func = func.ok_or(Code::INVALID_ARGUMENT)?;
    let listed: Vec<(Reader, usize)> = match open.environment.readers_with_pages() {
        Ok(listed) => {
            let listed = listed.unwrap_or_default().into_iter();
            listed
                .map(|(reader, pages)| (reader, pages.held as usize))
                .collect()
        }
        Err(Error::ReadersFull(_) | Error::ReaderBusy) => {
            let readers = open.environment.readers().unwrap_or_default();
            readers
                .into_iter()
                .map(|reader| (reader, UNKNOWN))
                .collect()
        }
        Err(error) => return Err(error.into()),
    };
    let mut answer = 0;
    for (reader, held_pages) in listed {
        let reader = reader_of(&reader, held_pages);
        // SAFETY: the program passed the function to be called with any reader and this context.
        answer = unsafe { func(&raw const reader, ctx) };
        if answer < 0 {
            break;
        }
    }
    Ok(answer)
}

fn is_ended(txn: CHandle<MDB_txn>) -> Outcome<c_int> {
    let txn = txn.find()?;
    Ok(match &txn.get().kind {
        Kind::Read(read) => c_int::from(matches!(read.check_readable(), Err(Error::ReaderEnded))),
        Kind::Write(_) => 0,
    })
}

/// The pointer that the program passes to its warn function.
#[derive(Clone, Copy)]
struct WarnContext(*mut c_void);

// SAFETY: `lmdb.h` says that any writing thread calls the function with this pointer, which is only
// passed on.
unsafe impl Send for WarnContext {}
// SAFETY: `lmdb.h` says that any writing thread calls the function with this pointer, which is only
// passed on.
unsafe impl Sync for WarnContext {}

impl WarnContext {
    /// Returns the pointer. Through a method, closures capture the whole context, which is Send.
    const fn pointer(self) -> *mut c_void {
        self.0
    }
}

fn policy_of(asked: &fulgurite_reader_policy) -> ReaderPolicy {
    let mut policy = ReaderPolicy::new();
    if asked.lag_max != 0 {
        policy = policy.lag_max(asked.lag_max as u64);
    }
    if asked.age_ms_max != 0 {
        policy = policy.age_max(Duration::from_millis(asked.age_ms_max as u64));
    }
    if asked.held_pages_max != 0 {
        policy = policy.held_pages_max(asked.held_pages_max as u64);
    }
    if let Some(func) = asked.warn {
        let ctx = WarnContext(asked.ctx);
        policy = policy.warn(move |long: &LongReader| {
            let reader = reader_of(&long.reader, long.held_pages as usize);
            // SAFETY: `lmdb.h` says that any writing thread calls the function with any reader and
            // this context.
            unsafe { func(&raw const reader, ctx.pointer()) };
        });
    }
    if asked.end_oldest != 0 {
        policy = policy.end_oldest(Duration::from_millis(u64::from(asked.grace_ms)));
    }
    if asked.refuse_growth != 0 {
        policy = policy.refuse_growth();
    }
    policy
}

fn reader_of(reader: &Reader, held_pages: usize) -> fulgurite_reader {
    fulgurite_reader {
        process: reader.pid as usize,
        thread: reader.thread as usize,
        snapshot: reader.snapshot.map_or(UNKNOWN, |id| id.0 as usize),
        lag: reader.lag as usize,
        age_ms: reader.age.map_or(UNKNOWN, |age| {
            usize::try_from(age.as_millis()).unwrap_or(UNKNOWN)
        }),
        held_pages,
        asked_to_end: c_int::from(reader.is_asked_to_end),
    }
}
