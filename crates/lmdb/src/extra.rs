//! What the engine can do beyond the original, for programs that ask for it. Names begin with `fulgurite_`, so that a
//! program that is to run with the original as well finds out when it is linked.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ops::Bound;
use std::slice;

use fulgurite::{Database, Snapshot};

use crate::codes::{Code, MDB_NOTFOUND, Outcome};
use crate::edge::{behind_mut, code_of, octets, octets_of, store, val};
use crate::settings::before_opening;
use crate::transaction::{Txn, reading};
use crate::txn::MDB_txn;
use crate::types::{MDB_dbi, MDB_val};

/// Lets the map grow as it is needed, up to max_bytes: there is no MDB_MAP_FULL before, and no MDB_MAP_RESIZED where
/// this library alone writes. 0 goes back to a map of fixed size. mdb_env_set_mapsize is a hint then.
///
/// Takes address space, neither memory nor disk. The environment variable FULGURITE_GROW=1 does the same for programs
/// that do not ask, up to 1 TiB. EINVAL when the environment is open.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_env_set_growth(
    env: *mut crate::env::MDB_env,
    max_bytes: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    code_of(env, || unsafe {
        before_opening(env, |settings| settings.growth_max = max_bytes as u64)
    })
}

/// Gets the values of many keys at once, several searches being under way at a time: where the database is much larger
/// than the processor's caches, that is faster than as many calls of mdb_get.
///
/// Each of values is pointed to the (first) value of the key at its place; where there is none, its mv_data becomes NULL.
/// Each of codes becomes 0 or MDB_NOTFOUND; codes may be NULL. EINVAL, MDB_BAD_TXN and errors of the file are answered for all, and then no
/// value is set; so is MDB_BAD_VALSIZE if any key is empty.
///
/// # Safety
/// The caller's promise; there are `count` of each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_get_many(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    count: usize,
    keys: *const MDB_val,
    values: *mut MDB_val,
    codes: *mut c_int,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        let database = usable(txn, dbi)?;
        if keys.is_null() || values.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // No array has more octets than that.
        if count > isize::MAX as usize / size_of::<MDB_val>() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise.
        let keys = unsafe { slice::from_raw_parts(keys, count) };
        let mut wanted = Vec::new();
        let mut found = Vec::new();
        if wanted.try_reserve_exact(count).is_err() || found.try_reserve_exact(count).is_err() {
            return Err(Code::NO_MEMORY);
        }
        for key in keys {
            // SAFETY: as above.
            let key = unsafe { octets_of(key) }?;
            if key.is_empty() {
                return Err(Code::BAD_LENGTH);
            }
            wanted.push(key);
        }
        let _lent = txn.lend();
        reading!(txn, txn => txn.get_many(database, &wanted, &mut found)?);
        // SAFETY: as above: there are as many places as keys.
        let values = unsafe { places(values, count) };
        // SAFETY: as above.
        let codes = unsafe { places(codes, count) };
        let nothing = MDB_val {
            mv_size: 0,
            mv_data: std::ptr::null_mut(),
        };
        for (place, value) in values.iter_mut().zip(&found) {
            place.write(value.map_or(nothing, val));
        }
        for (place, value) in codes.iter_mut().zip(&found) {
            place.write(if value.is_some() { 0 } else { MDB_NOTFOUND });
        }
        Ok(())
    })
}

/// Counts the items whose keys are not below low and below high, exactly; a key counts with each of its values. NULL
/// stands for the beginning, or the end.
///
/// Costs a look at each leaf page in the range, or outside it if those are fewer.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_count_range(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    low: *const MDB_val,
    high: *const MDB_val,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    code_of(txn, || unsafe {
        count_between(txn, dbi, low, high, count, true)
    })
}

/// As fulgurite_count_range, but about: costs a few pages however large the range, and is mostly within a tenth of it.
/// For choosing between plans.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fulgurite_estimate_range(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    low: *const MDB_val,
    high: *const MDB_val,
    count: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    code_of(txn, || unsafe {
        count_between(txn, dbi, low, high, count, false)
    })
}

/// Counts the items of a range, exactly or about.
unsafe fn count_between(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    low: *const MDB_val,
    high: *const MDB_val,
    count: *mut usize,
    exactly: bool,
) -> Outcome {
    // SAFETY: the caller's promise.
    let txn = unsafe { behind_mut(txn) }?;
    let database = usable(txn, dbi)?;
    // SAFETY: as above.
    let range = unsafe { bounds(low, high) }?;
    let _lent = txn.lend();
    let found = if exactly {
        reading!(txn, txn => txn.count_range(database, range)?)
    } else {
        reading!(txn, txn => txn.estimate_range(database, range)?)
    };
    // SAFETY: as above.
    unsafe { store(count, found as usize) }
}

fn usable(txn: &Txn, dbi: MDB_dbi) -> Outcome<Database> {
    let database = txn.user_database(dbi)?;
    txn.check_free()?;
    Ok(database)
}

/// Places for results; none for null.
unsafe fn places<'a, T>(first: *mut T, count: usize) -> &'a mut [MaybeUninit<T>] {
    if first.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's promise; nothing is read from them.
    unsafe { slice::from_raw_parts_mut(first.cast(), count) }
}

/// Where a range begins and ends.
type Ends<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The range that two optional keys stand for.
unsafe fn bounds<'a>(low: *const MDB_val, high: *const MDB_val) -> Outcome<Ends<'a>> {
    let low = if low.is_null() {
        Bound::Unbounded
    } else {
        // SAFETY: the caller's promise.
        Bound::Included(unsafe { octets(low) }?)
    };
    let high = if high.is_null() {
        Bound::Unbounded
    } else {
        // SAFETY: as above.
        Bound::Excluded(unsafe { octets(high) }?)
    };
    Ok((low, high))
}
