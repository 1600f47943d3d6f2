//! Orders of the program's own, and asking for the order of two items.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use fulgurite::{CustomOrder, Snapshot};

use crate::codes::{Code, Outcome};
use crate::edge::{behind, behind_mut, code_of, octets, val, value_of};
use crate::env::Open;
use crate::transaction::{State, reading};
use crate::txn::MDB_txn;
use crate::types::{MDB_cmp_func, MDB_dbi, MDB_rel_func, MDB_val};

/// Sets the order of a database's keys, in place of that which its flags say.
///
/// The file does not record it: every program that opens the database has to set the same one, before anything else is
/// done with the handle. NULL sets the default again.
///
/// # Safety
/// The caller's promise; the function may be called as long as the environment is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_set_compare(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    cmp: Option<MDB_cmp_func>,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        unsafe { behind(txn) }?.check_free()?;
        // SAFETY: as above; the transaction is this thread's.
        let txn = unsafe { behind_mut(txn) }?;
        let database = txn.user_database(dbi)?;
        txn.open.has_orders.store(true, Relaxed);
        txn.set_key_order(database, cmp.map(custom));
        Ok(())
    })
}

/// Sets the order of the values of a key, as mdb_set_compare does for keys. Without effect in a database without
/// MDB_DUPSORT.
///
/// # Safety
/// As [`mdb_set_compare`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_set_dupsort(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    cmp: Option<MDB_cmp_func>,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        unsafe { behind(txn) }?.check_free()?;
        // SAFETY: as above; the transaction is this thread's.
        let txn = unsafe { behind_mut(txn) }?;
        let database = txn.user_database(dbi)?;
        txn.open.has_orders.store(true, Relaxed);
        txn.set_value_order(database, cmp.map(custom));
        Ok(())
    })
}

/// Accepted for programs that call it, without effect: nothing is ever relocated.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_set_relfunc(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    _rel: Option<MDB_rel_func>,
) -> c_int {
    // SAFETY: the caller's promise.
    code_of(txn, || unsafe { behind(txn) }?.user_database(dbi).map(drop))
}

/// Accepted for programs that call it, without effect: see mdb_set_relfunc.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_set_relctx(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    _ctx: *mut std::ffi::c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    code_of(txn, || unsafe { behind(txn) }?.user_database(dbi).map(drop))
}

/// Compares two keys as the database does: negative, zero or positive.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cmp(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    a: *const MDB_val,
    b: *const MDB_val,
) -> c_int {
    // SAFETY: the caller's promise.
    value_of(txn, 0, || unsafe { compare(txn, dbi, a, b, Items::Keys) })
}

/// Compares two values of a key as the database does: negative, zero or positive.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_dcmp(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    a: *const MDB_val,
    b: *const MDB_val,
) -> c_int {
    // SAFETY: the caller's promise.
    value_of(txn, 0, || unsafe { compare(txn, dbi, a, b, Items::Values) })
}

#[derive(Clone, Copy)]
enum Items {
    Keys,
    Values,
}

unsafe fn compare(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    a: *const MDB_val,
    b: *const MDB_val,
    items: Items,
) -> Outcome<c_int> {
    // SAFETY: the caller's promise.
    let txn = unsafe { behind(txn) }?;
    let a_given = a;
    // SAFETY: as above.
    let a = unsafe { octets(a) }?;
    // SAFETY: as above.
    let b = unsafe { octets(b) }?;
    let database = txn.database(dbi)?;
    if !txn.is_of_this_thread() {
        return Err(Code::BAD_TXN);
    }
    let _lent = lend(txn.open, &txn.state, a_given, ptr::null());
    let ordering = match items {
        Items::Keys => reading!(txn, txn => txn.compare_keys(database, a, b)),
        Items::Values => reading!(txn, txn => txn.compare_values(database, a, b)),
    };
    ordering
        .map(|ordering| ordering as c_int)
        .map_err(Code::from)
}

thread_local! {
    /// What the call under way was given as key and data.
    static LENT: Cell<[*const MDB_val; 2]> = const { Cell::new([ptr::null(); 2]) };
}

/// While it lives, orders of the program's own are asked about the key and data that the program passed itself, not
/// about copies of them: there are programs that pass the first of an array, whose order looks at the others as well.
/// And the transaction is busy: what the order does with it, or with its cursors, is refused.
#[must_use]
#[derive(Debug)]
pub(crate) struct Lent<'t> {
    state: &'t Cell<State>,
    /// What it was.
    before: State,
    outer: [*const MDB_val; 2],
}

/// Lends the key and data of a call to the orders of the program's own, if there are any.
#[inline]
pub(crate) fn lend<'t>(
    open: &Open,
    state: &'t Cell<State>,
    key: *const MDB_val,
    data: *const MDB_val,
) -> Option<Lent<'t>> {
    if !open.has_orders.load(Relaxed) {
        return None;
    }
    Some(Lent {
        state,
        before: state.replace(State::Busy),
        outer: LENT.replace([key, data]),
    })
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        LENT.set(self.outer);
        // The environment may have been closed meanwhile.
        if self.state.get() == State::Busy {
            self.state.set(self.before);
        }
    }
}

/// An order that asks a C function.
fn custom(function: MDB_cmp_func) -> CustomOrder {
    CustomOrder {
        call: ask,
        context: function as usize,
    }
}

fn ask(context: usize, a: &[u8], b: &[u8]) -> Ordering {
    // SAFETY: `custom` made the context of such a function.
    let function = unsafe { std::mem::transmute::<usize, MDB_cmp_func>(context) };
    let (copy, b) = (val(a), val(b));
    let is_it = |lent: &*const MDB_val| {
        // SAFETY: null, or what the call under way was given.
        unsafe { lent.as_ref() }.is_some_and(|lent| {
            lent.mv_size == a.len() && (a.is_empty() || lent.mv_data.cast_const() == copy.mv_data)
        })
    };
    let a = LENT
        .get()
        .into_iter()
        .find(is_it)
        .unwrap_or(&raw const copy);
    // SAFETY: the program set the function for being called with two values.
    unsafe { function(a, &b) }.cmp(&0)
}
