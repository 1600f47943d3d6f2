//! Reading, storing and deleting items by key.

use core::ffi::{c_int, c_uint};
use core::ptr;

use fulgurite::{DatabaseFlags, Error, Put, PutFlags, Reservation, Snapshot};

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Val, exported};
use crate::objects::order::begin_comparisons;
use crate::objects::transaction::reading;
use crate::types::{
    MDB_APPEND, MDB_APPENDDUP, MDB_CURRENT, MDB_NODUPDATA, MDB_NOOVERWRITE, MDB_RESERVE, MDB_dbi,
    MDB_txn, MDB_val,
};

/// The flags of mdb_put.
const PUT_FLAGS: c_uint =
    MDB_NOOVERWRITE | MDB_NODUPDATA | MDB_RESERVE | MDB_APPEND | MDB_APPENDDUP;

exported! {
    /// Points data to the value of a key; to the first if it has several.
    ///
    /// MDB_NOTFOUND: there is none, and data is not changed. EINVAL: NULL or an unknown handle.
    /// MDB_BAD_VALSIZE: an empty key. MDB_BAD_TXN.
    fn mdb_get(txn: *mut MDB_txn, dbi: MDB_dbi, key: *mut MDB_val, data: *mut MDB_val) -> c_int {
        code_of(txn, get)
    }

    /// Stores an item: it replaces the value of the key, or in a MDB_DUPSORT database is added to
    /// its values.
    ///
    /// flags: MDB_NOOVERWRITE, MDB_NODUPDATA, MDB_RESERVE, MDB_APPEND, MDB_APPENDDUP. With
    /// MDB_RESERVE data gives the size, and is pointed to room that the program fills before the
    /// next change. A MDB_DUPSORT database has no MDB_RESERVE.
    ///
    /// MDB_KEYEXIST: the flags forbid it. With MDB_NOOVERWRITE data is pointed to the present
    /// value. MDB_MAP_FULL: see mdb_env_set_mapsize. The transaction must then be aborted. EACCES:
    /// in a read transaction. MDB_BAD_VALSIZE: keys have 1 to 511 bytes, as have the values of a
    /// MDB_DUPSORT database. MDB_INCOMPATIBLE: the key is that of a named database. EINVAL: NULL,
    /// an unknown handle or flag. MDB_BAD_TXN.
    fn mdb_put(
        txn: *mut MDB_txn,
        dbi: MDB_dbi,
        key: *mut MDB_val,
        data: *mut MDB_val,
        flags: c_uint,
    ) -> c_int { code_of(txn, put) }

    /// Deletes a key. In a MDB_DUPSORT database it deletes only the value data, or all values if
    /// data is NULL. Elsewhere data is ignored.
    ///
    /// MDB_NOTFOUND: there is no such item. EACCES: in a read transaction. EINVAL: NULL or an
    /// unknown handle. MDB_BAD_VALSIZE: an empty key. MDB_INCOMPATIBLE: the key is that of a named
    /// database, see mdb_drop. The transaction must then be aborted.
    fn mdb_del(txn: *mut MDB_txn, dbi: MDB_dbi, key: *mut MDB_val, data: *mut MDB_val) -> c_int {
        code_of(txn, delete)
    }
}

#[inline(always)]
fn get(txn: CHandle<MDB_txn>, dbi: MDB_dbi, key: Val<'_>, data: Val<'_>) -> Outcome {
    let txn = txn.find()?;
    let txn = txn.get();
    let key_bytes = key.bytes()?;
    if data.is_null() {
        return Err(Code::INVALID_ARGUMENT);
    }
    let database = txn.user_database(dbi)?;
    txn.check_usable()?;
    if key_bytes.is_empty() {
        return Err(Code::BAD_LENGTH);
    }
    let _busy = begin_comparisons(txn.open, &txn.state, key.as_ptr(), ptr::null());
    let found = reading!(txn, txn => txn.get(database, key_bytes));
    data.point(found?.ok_or(Code::NOT_FOUND)?);
    Ok(())
}

#[inline(always)]
fn put(txn: CHandle<MDB_txn>, dbi: MDB_dbi, key: Val<'_>, data: Val<'_>, flags: c_uint) -> Outcome {
    let mut txn = txn.find()?;
    let txn = txn.get_mut();
    let key_bytes = key.bytes()?;
    let value = data.read()?;
    let database = txn.user_database(dbi)?;
    if flags & !PUT_FLAGS != 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    let (writer, _busy) = txn.busy_writer(key.as_ptr(), data.as_ptr())?;
    let engine_flags = put_flags(flags);
    let present = if flags & MDB_RESERVE != 0 {
        match writer.reserve_with(database, key_bytes, value.len(), engine_flags)? {
            Reservation::Empty(room) => {
                data.point(room);
                return Ok(());
            }
            Reservation::Exists(present) => present,
        }
    } else {
        match writer.put_with(database, key_bytes, value.bytes()?, engine_flags)? {
            Put::Stored => return Ok(()),
            Put::Exists(present) => present,
        }
    };
    if flags & MDB_NOOVERWRITE != 0 && flags & MDB_APPEND == 0 {
        data.point(present);
    }
    Err(Code::KEY_EXISTS)
}

#[inline(always)]
fn delete(txn: CHandle<MDB_txn>, dbi: MDB_dbi, key: Val<'_>, data: Val<'_>) -> Outcome {
    let mut txn = txn.find()?;
    let txn = txn.get_mut();
    let key_bytes = key.bytes()?;
    let database = txn.user_database(dbi)?;
    let (writer, _busy) = txn.busy_writer(key.as_ptr(), data.as_ptr())?;
    if key_bytes.is_empty() {
        return Err(Code::BAD_LENGTH);
    }
    let deleted = if data.is_null() || !writer.flags(database)?.has(DatabaseFlags::DUP_SORT) {
        writer.delete(database, key_bytes)
    } else {
        writer.delete_pair(database, key_bytes, data.bytes()?)
    };
    match deleted {
        Ok(true) => Ok(()),
        Ok(false) => Err(Code::NOT_FOUND),
        Err(error) => {
            if matches!(error, Error::WrongKind(_)) {
                // The key is that of a named database. As with LMDB, the transaction must be
                // aborted.
                writer.mark_failed();
            }
            Err(error.into())
        }
    }
}

/// Converts the flags of a put for the engine.
#[inline(always)]
pub(super) fn put_flags(flags: c_uint) -> PutFlags {
    let mut put = PutFlags::NONE;
    if flags == 0 {
        return put;
    }
    for (flag, engine_flag) in [
        (MDB_NOOVERWRITE, PutFlags::NO_OVERWRITE),
        (MDB_NODUPDATA, PutFlags::NO_DUP_DATA),
        (MDB_APPEND, PutFlags::APPEND),
        (MDB_APPENDDUP, PutFlags::APPEND_DUP),
        (MDB_CURRENT, PutFlags::CURRENT),
    ] {
        if flags & flag != 0 {
            put = put | engine_flag;
        }
    }
    put
}
