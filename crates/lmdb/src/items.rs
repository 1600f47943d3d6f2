//! Reading, storing and deleting items by key.

use std::ffi::{c_int, c_uint};
use std::ptr;

use fulgurite::{DatabaseFlags, Error, Put, PutFlags, Reservation, Snapshot};

use crate::codes::Code;
use crate::compare::lend;
use crate::edge::{behind, behind_mut, code_of, octets, octets_of, point, reference};
use crate::transaction::reading;
use crate::txn::MDB_txn;
use crate::types::{
    MDB_APPEND, MDB_APPENDDUP, MDB_CURRENT, MDB_NODUPDATA, MDB_NOOVERWRITE, MDB_RESERVE, MDB_dbi,
    MDB_val,
};

/// The flags of mdb_put.
const PUT_FLAGS: c_uint =
    MDB_NOOVERWRITE | MDB_NODUPDATA | MDB_RESERVE | MDB_APPEND | MDB_APPENDDUP;

/// Points data to the value of a key; the first, if it has several.
///
/// MDB_NOTFOUND: there is none, and data is left alone. EINVAL: NULL or an unknown handle. MDB_BAD_VALSIZE: an empty
/// key. MDB_BAD_TXN.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_get(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    key: *mut MDB_val,
    data: *mut MDB_val,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind(txn) }?;
        let given = key;
        // SAFETY: as above.
        let key = unsafe { octets(key) }?;
        if data.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let database = txn.user_database(dbi)?;
        txn.check_free()?;
        if key.is_empty() {
            return Err(Code::BAD_LENGTH);
        }
        let _lent = lend(txn.open, &txn.state, given, ptr::null());
        let found = reading!(txn, txn => txn.get(database, key));
        let value = found?.ok_or(Code::NOT_FOUND)?;
        // SAFETY: as above.
        unsafe { point(data, value) };
        Ok(())
    })
}

/// Stores an item: in place of the key's value, or in a MDB_DUPSORT database beside its others.
///
/// flags: MDB_NOOVERWRITE, MDB_NODUPDATA, MDB_RESERVE, MDB_APPEND, MDB_APPENDDUP. With MDB_RESERVE data gives the size,
/// and is pointed to the room, which is to be filled before the next change; not in a MDB_DUPSORT database.
///
/// MDB_KEYEXIST: the flags forbid it; with MDB_NOOVERWRITE data is pointed to what is there. MDB_MAP_FULL: see
/// mdb_env_set_mapsize; the transaction must be aborted. EACCES: in a read transaction. MDB_BAD_VALSIZE: keys have 1 to
/// 511 octets, as have the values of a MDB_DUPSORT database. MDB_INCOMPATIBLE: the key is that of a named database.
/// EINVAL: NULL, an unknown handle or flag. MDB_BAD_TXN.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_put(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    key: *mut MDB_val,
    data: *mut MDB_val,
    flags: c_uint,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        let given = key;
        // SAFETY: as above.
        let key = unsafe { octets(key) }?;
        // SAFETY: as above.
        let value = *unsafe { reference(data) }?;
        let database = txn.user_database(dbi)?;
        if flags & !PUT_FLAGS != 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        let (writer, _lent) = txn.lent_writer(given, data)?;
        let put = put_flags(flags);
        let exists = if flags & MDB_RESERVE != 0 {
            match writer.reserve_with(database, key, value.mv_size, put)? {
                Reservation::Empty(room) => {
                    // SAFETY: as above.
                    unsafe { point(data, room) };
                    return Ok(());
                }
                Reservation::Exists(value) => value,
            }
        } else {
            // SAFETY: as above.
            let value = unsafe { octets_of(&value) }?;
            match writer.put_with(database, key, value, put)? {
                Put::Stored => return Ok(()),
                Put::Exists(value) => value,
            }
        };
        if flags & MDB_NOOVERWRITE != 0 && flags & MDB_APPEND == 0 {
            // SAFETY: as above.
            unsafe { point(data, exists) };
        }
        Err(Code::KEY_EXISTS)
    })
}

/// Deletes a key; in a MDB_DUPSORT database with data only that value of it, with NULL all. Elsewhere data is ignored.
///
/// MDB_NOTFOUND: there is no such item. EACCES: in a read transaction. EINVAL: NULL or an unknown handle. MDB_BAD_VALSIZE:
/// an empty key. MDB_INCOMPATIBLE: the key is that of a named database, see mdb_drop; the transaction must be aborted.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_del(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    key: *mut MDB_val,
    data: *mut MDB_val,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        let given = key;
        // SAFETY: as above.
        let key = unsafe { octets(key) }?;
        let database = txn.user_database(dbi)?;
        let (writer, _lent) = txn.lent_writer(given, data)?;
        if key.is_empty() {
            return Err(Code::BAD_LENGTH);
        }
        let deleted = if data.is_null() || !writer.flags(database)?.has(DatabaseFlags::DUP_SORT) {
            writer.delete(database, key)
        } else {
            // SAFETY: as above.
            writer.delete_pair(database, key, unsafe { octets(data) }?)
        };
        match deleted {
            Ok(true) => Ok(()),
            Ok(false) => Err(Code::NOT_FOUND),
            Err(error) => {
                if matches!(error, Error::WrongKind(_)) {
                    // The record of a named database: programs know that they must abort now.
                    writer.mark_failed();
                }
                Err(error.into())
            }
        }
    })
}

/// The engine's flags for those of a put.
#[inline]
pub(crate) fn put_flags(flags: c_uint) -> PutFlags {
    let mut put = PutFlags::NONE;
    for (flag, ours) in [
        (MDB_NOOVERWRITE, PutFlags::NO_OVERWRITE),
        (MDB_NODUPDATA, PutFlags::NO_DUP_DATA),
        (MDB_APPEND, PutFlags::APPEND),
        (MDB_APPENDDUP, PutFlags::APPEND_DUP),
        (MDB_CURRENT, PutFlags::CURRENT),
    ] {
        if flags & flag != 0 {
            put = put | ours;
        }
    }
    put
}
