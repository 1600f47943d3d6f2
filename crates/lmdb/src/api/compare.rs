//! Comparison functions of the program, and comparing two items as a database does.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;

use fulgurite::{CustomOrder, Database, Snapshot};

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, In, exported};
use crate::objects::order::{begin_comparisons, custom_order};
use crate::objects::transaction::{Txn, reading};
use crate::types::{MDB_cmp_func, MDB_dbi, MDB_rel_func, MDB_txn, MDB_val};

exported! {
    /// Sets a comparison function for the keys of a database. It replaces the order that the flags
    /// define.
    ///
    /// The file does not record it. Every program that opens the database must set the same one,
    /// before it does anything else with the handle. NULL sets the default again.
    fn mdb_set_compare(txn: *mut MDB_txn, dbi: MDB_dbi, cmp: Option<MDB_cmp_func>) -> c_int {
        code_of(txn, set_key_order)
    }

    /// Sets a comparison function for the values of a key, as mdb_set_compare does for keys.
    /// Without effect in a database without MDB_DUPSORT.
    fn mdb_set_dupsort(txn: *mut MDB_txn, dbi: MDB_dbi, cmp: Option<MDB_cmp_func>) -> c_int {
        code_of(txn, set_value_order)
    }

    /// Accepted for programs that call it, without effect: nothing is ever relocated.
    fn mdb_set_relfunc(txn: *mut MDB_txn, dbi: MDB_dbi, rel: Option<MDB_rel_func>) -> c_int {
        code_of(txn, ignore_rel_func)
    }

    /// Accepted for programs that call it, without effect: see mdb_set_relfunc.
    fn mdb_set_relctx(txn: *mut MDB_txn, dbi: MDB_dbi, ctx: *mut c_void) -> c_int {
        code_of(txn, ignore_rel_context)
    }

    /// Compares two keys as the database does: negative, zero or positive.
    fn mdb_cmp(txn: *mut MDB_txn, dbi: MDB_dbi, a: *const MDB_val, b: *const MDB_val) -> c_int {
        value_of(txn, 0, compare_keys)
    }

    /// Compares two values of a key as the database does: negative, zero or positive.
    fn mdb_dcmp(txn: *mut MDB_txn, dbi: MDB_dbi, a: *const MDB_val, b: *const MDB_val) -> c_int {
        value_of(txn, 0, compare_values)
    }
}

fn set_key_order(txn: CHandle<MDB_txn>, dbi: MDB_dbi, cmp: Option<MDB_cmp_func>) -> Outcome {
    set_order(txn, dbi, cmp, Txn::set_key_order)
}

fn set_value_order(txn: CHandle<MDB_txn>, dbi: MDB_dbi, cmp: Option<MDB_cmp_func>) -> Outcome {
    set_order(txn, dbi, cmp, Txn::set_value_order)
}

fn set_order(
    txn: CHandle<MDB_txn>,
    dbi: MDB_dbi,
    cmp: Option<MDB_cmp_func>,
    set: fn(&mut Txn, Database, Option<CustomOrder>),
) -> Outcome {
    let mut txn = txn.find()?;
    // Before the mutable reference: the transaction may be that of another thread.
    txn.get().check_usable()?;
    let txn = txn.get_mut();
    let database = txn.user_database(dbi)?;
    txn.open.has_orders.store(true, Relaxed);
    set(txn, database, cmp.map(custom_order));
    Ok(())
}

fn ignore_rel_func(txn: CHandle<MDB_txn>, dbi: MDB_dbi, _rel: Option<MDB_rel_func>) -> Outcome {
    txn.find()?.get().user_database(dbi).map(drop)
}

fn ignore_rel_context(txn: CHandle<MDB_txn>, dbi: MDB_dbi, _ctx: *mut c_void) -> Outcome {
    txn.find()?.get().user_database(dbi).map(drop)
}

fn compare_keys(
    txn: CHandle<MDB_txn>,
    dbi: MDB_dbi,
    a: In<'_, MDB_val>,
    b: In<'_, MDB_val>,
) -> Outcome<c_int> {
    let txn = txn.find()?;
    let txn = txn.get();
    let (a_bytes, b_bytes) = (a.bytes()?, b.bytes()?);
    let database = database_for_comparison(txn, dbi)?;
    let _busy = begin_comparisons(txn.open, &txn.state, a.as_ptr(), ptr::null());
    let ordering = reading!(txn, txn => txn.compare_keys(database, a_bytes, b_bytes));
    Ok(ordering? as c_int)
}

fn compare_values(
    txn: CHandle<MDB_txn>,
    dbi: MDB_dbi,
    a: In<'_, MDB_val>,
    b: In<'_, MDB_val>,
) -> Outcome<c_int> {
    let txn = txn.find()?;
    let txn = txn.get();
    let (a_bytes, b_bytes) = (a.bytes()?, b.bytes()?);
    let database = database_for_comparison(txn, dbi)?;
    let _busy = begin_comparisons(txn.open, &txn.state, a.as_ptr(), ptr::null());
    let ordering = reading!(txn, txn => txn.compare_values(database, a_bytes, b_bytes));
    Ok(ordering? as c_int)
}

fn database_for_comparison(txn: &Txn, dbi: MDB_dbi) -> Outcome<Database> {
    let database = txn.database(dbi)?;
    if !txn.is_of_this_thread() {
        return Err(Code::BAD_TXN);
    }
    Ok(database)
}
