//! Comparison functions of the program, and calls that may run one.

use core::cell::Cell;
use core::cmp::Ordering;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use fulgurite::platform::thread_local;

use fulgurite::CustomOrder;

use crate::ffi::val;
use crate::objects::environment::OpenEnv;
use crate::objects::state::State;
use crate::types::{MDB_cmp_func, MDB_val};

thread_local! {
    /// Key and data as the program passed them to the call that is being handled.
    static ARGUMENTS: Cell<[*const MDB_val; 2]> = const { Cell::new([ptr::null(); 2]) };
}

/// A call that may run a comparison function of the program.
///
/// Comparison functions get the key and data that the program passed, not copies. Some programs
/// pass the first of an array, and their function reads the others as well. Until the call ends,
/// the transaction is busy: calls for it and its cursors fail.
#[must_use]
#[derive(Debug)]
pub(crate) struct BusyGuard<'t> {
    state: &'t Cell<State>,
    /// The state before the call.
    before: State,
    /// The arguments of the call that this one is nested in.
    outer: [*const MDB_val; 2],
}

/// Prepares a call with these arguments; `None` if no database has a comparison function.
#[inline(always)]
pub(crate) fn begin_comparisons<'t>(
    open: &OpenEnv,
    state: &'t Cell<State>,
    key: *const MDB_val,
    data: *const MDB_val,
) -> Option<BusyGuard<'t>> {
    if !open.has_orders.load(Relaxed) {
        return None;
    }
    Some(BusyGuard {
        state,
        before: state.replace(State::Busy),
        outer: ARGUMENTS.replace([key, data]),
    })
}

impl Drop for BusyGuard<'_> {
    // Most calls have none. If this is a call, the look for one is a part of the caller.
    #[inline(never)]
    fn drop(&mut self) {
        ARGUMENTS.set(self.outer);
        // The program may have closed the environment meanwhile.
        if self.state.get() == State::Busy {
            self.state.set(self.before);
        }
    }
}

/// Returns the order that a comparison function defines.
pub(crate) fn custom_order(function: MDB_cmp_func) -> CustomOrder {
    CustomOrder {
        call: compare,
        context: function as usize,
    }
}

fn compare(context: usize, a: &[u8], b: &[u8]) -> Ordering {
    // SAFETY: `custom_order` made the context from a function of this type.
    let function = unsafe { core::mem::transmute::<usize, MDB_cmp_func>(context) };
    let (copy, b) = (val(a), val(b));
    let is_a = |argument: &*const MDB_val| {
        // SAFETY: null, or an argument of the call that is being handled, which is valid until that
        // call returns.
        unsafe { argument.as_ref() }.is_some_and(|argument| {
            let same_bytes = a.is_empty() || argument.mv_data.cast_const() == copy.mv_data;
            argument.mv_size == a.len() && same_bytes
        })
    };
    let a = ARGUMENTS
        .get()
        .into_iter()
        .find(is_a)
        .unwrap_or(&raw const copy);
    // SAFETY: the program set the function to be called with two values.
    unsafe { function(a, &b) }.cmp(&0)
}
