//! The edge itself: what C passes becomes references and slices here, and nowhere else; panics end here.
//!
//! What a caller must keep to for any pointer it passes: it is null, or points to an initialised value of its type that
//! nobody else changes during the call; handles came from this library and were not freed. That cannot be checked, so
//! each helper is `unsafe` and says no more than "the caller's promise".

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Once;

use crate::codes::{Code, MDB_PANIC, Outcome};
use crate::types::MDB_val;

/// Values have at most 2^32-1 octets.
const LEN_MAX: usize = u32::MAX as usize;

/// Runs the body of a function that answers with a code. A panic, which would be a fault of this library, becomes
/// [`MDB_PANIC`].
#[inline]
pub(crate) fn code_of(work: impl FnOnce() -> Outcome) -> c_int {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => 0,
        Ok(Err(Code(code))) => code,
        Err(payload) => panicked(payload),
    }
}

/// Runs the body of a function without a code to answer with; `otherwise` is the answer of one that failed.
#[inline]
pub(crate) fn value_of<T>(otherwise: T, work: impl FnOnce() -> Outcome<T>) -> T {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) => otherwise,
        Err(payload) => {
            panicked(payload);
            otherwise
        }
    }
}

/// Panics of this library print nothing: standard error belongs to the program.
pub(crate) fn silence_panics() {
    static ONCE: Once = Once::new();
    if cfg!(not(test)) {
        ONCE.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    }
}

#[cold]
fn panicked(payload: Box<dyn Any + Send>) -> c_int {
    // Dropping it might panic again.
    std::mem::forget(payload);
    MDB_PANIC
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

/// What a pointer points to, for changing; EINVAL for null.
///
/// # Safety
/// The caller's promise.
#[inline]
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T) -> Outcome<&'a mut T> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or(Code::INVALID_ARGUMENT)
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
        assert_eq!(code_of(|| panic!("told by the test's hook")), MDB_PANIC);
        assert_eq!(value_of(7, || panic!("told by the test's hook")), 7);
        assert_eq!(code_of(|| Err(Code::BAD_TXN)), Code::BAD_TXN.0);
        assert_eq!(code_of(|| Ok(())), 0);
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
