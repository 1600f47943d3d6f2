//! The C edge: arguments from C become typed values here, errors become codes, and panics end here.
//!
//! ```text
//!   C  --->  exported!     the function with C's name and types: catches panics, returns the code
//!              |  Argument     raw pointers become CHandle, Val, In, Out, Text
//!              v
//!            a safe function of `api`
//! ```
//!
//! [`exported!`] holds the one argument for all functions. `lmdb.h` requires that a pointer to
//! anything but a handle is null or valid. It also requires that one thread at a time uses a
//! transaction or cursor. The argument types carry these facts to the functions of `api`, which are
//! safe for that reason. Handles need no such promise about where they point: the slab checks them.

mod arguments;
mod call;
mod caller;
mod id_list;
mod panics;

pub(crate) use arguments::{Argument, CHandle, FixedItems, In, Out, Text, Val, val};
#[cfg(feature = "extras")]
pub(crate) use call::answer_of;
pub(crate) use call::{code_of, value_of};
pub(crate) use caller::{Caller, NoCaller};
pub use id_list::Pair;
pub(crate) use id_list::{IdList, IdListRef, PairList};
pub(crate) use panics::{note_assert, note_panics};

/// Defines the functions of the C interface. The comment of each is its text in `lmdb.h`.
///
/// The body says how the result is made. On failure `code_of` and `answer_of` return a code, and
/// `value_of` returns the value given. `plain` calls a function that does not fail. The first
/// argument of all but `plain` is the handle whose environment learns of panics.
macro_rules! exported {
    (@code_of ($caller:expr, $function:path) ($($arg:ident),*)) => {
        $crate::ffi::code_of($caller, || $crate::ffi::exported!(@plain ($function) ($($arg),*)))
    };
    (@answer_of ($caller:expr, $function:path) ($($arg:ident),*)) => {
        $crate::ffi::answer_of($caller, || $crate::ffi::exported!(@plain ($function) ($($arg),*)))
    };
    (@value_of ($caller:expr, $otherwise:expr, $function:path) ($($arg:ident),*)) => {
        $crate::ffi::value_of($caller, $otherwise, || {
            $crate::ffi::exported!(@plain ($function) ($($arg),*))
        })
    };
    (@plain ($function:path) ($($arg:ident),*)) => {
        $function($(
            // SAFETY: the program passes pointers as `lmdb.h` requires, and leaves them alone
            // during the call.
            unsafe { $crate::ffi::Argument::from_c($arg) }
        ),*)
    };
    ($(
        $(#[$meta:meta])*
        fn $name:ident($($arg:ident: $raw:ty),* $(,)?) $(-> $result:ty)? { $kind:ident $body:tt }
    )*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Each pointer other than a handle is null, or points to a value of its type for the whole
        /// call. Texts end with a NUL, and arrays have the length that the call states. No other
        /// thread uses the same transaction or cursor during the call, nor closes its environment.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $raw),*) $(-> $result)? {
            $crate::ffi::exported!(@$kind $body ($($arg),*))
        }
    )*};
}
pub(crate) use exported;
