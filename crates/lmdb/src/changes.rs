//! Changing through a cursor.

use std::ffi::{c_int, c_uint};
use std::ptr;

use fulgurite::{
    CursorId, DatabaseFlags, Error, Put, PutFlags, Reservation, WriteCursor, WriteTxn,
};

use crate::codes::{Code, Outcome};
use crate::compare::Lent;
use crate::cursor::{At, Cursor, MDB_cursor};
use crate::edge::{behind_mut, code_of, octets, octets_of, point, reference};
use crate::items::put_flags;
use crate::transaction::{Kind, Txn};
use crate::types::{
    MDB_CURRENT, MDB_MULTIPLE, MDB_NODUPDATA, MDB_NOOVERWRITE, MDB_RESERVE, MDB_val,
};

/// Stores an item and moves the cursor to it. After MDB_KEYEXIST it is on the item in the way.
///
/// Beside the flags of mdb_put: MDB_CURRENT replaces the item the cursor is on, whose key must be given. With
/// MDB_MULTIPLE, in a MDB_DUPFIXED database, data is an array of two: the size of an item and where the first one is;
/// and the number of items, which becomes that of the stored ones.
///
/// As mdb_put; EINVAL: MDB_CURRENT on a cursor that stands nowhere or on another key, or with MDB_NODUPDATA; no items.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_put(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    flags: c_uint,
) -> c_int {
    code_of(cursor, || {
        // SAFETY: the caller's promise.
        let cursor = unsafe { behind_mut(cursor) }?;
        // SAFETY: as above.
        let wanted = unsafe { octets(key) }?;
        // SAFETY: as above.
        let value = *unsafe { reference(data) }?;
        if flags & MDB_CURRENT != 0 && flags & MDB_NODUPDATA != 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        if flags & MDB_MULTIPLE != 0 {
            // SAFETY: as above; with this flag data is an array of two.
            return unsafe { put_many(cursor, key, wanted, data, flags) };
        }
        let (writer, id, _lent) = writer_of(cursor, key, data)?;
        let put = put_flags(flags);
        let exists = if flags & MDB_RESERVE != 0 {
            match writer.reserve_at(id, wanted, value.mv_size, put)? {
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
            match writer.put_at(id, wanted, value, put)? {
                Put::Stored => return Ok(()),
                Put::Exists(value) => value,
            }
        };
        if flags & MDB_NOOVERWRITE != 0 && !put.has(PutFlags::APPEND) {
            // SAFETY: as above.
            unsafe { point(data, exists) };
        }
        Err(Code::KEY_EXISTS)
    })
}

/// Deletes the item the cursor is on; with MDB_NODUPDATA its key with all values. The cursor then stands on the
/// successor, to which MDB_NEXT goes.
///
/// EINVAL: NULL, or the cursor stands nowhere. MDB_NOTFOUND: behind the last item. EACCES: in a read transaction.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_del(cursor: *mut MDB_cursor, flags: c_uint) -> c_int {
    code_of(cursor, || {
        // SAFETY: the caller's promise.
        let cursor = unsafe { behind_mut(cursor) }?;
        let deleted = {
            let (mut writer, _lent) = write_cursor(cursor, ptr::null(), ptr::null())?;
            writer.delete_with(flags & MDB_NODUPDATA != 0)
        };
        match deleted {
            Ok(true) => Ok(()),
            Ok(false) => Err(Code::NOT_FOUND),
            Err(error) => {
                if matches!(error, Error::WrongKind(_)) {
                    // As in mdb_del: the record of a named database.
                    cursor.txn()?.writer()?.mark_failed();
                }
                Err(error.into())
            }
        }
    })
}

/// The engine's cursor, for changes with this key and data.
#[inline(always)]
fn write_cursor<'c>(
    cursor: &'c mut Cursor,
    key: *const MDB_val,
    data: *const MDB_val,
) -> Outcome<(WriteCursor<'c, 'static>, Option<Lent<'c>>)> {
    let (writer, id, lent) = writer_of(cursor, key, data)?;
    Ok((writer.at(id)?, lent))
}

/// The transaction of a cursor, for changes with this key and data, and what it knows the cursor by.
#[inline(always)]
fn writer_of<'c>(
    cursor: &'c mut Cursor,
    key: *const MDB_val,
    data: *const MDB_val,
) -> Outcome<(&'c mut WriteTxn<'static>, CursorId, Option<Lent<'c>>)> {
    let txn: &mut Txn = cursor.txn()?;
    match (&cursor.at, &txn.kind) {
        (At::Write(id), Kind::Write(_)) => {
            let (writer, lent) = txn.lent_writer(key, data)?;
            Ok((writer, *id, lent))
        }
        _ => Err(Code::NO_ACCESS),
    }
}

/// Stores many items of one size under one key.
unsafe fn put_many(
    cursor: &mut Cursor,
    given: *const MDB_val,
    key: &[u8],
    data: *mut MDB_val,
    flags: c_uint,
) -> Outcome {
    // SAFETY: the caller's promise: an array of two.
    let [first, second] = unsafe { &mut *data.cast::<[MDB_val; 2]>() };
    let (len, count) = (first.mv_size, std::mem::take(&mut second.mv_size));
    // These come before anything that is wrong with the transaction.
    if count == 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    if !cursor
        .txn()?
        .flags(cursor.database)?
        .has(DatabaseFlags::DUP_FIXED)
    {
        return Err(Code::INCOMPATIBLE);
    }
    let all = MDB_val {
        mv_size: len.checked_mul(count).ok_or(Code::BAD_LENGTH)?,
        mv_data: first.mv_data,
    };
    // SAFETY: the caller's promise: so many items are there.
    let items = unsafe { octets_of(&all) }?;
    let (mut writer, _lent) = write_cursor(cursor, given, data)?;
    let (stored, complete) = writer.put_many(key, items, len, put_flags(flags))?;
    second.mv_size = stored;
    let handled = if complete { stored.max(1) - 1 } else { stored };
    first.mv_data = items
        .get(handled * len..)
        .map_or(first.mv_data, |rest| rest.as_ptr().cast_mut().cast());
    if complete {
        Ok(())
    } else {
        Err(Code::KEY_EXISTS)
    }
}
