//! Panics unwind to the edge, and end there.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::ffi::caller::Caller;
use crate::types::{MDB_assert_func, MDB_env};

/// Runs the body of a function; returns none if it panicked.
#[inline(always)]
pub(crate) fn guarded<T>(caller: impl Caller, body: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => Some(result),
        Err(payload) => {
            panicked(caller, payload);
            None
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

/// Does nothing: the handle of the call knows the function.
pub(crate) fn note_assert(_env: *mut MDB_env, _function: Option<MDB_assert_func>) {}

#[cold]
fn panicked(caller: impl Caller, payload: Box<dyn Any + Send>) {
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
}
