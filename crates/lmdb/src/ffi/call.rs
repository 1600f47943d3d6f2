//! Calls from C: errors become codes, and no panic unwinds into the program.

use core::ffi::c_int;

use super::caller::Caller;
use super::panics::guarded;
use crate::codes::{Code, MDB_PANIC, Outcome};

/// Runs the body of a function that returns a code. A panic, a fault of this library, becomes
/// [`MDB_PANIC`].
#[inline(always)]
pub(crate) fn code_of(caller: impl Caller, body: impl FnOnce() -> Outcome) -> c_int {
    match guarded(caller, body) {
        Some(Ok(())) => 0,
        Some(Err(Code(code))) => code,
        None => MDB_PANIC,
    }
}

/// Runs the body of a function that returns a number, or a code when it fails.
#[inline]
pub(crate) fn answer_of(caller: impl Caller, body: impl FnOnce() -> Outcome<c_int>) -> c_int {
    match guarded(caller, body) {
        Some(Ok(answer)) => answer,
        Some(Err(Code(code))) => code,
        None => MDB_PANIC,
    }
}

/// Runs the body of a function that returns no code; `otherwise` is its result when it fails.
#[inline(always)]
pub(crate) fn value_of<T>(
    caller: impl Caller,
    otherwise: T,
    body: impl FnOnce() -> Outcome<T>,
) -> T {
    match guarded(caller, body) {
        Some(Ok(value)) => value,
        Some(Err(_)) | None => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::NoCaller;

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
