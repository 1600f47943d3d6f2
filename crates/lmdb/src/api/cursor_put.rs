//! Changing items through a cursor.

use core::ffi::{c_int, c_uint};
use core::ptr;

use fulgurite::{
    CursorId, DatabaseFlags, Error, Put, PutFlags, Reservation, WriteCursor, WriteTxn,
};

use crate::api::get_put::put_flags;
use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, FixedItems, Val, exported};
use crate::objects::cursor::{Cursor, Position};
use crate::objects::order::BusyGuard;
use crate::objects::transaction::Kind;
use crate::types::{
    MDB_CURRENT, MDB_MULTIPLE, MDB_NODUPDATA, MDB_NOOVERWRITE, MDB_RESERVE, MDB_cursor, MDB_val,
};

exported! {
    /// Stores an item and moves the cursor to it. After MDB_KEYEXIST the cursor is on the present
    /// item.
    ///
    /// In addition to the flags of mdb_put: MDB_CURRENT replaces the current item, whose key must
    /// be given. With MDB_MULTIPLE, in a MDB_DUPFIXED database, data is an array of two. The first
    /// holds the size of an item and the address of the items. The second holds their number, which
    /// becomes the number of stored items.
    ///
    /// Results as those of mdb_put. EINVAL: MDB_CURRENT on an unset cursor or on another key, or
    /// with MDB_NODUPDATA, or no items.
    fn mdb_cursor_put(
        cursor: *mut MDB_cursor,
        key: *mut MDB_val,
        data: *mut MDB_val,
        flags: c_uint,
    ) -> c_int { code_of(cursor, put) }

    /// Deletes the current item; with MDB_NODUPDATA its key with all values. The cursor is then on
    /// the next item, to which MDB_NEXT moves.
    ///
    /// EINVAL: NULL, or the cursor is unset. MDB_NOTFOUND: behind the last item. EACCES: in a read
    /// transaction.
    fn mdb_cursor_del(cursor: *mut MDB_cursor, flags: c_uint) -> c_int { code_of(cursor, delete) }
}

#[inline(always)]
fn put(cursor: CHandle<MDB_cursor>, key: Val<'_>, data: Val<'_>, flags: c_uint) -> Outcome {
    let mut cursor = cursor.find()?;
    let cursor = cursor.get_mut();
    let key_bytes = key.bytes()?;
    let value = data.read()?;
    if flags & MDB_CURRENT != 0 && flags & MDB_NODUPDATA != 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    if flags & MDB_MULTIPLE != 0 {
        // SAFETY: `read` found that data is not NULL. With this flag `lmdb.h` requires an array of
        // two.
        let items = unsafe { data.fixed_items() };
        return put_many(cursor, key, data, items, flags);
    }
    let (writer, id, _busy) = busy_writer_of(cursor, key.as_ptr(), data.as_ptr())?;
    let engine_flags = put_flags(flags);
    let present = if flags & MDB_RESERVE != 0 {
        match writer.reserve_at(id, key_bytes, value.len(), engine_flags)? {
            Reservation::Empty(room) => {
                data.point(room);
                return Ok(());
            }
            Reservation::Exists(present) => present,
        }
    } else {
        match writer.put_at(id, key_bytes, value.bytes()?, engine_flags)? {
            Put::Stored => return Ok(()),
            Put::Exists(present) => present,
        }
    };
    if flags & MDB_NOOVERWRITE != 0 && !engine_flags.has(PutFlags::APPEND) {
        data.point(present);
    }
    Err(Code::KEY_EXISTS)
}

fn delete(cursor: CHandle<MDB_cursor>, flags: c_uint) -> Outcome {
    let mut cursor = cursor.find()?;
    let cursor = cursor.get_mut();
    let deleted = {
        let (mut writer, _busy) = write_cursor(cursor, ptr::null(), ptr::null())?;
        writer.delete_with(flags & MDB_NODUPDATA != 0)
    };
    match deleted {
        Ok(true) => Ok(()),
        Ok(false) => Err(Code::NOT_FOUND),
        Err(error) => {
            if matches!(error, Error::WrongKind(_)) {
                // The key is that of a named database. As with LMDB, the transaction must be
                // aborted.
                let (_, txn) = cursor.parts()?;
                txn.writer()?.mark_failed();
            }
            Err(error.into())
        }
    }
}

/// Returns the engine's cursor, for changes with this key and data.
#[inline(always)]
fn write_cursor<'c>(
    cursor: &'c mut Cursor,
    key: *const MDB_val,
    data: *const MDB_val,
) -> Outcome<(WriteCursor<'c, 'static>, Option<BusyGuard<'c>>)> {
    let (writer, id, busy) = busy_writer_of(cursor, key, data)?;
    Ok((writer.at(id)?, busy))
}

/// Returns the cursor's transaction, for changes with this key and data, and the cursor's number in
/// it.
#[inline(always)]
fn busy_writer_of<'c>(
    cursor: &'c mut Cursor,
    key: *const MDB_val,
    data: *const MDB_val,
) -> Outcome<(&'c mut WriteTxn<'static>, CursorId, Option<BusyGuard<'c>>)> {
    let (position, txn) = cursor.parts()?;
    match (position, &txn.kind) {
        (Position::Write(id), Kind::Write(_)) => {
            let (writer, busy) = txn.busy_writer(key, data)?;
            Ok((writer, *id, busy))
        }
        _ => Err(Code::NO_ACCESS),
    }
}

/// Stores items of one size under one key.
fn put_many(
    cursor: &mut Cursor,
    key: Val<'_>,
    data: Val<'_>,
    mut items: FixedItems<'_>,
    flags: c_uint,
) -> Outcome {
    let (len, count) = items.take();
    // As in LMDB, these errors come before those of the transaction.
    if count == 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    let database = cursor.database;
    let (_, txn) = cursor.parts()?;
    if !txn.flags(database)?.has(DatabaseFlags::DUP_FIXED) {
        return Err(Code::INCOMPATIBLE);
    }
    let bytes = items.bytes(count)?;
    let (mut writer, _busy) = write_cursor(cursor, key.as_ptr(), data.as_ptr())?;
    let (stored, complete) = writer.put_many(key.bytes()?, bytes, len, put_flags(flags))?;
    debug_assert!(stored <= count, "no more items are stored than were passed");
    let done = if complete { stored.max(1) - 1 } else { stored };
    items.report(stored, bytes.get(done * len..));
    if complete {
        Ok(())
    } else {
        Err(Code::KEY_EXISTS)
    }
}
