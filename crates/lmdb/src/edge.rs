//! The edge itself: what C passes becomes references and slices here, and nowhere else; panics end here.
//!
//! What a caller must keep to: a pointer to anything but a handle is null, or points to an initialised value of its type
//! that nobody else changes during the call. Handles are judged by `slab`, whatever they are; but nobody else uses or
//! ends the same one during the call, unless it is an environment's. That cannot be checked, so each helper is `unsafe`
//! and says no more than "the caller's promise".

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::{Once, PoisonError};

use crate::codes::{Code, MDB_PANIC, Outcome};
use crate::cursor::MDB_cursor;
use crate::env::{Env, MDB_env};
use crate::slab::{Handle, Kept};
use crate::txn::MDB_txn;
use crate::types::MDB_val;

/// Values have at most 2^32-1 octets.
const LEN_MAX: usize = u32::MAX as usize;

/// By whose handle the library was called: whom to tell of its own faults.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Caller {
    Nobody,
    Env(*mut MDB_env),
    Txn(*mut MDB_txn),
    Cursor(*mut MDB_cursor),
}

impl From<*mut MDB_env> for Caller {
    fn from(env: *mut MDB_env) -> Caller {
        Caller::Env(env)
    }
}

impl From<*mut MDB_txn> for Caller {
    fn from(txn: *mut MDB_txn) -> Caller {
        Caller::Txn(txn)
    }
}

impl From<*mut MDB_cursor> for Caller {
    fn from(cursor: *mut MDB_cursor) -> Caller {
        Caller::Cursor(cursor)
    }
}

/// Runs the body of a function that answers with a code. A panic, which would be a fault of this library, becomes
/// [`MDB_PANIC`].
#[inline]
pub(crate) fn code_of(caller: impl Into<Caller>, work: impl FnOnce() -> Outcome) -> c_int {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(Code(code))) => code,
        Err(payload) => panicked(caller.into(), payload),
    }
}

/// Runs the body of a function without a code to answer with; `otherwise` is the answer of one that failed.
#[inline]
pub(crate) fn value_of<T>(
    caller: impl Into<Caller>,
    otherwise: T,
    work: impl FnOnce() -> Outcome<T>,
) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) => otherwise,
        Err(payload) => {
            panicked(caller.into(), payload);
            otherwise
        }
    }
}

thread_local! {
    /// What the panic under way says.
    static LAST_WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics of this library print nothing: standard error belongs to the program, which can ask to be told by
/// mdb_env_set_assert.
pub(crate) fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let words = panic.to_string();
            if cfg!(test) {
                eprintln!("{words}");
            }
            let _ = LAST_WORDS.try_with(|last| last.replace(words));
        }));
    });
}

#[cold]
fn panicked(caller: Caller, payload: Box<dyn Any + Send>) -> c_int {
    // Dropping it might panic again.
    std::mem::forget(payload);
    let words = LAST_WORDS
        .try_with(RefCell::take)
        .map(|words| words.replace('\0', " "));
    let words = words.map(CString::new);
    if let (Some(env), Ok(Ok(words))) = (env_of(caller), words)
        && let Ok(found) = Env::slab().find(env)
    {
        // SAFETY: found just now; nobody closes it during the call.
        let assert = unsafe { &found.as_ref().assert };
        // A copy: the function may close the environment, or not come back.
        let tell = *assert.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tell) = tell {
            // SAFETY: the program set the function for being called so.
            unsafe { tell(env, words.as_ptr()) };
        }
    }
    MDB_PANIC
}

/// The environment that a handle belongs to.
fn env_of(caller: Caller) -> Option<*mut MDB_env> {
    let txn = match caller {
        Caller::Nobody => return None,
        Caller::Env(env) => return Some(env),
        Caller::Txn(txn) => txn,
        // SAFETY: any pointer may be asked about.
        Caller::Cursor(cursor) => unsafe { crate::cursor::mdb_cursor_txn(cursor) },
    };
    // SAFETY: any pointer may be asked about.
    let env = unsafe { crate::txn::mdb_txn_env(txn) };
    (!env.is_null()).then_some(env)
}

/// What is behind a handle.
/// # Errors
/// EINVAL for what is no handle of this kind, or that of an environment or a cursor that was closed; BAD_TXN for that of a
/// transaction that has ended; PANIC for one that a forked child inherited.
///
/// # Safety
/// The caller's promise.
#[inline(always)]
pub(crate) unsafe fn behind<'a, H: Handle>(handle: *mut H) -> Outcome<&'a H::Behind> {
    let found = H::Behind::slab().find(handle)?;
    // SAFETY: the slab's values live until they are removed, which nobody does during the call.
    Ok(unsafe { found.as_ref() })
}

/// As [`behind`], for changing.
/// # Errors
/// As there.
///
/// # Safety
/// The caller's promise.
#[inline(always)]
pub(crate) unsafe fn behind_mut<'a, H: Handle>(handle: *mut H) -> Outcome<&'a mut H::Behind> {
    let mut found = H::Behind::slab().find(handle)?;
    // SAFETY: as above, and nobody else uses it during the call.
    Ok(unsafe { found.as_mut() })
}

/// What a pointer points to; EINVAL for null.
///
/// # Safety
/// The caller's promise.
#[inline]
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Outcome<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or(Code::INVALID_ARGUMENT)
}

/// The octets of a key or value; EINVAL for null, BAD_VALSIZE for more than any value can have.
///
/// # Safety
/// The caller's promise, and the value's octets are as it says.
#[inline]
pub(crate) unsafe fn octets<'a>(value: *const MDB_val) -> Outcome<&'a [u8]> {
    // SAFETY: the caller's promise.
    let value = unsafe { reference(value) }?;
    // SAFETY: as above.
    unsafe { octets_of(value) }
}

/// As [`octets`], of a value at hand.
///
/// # Safety
/// The value's octets are as it says.
#[inline]
pub(crate) unsafe fn octets_of<'a>(value: &MDB_val) -> Outcome<&'a [u8]> {
    if value.mv_size == 0 {
        return Ok(&[]);
    }
    if value.mv_size > LEN_MAX {
        return Err(Code::BAD_LENGTH);
    }
    if value.mv_data.is_null() {
        return Err(Code::INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise; the length is no more than a slice can have.
    Ok(unsafe { slice::from_raw_parts(value.mv_data.cast(), value.mv_size) })
}

/// A value that points to these octets.
#[inline]
pub(crate) fn val(octets: &[u8]) -> MDB_val {
    MDB_val {
        mv_size: octets.len(),
        mv_data: octets.as_ptr().cast_mut().cast::<c_void>(),
    }
}

/// Stores a result where the caller wants it; EINVAL for null.
///
/// # Safety
/// The caller's promise.
#[inline]
pub(crate) unsafe fn store<T>(out: *mut T, value: T) -> Outcome {
    if out.is_null() {
        return Err(Code::INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    unsafe { out.write(value) };
    Ok(())
}

/// Points the caller's value to these octets, if it wants to know.
///
/// # Safety
/// The caller's promise.
#[inline]
pub(crate) unsafe fn point(out: *mut MDB_val, octets: &[u8]) {
    if !out.is_null() {
        // SAFETY: the caller's promise.
        unsafe { out.write(val(octets)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_code() {
        let none = Caller::Nobody;
        assert_eq!(code_of(none, || panic!("on purpose")), MDB_PANIC);
        assert_eq!(value_of(none, 7, || panic!("on purpose")), 7);
        assert_eq!(code_of(none, || Err(Code::BAD_TXN)), Code::BAD_TXN.0);
        assert_eq!(code_of(none, || Ok(())), 0);
    }

    #[test]
    fn a_panic_is_told_to_whom_the_program_named() {
        static TOLD: std::sync::Mutex<String> = std::sync::Mutex::new(String::new());
        extern "C" fn tell(env: *mut MDB_env, words: *const std::ffi::c_char) {
            // SAFETY: the library's text.
            let words = unsafe { std::ffi::CStr::from_ptr(words) };
            *TOLD.lock().unwrap() = words.to_string_lossy().into_owned();
            // SAFETY: nobody uses it.
            unsafe { crate::env::mdb_env_close(env) };
        }
        let mut env = std::ptr::null_mut();
        // SAFETY: a place for the handle.
        assert_eq!(unsafe { crate::env::mdb_env_create(&mut env) }, 0);
        // SAFETY: the handle was made just now.
        let set = unsafe { crate::settings::mdb_env_set_assert(env, Some(tell)) };
        assert_eq!(set, 0);
        assert_eq!(code_of(env, || panic!("on purpose, and told")), MDB_PANIC);
        assert!(TOLD.lock().unwrap().contains("on purpose, and told"));
        // It was closed by the function; there is nobody to tell any more.
        TOLD.lock().unwrap().clear();
        assert_eq!(code_of(env, || panic!("on purpose")), MDB_PANIC);
        assert_eq!(*TOLD.lock().unwrap(), "");
    }

    #[test]
    fn octets_are_checked_before_they_are_looked_at() {
        let of = |mv_size, mv_data: *const u8| MDB_val {
            mv_size,
            mv_data: mv_data.cast_mut().cast(),
        };
        let null = std::ptr::null();
        // SAFETY: none of these has octets.
        let seen = |value: MDB_val| unsafe { octets_of(&value) };
        assert_eq!(seen(of(0, null)), Ok(&[][..]));
        assert_eq!(seen(of(1, null)), Err(Code::INVALID_ARGUMENT));
        assert_eq!(seen(of(1 << 32, null)), Err(Code::BAD_LENGTH));
        // SAFETY: null is what this is about.
        let null = unsafe { octets(std::ptr::null()) };
        assert_eq!(null, Err(Code::INVALID_ARGUMENT));
        assert_eq!(seen(val(b"abc")), Ok(&b"abc"[..]));
    }
}
