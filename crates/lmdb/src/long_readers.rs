//! Long readers, for programs that ask: who they are, what a writer does about them, and whether one was asked to end.

use std::ffi::{c_int, c_uint, c_void};
use std::time::Duration;

use fulgurite::{Error, LongReader, Reader, ReaderPolicy};

use crate::codes::{Code, Outcome};
use crate::edge::{behind, code_of, value_of};
use crate::env::MDB_env;
use crate::transaction::Kind;
use crate::txn::MDB_txn;

/// What stands for a number that nobody knows.
const UNKNOWN: usize = usize::MAX;

/// A reader, of any process. What is not known is SIZE_MAX: the age of readers that use the original library, the
/// snapshot of one between transactions.
#[allow(non_camel_case_types, reason = "named like the functions")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct fulgurite_reader {
    /// Its process.
    pub process: usize,
    /// Its thread, as the process names it.
    pub thread: usize,
    /// The snapshot that it reads: the id of a transaction.
    pub snapshot: usize,
    /// How many transactions were committed since.
    pub lag: usize,
    /// For how many milliseconds it has had the snapshot.
    pub age_ms: usize,
    /// Free pages that cannot be used again as long as it has it.
    pub held_pages: usize,
    /// Whether a writer has asked it to end: 1 or 0.
    pub asked_to_end: c_int,
}

/// Is told of a reader, which is valid during the call. For lists, a negative answer ends the listing.
#[allow(non_camel_case_types, reason = "named like the functions")]
pub type fulgurite_reader_func =
    unsafe extern "C" fn(reader: *const fulgurite_reader, ctx: *mut c_void) -> c_int;

/// What a writer does when it would have to let the file grow because a reader keeps an old snapshot. Set everything to
/// 0 first.
///
/// A reader counts as long beyond any of the limits; a limit of 0 is none; without limits every reader does that holds
/// pages back. What is done about it adds up, in this order: warn is called, the reader is asked to end, growth is
/// refused.
#[allow(non_camel_case_types, reason = "named like the functions")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct fulgurite_reader_policy {
    /// Transactions committed since the snapshot.
    pub lag_max: usize,
    /// Milliseconds for which it has had the snapshot.
    pub age_ms_max: usize,
    /// Pages that it holds back.
    pub held_pages_max: usize,
    /// Called once for each snapshot that a long reader keeps, by the thread that writes; it must not write to the
    /// environment. NULL for nothing.
    pub warn: Option<fulgurite_reader_func>,
    /// Handed to warn.
    pub ctx: *mut c_void,
    /// 1: readers of the oldest snapshot are asked to end. The next call for such a transaction is MDB_BAD_TXN, in
    /// whatever process (fulgurite_txn_ended tells it from other reasons); what it was given so far stays valid until it is aborted or
    /// reset. Readers that use the original library cannot be asked.
    pub end_oldest: c_int,
    /// For how many milliseconds a writer waits for that, once for each snapshot, before it goes on as without it.
    pub grace_ms: c_uint,
    /// 1: the call that writes is MDB_MAP_FULL instead, and the transaction must be aborted.
    pub refuse_growth: c_int,
}

/// Sets what writers of this environment do about long readers, from now on; NULL for nothing, as at first.
///
/// EINVAL unless the environment is open.
///
/// # Safety
/// The caller's promise; warn may be called with ctx, from any thread that writes, until another policy is set or the
/// environment is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_env_set_reader_policy(
    env: *mut MDB_env,
    policy: *const fulgurite_reader_policy,
) -> c_int {
    code_of(env, || {
        // SAFETY: the caller's promise.
        let open = unsafe { behind(env) }?.open()?;
        // SAFETY: as above: null, or a policy.
        let policy = unsafe { policy.as_ref() };
        open.environment.set_reader_policy(policy.map(policy_of));
        Ok(())
    })
}

/// Lists the reader slots in use of all processes, through a function; the result is what it answered last, 0 without
/// readers. As mdb_reader_list, with all that is known of each.
///
/// Reads the list of free pages, and takes a reader slot for that; where there is none left, what readers hold back is
/// unknown. Negative codes of errors as elsewhere; EINVAL for NULL.
///
/// # Safety
/// The caller's promise; the function may be called with ctx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_reader_list(
    env: *mut MDB_env,
    func: Option<fulgurite_reader_func>,
    ctx: *mut c_void,
) -> c_int {
    let mut answer = 0;
    let code = code_of(env, || -> Outcome {
        // SAFETY: the caller's promise.
        let open = unsafe { behind(env) }?.open()?;
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
        for (reader, held_pages) in listed {
            let told = told_of(&reader, held_pages);
            // SAFETY: as above.
            answer = unsafe { func(&raw const told, ctx) };
            if answer < 0 {
                break;
            }
        }
        Ok(())
    });
    if code == 0 { answer } else { code }
}

/// Whether a writer has asked a read transaction to end, so that every other call for it is MDB_BAD_TXN: 1 or 0. It is to
/// be aborted, or reset and renewed. 0 for NULL and for transactions that write.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_txn_ended(txn: *mut MDB_txn) -> c_int {
    value_of(txn, 0, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind(txn) }?;
        Ok(match &txn.kind {
            Kind::Read(read) => {
                c_int::from(matches!(read.check_readable(), Err(Error::ReaderEnded)))
            }
            Kind::Write(_) => 0,
        })
    })
}

/// What the program passes to its hook, from thread to thread as it has promised.
#[derive(Clone, Copy)]
struct Context(*mut c_void);

// SAFETY: the program has promised that its function may be called with it from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The pointer; by a method, so that closures take the whole of it along.
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
        let ctx = Context(asked.ctx);
        policy = policy.warn(move |long: &LongReader| {
            let told = told_of(&long.reader, long.held_pages as usize);
            // SAFETY: the program has promised that it may be called so.
            unsafe { func(&raw const told, ctx.pointer()) };
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

fn told_of(reader: &Reader, held_pages: usize) -> fulgurite_reader {
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
