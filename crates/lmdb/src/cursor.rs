//! Cursor handles: opened, closed, renewed. What they do is in `moves` and `changes`.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;

use fulgurite::{CursorId, Database, Place, ReadTxn, Snapshot};

use crate::codes::{Code, Outcome};
use crate::edge::{code_of, exclusive, reference, store, value_of};
use crate::handles::FREE_LIST;
use crate::txn::{Kind, MDB_txn};
use crate::types::MDB_dbi;

/// A cursor.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_cursor {
    pub(crate) at: At,
    /// Null once the transaction has ended: a reader's cursor outlives it, to be renewed or closed.
    pub(crate) txn: *mut MDB_txn,
    dbi: MDB_dbi,
    pub(crate) database: Database,
    next: *mut MDB_cursor,
    previous: *mut MDB_cursor,
}

/// Where a cursor stands.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "handles are boxed already, and readers are not to look twice"
)]
pub(crate) enum At {
    /// In a snapshot, which does not change.
    Read(Place),
    /// In the engine's table, which keeps the cursors in step with changes.
    Write(CursorId),
}

/// The cursors of a transaction.
#[derive(Debug)]
pub(crate) struct CursorList {
    first: Cell<*mut MDB_cursor>,
    /// A reader's cursor that was closed, for the next one to be opened: many programs open one for each question.
    spare: Cell<*mut MDB_cursor>,
}

impl Default for CursorList {
    fn default() -> CursorList {
        CursorList {
            first: Cell::new(ptr::null_mut()),
            spare: Cell::new(ptr::null_mut()),
        }
    }
}

impl Drop for CursorList {
    fn drop(&mut self) {
        let spare = self.spare.get();
        if !spare.is_null() {
            // SAFETY: it came from `mdb_cursor_open` and was closed.
            drop(unsafe { Box::from_raw(spare) });
        }
    }
}

impl CursorList {
    /// Enters a cursor.
    ///
    /// # Safety
    /// It lives until it is removed.
    unsafe fn insert(&self, cursor: *mut MDB_cursor) {
        let first = self.first.replace(cursor);
        // SAFETY: the caller's promise.
        let entered = unsafe { &mut *cursor };
        entered.next = first;
        entered.previous = ptr::null_mut();
        // SAFETY: what is in the list lives.
        if let Some(first) = unsafe { first.as_mut() } {
            first.previous = cursor;
        }
    }

    fn remove(&self, cursor: &mut MDB_cursor) {
        // SAFETY: what is in the list lives.
        match unsafe { cursor.previous.as_mut() } {
            Some(previous) => previous.next = cursor.next,
            None => self.first.set(cursor.next),
        }
        // SAFETY: as above.
        if let Some(next) = unsafe { cursor.next.as_mut() } {
            next.previous = cursor.previous;
        }
    }

    /// Keeps a reader's cursor that was closed, or frees it if there is one already.
    ///
    /// # Safety
    /// It came from `mdb_cursor_open`, has left the list, and is not used any more.
    unsafe fn keep(&self, cursor: *mut MDB_cursor) {
        if self.spare.get().is_null() {
            self.spare.set(cursor);
        } else {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(cursor) });
        }
    }

    /// Opens the spare cursor anew, if there is one.
    fn reopen(&self, dbi: MDB_dbi, database: Database) -> Option<*mut MDB_cursor> {
        let spare = self.spare.get();
        // SAFETY: it was closed and is this list's; null if there is none.
        let cursor = unsafe { spare.as_mut() }?;
        self.spare.set(ptr::null_mut());
        cursor.dbi = dbi;
        cursor.database = database;
        match &mut cursor.at {
            At::Read(place) if place.database() == database => place.reset(),
            at => *at = At::Read(Place::new(database)),
        }
        Some(spare)
    }

    /// Lets a reader's cursors note where they stand: their snapshot is about to go, and programs go on from there in
    /// the next one.
    pub(crate) fn park_places(&self, read: &ReadTxn<'_>) {
        self.each(|cursor| {
            if let At::Read(place) = &mut cursor.at
                && read.park_place(place).is_err()
            {
                place.reset();
            }
        });
    }

    /// Leaves a reader's cursors without a transaction.
    pub(crate) fn orphan_all(&self) {
        self.each(|cursor| {
            cursor.txn = ptr::null_mut();
            if let At::Read(place) = &mut cursor.at {
                place.reset();
            }
        });
        self.first.set(ptr::null_mut());
    }

    /// Frees the first of a writer's cursors; returns what the engine knows it by.
    pub(crate) fn free_first(&self) -> Option<CursorId> {
        loop {
            let first = self.first.get();
            if first.is_null() {
                return None;
            }
            // SAFETY: what is in the list lives, and came from `mdb_cursor_open`.
            let mut cursor = unsafe { Box::from_raw(first) };
            self.remove(&mut cursor);
            if let At::Write(id) = cursor.at {
                return Some(id);
            }
        }
    }

    fn each(&self, mut change: impl FnMut(&mut MDB_cursor)) {
        let mut at = self.first.get();
        // SAFETY: what is in the list lives, and nothing else refers to it during a call.
        while let Some(cursor) = unsafe { at.as_mut() } {
            at = cursor.next;
            change(cursor);
        }
    }
}

/// Makes a cursor over a database, standing nowhere yet.
///
/// In a write transaction it is closed with the transaction, or before by mdb_cursor_close. In a read transaction it
/// must be closed by the program, and may be renewed for another one.
///
/// EINVAL: NULL, an unknown handle, or the list of free pages (handle 0) in a write transaction. MDB_BAD_TXN.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_open(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    cursor: *mut *mut MDB_cursor,
) -> c_int {
    code_of(|| {
        if cursor.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise.
        let owner = unsafe { exclusive(txn) }?;
        let database = owner.database(dbi)?;
        if dbi == FREE_LIST && !owner.is_read() {
            return Err(Code::INVALID_ARGUMENT);
        }
        owner.check_free()?;
        let new = |at| {
            Box::into_raw(Box::new(MDB_cursor {
                at,
                txn,
                dbi,
                database,
                next: ptr::null_mut(),
                previous: ptr::null_mut(),
            }))
        };
        let opened = match &mut owner.kind {
            Kind::Read(_) => owner
                .cursors
                .reopen(dbi, database)
                .unwrap_or_else(|| new(At::Read(Place::new(database)))),
            Kind::Write(writer) => new(At::Write(writer.get_mut().open_cursor(database)?)),
        };
        // SAFETY: it leaves the list before it is freed.
        unsafe { owner.cursors.insert(opened) };
        // SAFETY: not null; the caller's promise.
        unsafe { store(cursor, opened) }
    })
}

/// Closes a cursor. NULL is fine.
///
/// # Safety
/// The caller's promise: a cursor of a write transaction is closed before the transaction ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_close(cursor: *mut MDB_cursor) {
    value_of((), || {
        if cursor.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let closed = unsafe { exclusive(cursor) }?;
        // SAFETY: a transaction leaves its cursors before it is freed.
        if let Some(txn) = unsafe { closed.txn.as_mut() } {
            txn.cursors.remove(closed);
            if let (Kind::Write(writer), At::Write(id)) = (&mut txn.kind, &closed.at) {
                writer.get_mut().close_cursor(*id);
            } else {
                // SAFETY: the caller's promise: made by `mdb_cursor_open` and not used any more.
                unsafe { txn.cursors.keep(cursor) };
                return Ok(());
            }
        }
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(cursor) });
        Ok(())
    });
}

/// Gives a cursor of a read transaction to another read transaction, standing nowhere yet.
///
/// EINVAL: NULL, a write transaction, or a handle that is unknown there.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_renew(txn: *mut MDB_txn, cursor: *mut MDB_cursor) -> c_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let renewed = unsafe { exclusive(cursor) }?;
        // SAFETY: as above.
        let next = unsafe { reference(txn) }?;
        let database = next.database(renewed.dbi)?;
        let At::Read(place) = &mut renewed.at else {
            return Err(Code::INVALID_ARGUMENT);
        };
        if !next.is_read() {
            return Err(Code::INVALID_ARGUMENT);
        }
        next.check_free()?;
        renewed.database = database;
        if place.database() == database {
            place.reset();
        } else {
            *place = Place::new(database);
        }
        if renewed.txn == txn {
            return Ok(());
        }
        // SAFETY: a transaction leaves its cursors before it is freed.
        if let Some(previous) = unsafe { renewed.txn.as_ref() } {
            previous.cursors.remove(renewed);
        }
        renewed.txn = txn;
        // SAFETY: it leaves the list before it is freed.
        unsafe { next.cursors.insert(cursor) };
        Ok(())
    })
}

/// The transaction of a cursor; NULL for NULL, and once a read transaction has ended.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_txn(cursor: *mut MDB_cursor) -> *mut MDB_txn {
    // SAFETY: the caller's promise.
    value_of(ptr::null_mut(), || Ok(unsafe { reference(cursor) }?.txn))
}

/// The database handle of a cursor; 0 for NULL.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_dbi(cursor: *mut MDB_cursor) -> MDB_dbi {
    // SAFETY: the caller's promise.
    value_of(0, || Ok(unsafe { reference(cursor) }?.dbi))
}

impl MDB_cursor {
    /// The transaction, if it has not ended.
    /// # Errors
    /// EINVAL.
    #[inline]
    pub(crate) fn txn<'a>(&self) -> Outcome<&'a mut MDB_txn> {
        // SAFETY: a transaction leaves its cursors before it is freed, and during a call nothing else refers to it.
        unsafe { self.txn.as_mut() }.ok_or(Code::INVALID_ARGUMENT)
    }
}
