//! Calls from C: errors become codes, and panics are reported to the program instead of unwinding
//! into it.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::codes::{Code, MDB_PANIC, Outcome};
use crate::types::{MDB_assert_func, MDB_env};

/// The handle through which C called: its environment receives internal errors.
pub(crate) trait Caller {
    /// Returns the environment, and the function set for it with mdb_env_set_assert.
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)>;
}

/// For calls without an environment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoCaller;

impl Caller for NoCaller {
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)> {
        None
    }
}

/// Runs the body of a function that returns a code. A panic, a fault of this library, becomes
/// [`MDB_PANIC`].
#[inline(always)]
pub(crate) fn code_of(caller: impl Caller, body: impl FnOnce() -> Outcome) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(Code(code))) => code,
        Err(payload) => panicked(caller, payload),
    }
}

/// Runs the body of a function that returns a number, or a code when it fails.
#[inline]
pub(crate) fn answer_of(caller: impl Caller, body: impl FnOnce() -> Outcome<c_int>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(Code(code))) => code,
        Err(payload) => panicked(caller, payload),
    }
}

/// Runs the body of a function that returns no code; `otherwise` is its result when it fails.
#[inline(always)]
pub(crate) fn value_of<T>(
    caller: impl Caller,
    otherwise: T,
    body: impl FnOnce() -> Outcome<T>,
) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) => otherwise,
        Err(payload) => {
            panicked(caller, payload);
            otherwise
        }
    }
}

thread_local! {
    /// The message of the panic that is being handled.
    static PANIC_MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the messages of panics for [`Caller::assert_function`], and prints nothing: standard error
/// is the program's.
pub(crate) fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let message = panic.to_string();
            if cfg!(test) {
                eprintln!("{message}");
            }
            let _ = PANIC_MESSAGE.try_with(|last| last.replace(message));
        }));
    });
}

#[cold]
fn panicked(caller: impl Caller, payload: Box<dyn Any + Send>) -> c_int {
    // Dropping it might panic again.
    std::mem::forget(payload);
    let message = PANIC_MESSAGE
        .try_with(RefCell::take)
        .map(|message| message.replace('\0', " "));
    if let Ok(Ok(message)) = message.map(CString::new)
        && let Some((env, assert)) = caller.assert_function()
    {
        // SAFETY: the program set this function for its environment and for any message. Nothing is
        // borrowed from the environment here, so the function may close it, or never return.
        unsafe { assert(env, message.as_ptr()) };
    }
    MDB_PANIC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_panics_become_codes() {
        assert_eq!(code_of(NoCaller, || panic!("on purpose")), MDB_PANIC);
        assert_eq!(answer_of(NoCaller, || panic!("on purpose")), MDB_PANIC);
        assert_eq!(value_of(NoCaller, 7, || panic!("on purpose")), 7);
        assert_eq!(code_of(NoCaller, || Err(Code::BAD_TXN)), Code::BAD_TXN.0);
        assert_eq!(answer_of(NoCaller, || Err(Code::BAD_TXN)), Code::BAD_TXN.0);
        assert_eq!(code_of(NoCaller, || Ok(())), 0);
        assert_eq!(answer_of(NoCaller, || Ok(5)), 5);
    }
}
