//! Cursor handles: opened, closed, renewed.

use core::ffi::c_int;
use core::ptr;

use fulgurite::CursorPosition;

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Out, exported};
use crate::objects::cursor::{Cursor, Position};
use crate::objects::databases::FREE_LIST;
use crate::objects::state::State;
use crate::objects::transaction::Kind;
use crate::slab::Slot;
use crate::types::{MDB_cursor, MDB_dbi, MDB_txn};

exported! {
    /// Creates a cursor over a database, without a position.
    ///
    /// The end of a write transaction closes its cursors, unless mdb_cursor_close did it before. A
    /// cursor of a read transaction must be closed by the program, and may be renewed for another
    /// read transaction.
    ///
    /// EINVAL: NULL, an unknown handle, or the free list (handle 0) in a write transaction.
    /// MDB_BAD_TXN.
    fn mdb_cursor_open(txn: *mut MDB_txn, dbi: MDB_dbi, cursor: *mut *mut MDB_cursor) -> c_int {
        code_of(txn, open)
    }

    /// Closes a cursor. NULL and closed cursors are ignored.
    ///
    /// Without effect in a comparison function called within its transaction. A cursor of a write
    /// transaction is closed only in the thread of that transaction.
    fn mdb_cursor_close(cursor: *mut MDB_cursor) { value_of(cursor, (), close) }

    /// Gives a cursor of a read transaction to another read transaction, without a position.
    ///
    /// EINVAL: NULL, a write transaction, one of another environment, or a handle that is unknown
    /// there. MDB_BAD_TXN: the transaction has ended, or the call is made in a comparison function
    /// called within the cursor's transaction.
    fn mdb_cursor_renew(txn: *mut MDB_txn, cursor: *mut MDB_cursor) -> c_int { code_of(txn, renew) }

    /// Returns the transaction of a cursor; NULL for NULL, for a closed cursor, and once a read
    /// transaction has ended.
    fn mdb_cursor_txn(cursor: *mut MDB_cursor) -> *mut MDB_txn {
        value_of(cursor, ptr::null_mut(), transaction)
    }

    /// Returns the database handle of a cursor; 0 for NULL, and for a closed cursor.
    fn mdb_cursor_dbi(cursor: *mut MDB_cursor) -> MDB_dbi { value_of(cursor, 0, dbi) }
}

#[inline(always)]
fn open(txn: CHandle<MDB_txn>, dbi: MDB_dbi, cursor: Out<'_, *mut MDB_cursor>) -> Outcome {
    cursor.check()?;
    let txn = txn.find()?;
    let mut owner_slot = txn;
    let owner = owner_slot.get_mut();
    let database = owner.database(dbi)?;
    if dbi == FREE_LIST && !owner.is_read() {
        return Err(Code::INVALID_ARGUMENT);
    }
    owner.check_usable()?;
    let opened = match &mut owner.kind {
        Kind::Read(_) => match owner.cursors.reopen(txn, dbi, database) {
            Some(spare) => spare,
            None => {
                let position = Position::Read(CursorPosition::new(database));
                Cursor::insert(txn, dbi, database, position)?
            }
        },
        Kind::Write(writer) => {
            let id = writer.get_mut().open_cursor(database)?;
            Cursor::insert(txn, dbi, database, Position::Write(id))
                .inspect_err(|_| writer.get_mut().close_cursor(id))?
        }
    };
    owner.cursors.insert(opened);
    cursor.store(opened.handle())
}

#[inline(always)]
fn close(cursor: CHandle<MDB_cursor>) -> Outcome {
    let closed = cursor.find()?;
    let mut txn = closed.get().txn;
    if let Some(txn) = &txn {
        let txn = txn.get();
        if txn.state() == State::Busy || !txn.is_of_this_thread() {
            return Err(Code::BAD_TXN);
        }
        txn.cursors.remove(closed.get());
    }
    let id = match closed.get().position {
        Position::Write(id) => Some(id),
        Position::Read(_) => None,
    };
    // SAFETY: it has left the list of its transaction, or the transaction has ended and orphaned
    // it. Nothing else refers to it.
    let retired = unsafe { closed.retire() };
    if let Some(txn) = &mut txn {
        let txn = txn.get_mut();
        match (&mut txn.kind, id) {
            (Kind::Write(writer), Some(id)) => writer.get_mut().close_cursor(id),
            _ => txn.cursors.spare.set(Some(retired)),
        }
    }
    Ok(())
}

fn renew(txn: CHandle<MDB_txn>, cursor: CHandle<MDB_cursor>) -> Outcome {
    let slot = cursor.find()?;
    let mut renewed_slot = slot;
    let renewed = renewed_slot.get_mut();
    let next: Slot<MDB_txn> = txn.find()?;
    let owner = next.get();
    if owner.environment() != renewed.environment {
        return Err(Code::INVALID_ARGUMENT);
    }
    let database = owner.database(renewed.dbi)?;
    let Position::Read(position) = &mut renewed.position else {
        return Err(Code::INVALID_ARGUMENT);
    };
    if !owner.is_read() {
        return Err(Code::INVALID_ARGUMENT);
    }
    owner.check_usable()?;
    let previous = renewed.txn;
    if previous.is_some_and(|txn| txn.get().state() == State::Busy) {
        return Err(Code::BAD_TXN);
    }
    renewed.database = database;
    if position.database() == database {
        position.reset();
    } else {
        *position = CursorPosition::new(database);
    }
    if previous == Some(next) {
        return Ok(());
    }
    if let Some(previous) = previous {
        previous.get().cursors.remove(renewed);
    }
    renewed.txn = Some(next);
    owner.cursors.insert(slot);
    Ok(())
}

fn transaction(cursor: CHandle<MDB_cursor>) -> Outcome<*mut MDB_txn> {
    let txn = cursor.find()?.get().txn;
    Ok(txn.map_or(ptr::null_mut(), Slot::handle))
}

fn dbi(cursor: CHandle<MDB_cursor>) -> Outcome<MDB_dbi> {
    Ok(cursor.find()?.get().dbi)
}
