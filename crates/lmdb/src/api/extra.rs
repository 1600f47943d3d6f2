//! Functions that LMDB does not have. Their names begin with `fulgurite_`. They are in
//! `libfulgurite.so.0` only, which has all of LMDB's too: liblmdb.so stays as small as can be.

use alloc::vec::Vec;
use core::ffi::c_int;
use core::ops::Bound;

use fulgurite::{Database, Snapshot};

use crate::codes::{Code, MDB_NOTFOUND, Outcome};
use crate::ffi::{CHandle, In, Out, exported, val};
use crate::objects::transaction::{Txn, reading};
use crate::types::{MDB_dbi, MDB_env, MDB_txn, MDB_val};

exported! {
    /// Lets the map grow as needed, up to max_bytes. MDB_MAP_FULL occurs only at that size, and
    /// MDB_MAP_RESIZED not where this library alone writes. 0 returns to a map of fixed size.
    /// mdb_env_set_mapsize is a hint then.
    ///
    /// This takes address space, but neither memory nor disk. The environment variable
    /// FULGURITE_GROW=1 does the same for programs that do not call this, up to 1 TiB. EINVAL when
    /// the environment is open.
    fn fulgurite_env_set_growth(env: *mut MDB_env, max_bytes: usize) -> c_int {
        code_of(env, set_growth)
    }

    /// Gets the values of many keys, with several searches in progress at a time. Where the
    /// database is much larger than the processor's caches, this is faster than as many calls of
    /// mdb_get.
    ///
    /// Each of values is pointed to the (first) value of the key at the same index. Where there is
    /// none, its mv_data becomes NULL. Each of codes becomes 0 or MDB_NOTFOUND; codes may be NULL.
    /// EINVAL, MDB_BAD_TXN and errors of the file apply to the whole call, and then no value is
    /// set. So does MDB_BAD_VALSIZE if any key is empty.
    fn fulgurite_get_many(
        txn: *mut MDB_txn,
        dbi: MDB_dbi,
        count: usize,
        keys: *const MDB_val,
        values: *mut MDB_val,
        codes: *mut c_int,
    ) -> c_int { code_of(txn, get_many) }

    /// Counts the items with low <= key < high, exactly; a key counts with each of its values. NULL
    /// for low is the beginning, for high the end.
    ///
    /// The cost is a look at each leaf page in the range, or outside it if those are fewer.
    fn fulgurite_count_range(
        txn: *mut MDB_txn,
        dbi: MDB_dbi,
        low: *const MDB_val,
        high: *const MDB_val,
        count: *mut usize,
    ) -> c_int { code_of(txn, count_range) }

    /// Estimates the result of fulgurite_count_range, for choosing between plans. The cost is a few
    /// pages for any range. The result is mostly within a tenth of the count.
    fn fulgurite_estimate_range(
        txn: *mut MDB_txn,
        dbi: MDB_dbi,
        low: *const MDB_val,
        high: *const MDB_val,
        count: *mut usize,
    ) -> c_int { code_of(txn, estimate_range) }
}

fn set_growth(env: CHandle<MDB_env>, max_bytes: usize) -> Outcome {
    let env = env.find()?;
    env.get()
        .set_before_opening(|settings| settings.growth_max = max_bytes as u64)
}

fn get_many(
    txn: CHandle<MDB_txn>,
    dbi: MDB_dbi,
    count: usize,
    keys: In<'_, MDB_val>,
    values: Out<'_, MDB_val>,
    codes: Out<'_, c_int>,
) -> Outcome {
    /// Keys: an array of more would exceed the address space.
    const COUNT_MAX: usize = isize::MAX as usize / size_of::<MDB_val>();
    let txn = txn.find()?;
    let txn = txn.get();
    let database = usable_database(txn, dbi)?;
    values.check()?;
    if count > COUNT_MAX {
        return Err(Code::INVALID_ARGUMENT);
    }
    // SAFETY: `lmdb.h` requires `count` keys, and the bound was checked above.
    let keys = unsafe { keys.values(count) }.ok_or(Code::INVALID_ARGUMENT)?;
    let mut wanted = Vec::new();
    let mut found = Vec::new();
    if wanted.try_reserve_exact(count).is_err() || found.try_reserve_exact(count).is_err() {
        return Err(Code::NO_MEMORY);
    }
    for key in keys {
        let key = key.bytes()?;
        if key.is_empty() {
            return Err(Code::BAD_LENGTH);
        }
        wanted.push(key);
    }
    let _busy = txn.begin_comparisons();
    reading!(txn, txn => txn.get_many(database, &wanted, &mut found)?);
    debug_assert!(found.len() == count, "each key has a result");
    // SAFETY: `lmdb.h` requires room for `count` values, in an array that holds neither keys nor
    // codes.
    let values = unsafe { values.array(count) };
    // SAFETY: `lmdb.h` requires NULL or room for `count` codes, in an array that holds neither keys
    // nor values.
    let codes = unsafe { codes.array(count) };
    let nothing = MDB_val {
        mv_size: 0,
        mv_data: core::ptr::null_mut(),
    };
    for (out, value) in values.iter_mut().zip(&found) {
        out.write(value.map_or(nothing, val));
    }
    for (out, value) in codes.iter_mut().zip(&found) {
        out.write(if value.is_some() { 0 } else { MDB_NOTFOUND });
    }
    Ok(())
}

fn count_range(
    txn: CHandle<MDB_txn>,
    dbi: MDB_dbi,
    low: In<'_, MDB_val>,
    high: In<'_, MDB_val>,
    count: Out<'_, usize>,
) -> Outcome {
    let txn = txn.find()?;
    let txn = txn.get();
    let database = usable_database(txn, dbi)?;
    let range = range_of(low, high)?;
    let _busy = txn.begin_comparisons();
    count.store(reading!(txn, txn => txn.count_range(database, range)?) as usize)
}

fn estimate_range(
    txn: CHandle<MDB_txn>,
    dbi: MDB_dbi,
    low: In<'_, MDB_val>,
    high: In<'_, MDB_val>,
    count: Out<'_, usize>,
) -> Outcome {
    let txn = txn.find()?;
    let txn = txn.get();
    let database = usable_database(txn, dbi)?;
    let range = range_of(low, high)?;
    let _busy = txn.begin_comparisons();
    count.store(reading!(txn, txn => txn.estimate_range(database, range)?) as usize)
}

fn usable_database(txn: &Txn, dbi: MDB_dbi) -> Outcome<Database> {
    let database = txn.user_database(dbi)?;
    txn.check_usable()?;
    Ok(database)
}

/// The bounds of a range of keys.
type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Returns the range between two optional keys.
fn range_of<'c>(low: In<'c, MDB_val>, high: In<'c, MDB_val>) -> Outcome<Bounds<'c>> {
    let low = match low.get() {
        None => Bound::Unbounded,
        Some(_) => Bound::Included(low.bytes()?),
    };
    let high = match high.get() {
        None => Bound::Unbounded,
        Some(_) => Bound::Excluded(high.bytes()?),
    };
    Ok((low, high))
}
