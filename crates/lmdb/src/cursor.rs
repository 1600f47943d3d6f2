//! Cursor handles: opened, closed, renewed. What they do is in `moves` and `changes`.

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr::{self, NonNull};

use fulgurite::{CursorId, CursorPosition, Database, ReadTxn, Snapshot};

use crate::codes::{Code, Outcome};
use crate::edge::{behind, code_of, store, value_of};
use crate::handles::FREE_LIST;
use crate::slab::{Handle, Kept, Slab};
use crate::transaction::{Kind, State, Txn, handle_of};
use crate::txn::{MDB_txn, TXNS};
use crate::types::MDB_dbi;

/// A cursor.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_cursor(());

/// What is behind a cursor's handle.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) at: At,
    /// `None` once the transaction has ended: a reader's cursor outlives it, to be renewed or closed.
    pub(crate) txn: Option<NonNull<Txn>>,
    dbi: MDB_dbi,
    pub(crate) database: Database,
    /// Number of its environment.
    environment: usize,
    next: Option<NonNull<Cursor>>,
    previous: Option<NonNull<Cursor>>,
}

/// All cursors.
pub(crate) static CURSORS: Slab<Cursor> = Slab::new();

impl Kept for Cursor {
    type Handle = MDB_cursor;
    const SLOT: usize = 512;
    const FIRST: usize = 8192;
    const WAITING: usize = 1024;
    const ENDED: Code = Code::INVALID_ARGUMENT;

    #[inline(always)]
    fn slab() -> &'static Slab<Cursor> {
        &CURSORS
    }
}

impl Handle for MDB_cursor {
    type Behind = Cursor;
}

/// Where a cursor stands.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "handles are in slots of one size, and readers are not to look twice"
)]
pub(crate) enum At {
    /// In a snapshot, which does not change.
    Read(CursorPosition),
    /// In the engine's table, which keeps the cursors in step with changes.
    Write(CursorId),
}

/// The cursors of a transaction.
#[derive(Debug, Default)]
pub(crate) struct CursorList {
    first: Cell<Option<NonNull<Cursor>>>,
    /// A reader's cursor that was closed, for the next one to be opened: many programs open one for each question. It has
    /// no handle.
    spare: Cell<Option<NonNull<Cursor>>>,
}

impl Drop for CursorList {
    fn drop(&mut self) {
        if let Some(spare) = self.spare.get() {
            // SAFETY: it was kept here alone.
            unsafe { CURSORS.remove(spare) };
        }
    }
}

impl CursorList {
    /// Enters a cursor.
    ///
    /// # Safety
    /// It lives until it is removed.
    unsafe fn insert(&self, mut cursor: NonNull<Cursor>) {
        let first = self.first.replace(Some(cursor));
        // SAFETY: the caller's promise.
        let entered = unsafe { cursor.as_mut() };
        entered.next = first;
        entered.previous = None;
        if let Some(mut first) = first {
            // SAFETY: what is in the list lives.
            unsafe { first.as_mut() }.previous = Some(cursor);
        }
    }

    fn remove(&self, cursor: &mut Cursor) {
        match cursor.previous {
            // SAFETY: what is in the list lives.
            Some(mut previous) => unsafe { previous.as_mut() }.next = cursor.next,
            None => self.first.set(cursor.next),
        }
        if let Some(mut next) = cursor.next {
            // SAFETY: as above.
            unsafe { next.as_mut() }.previous = cursor.previous;
        }
    }

    /// Keeps a reader's cursor that was closed, or frees it if there is one already.
    ///
    /// # Safety
    /// It has left the list, and is not used any more.
    unsafe fn keep(&self, cursor: NonNull<Cursor>) {
        if self.spare.get().is_none() {
            Slab::retire(cursor);
            self.spare.set(Some(cursor));
        } else {
            // SAFETY: the caller's promise.
            unsafe { CURSORS.remove(cursor) };
        }
    }

    /// Opens the spare cursor anew, if there is one.
    #[inline(always)]
    fn reopen(
        &self,
        txn: NonNull<Txn>,
        dbi: MDB_dbi,
        database: Database,
    ) -> Option<NonNull<Cursor>> {
        let mut spare = self.spare.take()?;
        if Slab::revive(spare).is_none() {
            // SAFETY: it was kept here alone.
            unsafe { CURSORS.remove(spare) };
            return None;
        }
        // SAFETY: as above.
        let cursor = unsafe { spare.as_mut() };
        cursor.txn = Some(txn);
        cursor.dbi = dbi;
        cursor.database = database;
        match &mut cursor.at {
            At::Read(place) if place.database() == database => place.reset(),
            at => *at = At::Read(CursorPosition::new(database)),
        }
        Some(spare)
    }

    /// Lets a reader's cursors note where they stand: their snapshot is about to go, and programs go on from there in
    /// the next one.
    pub(crate) fn park_places(&self, read: &ReadTxn<'_>) {
        self.each(|cursor| {
            if let At::Read(place) = &mut cursor.at
                && read.save_position(place).is_err()
            {
                place.reset();
            }
        });
    }

    /// Leaves a reader's cursors without a transaction.
    pub(crate) fn orphan_all(&self) {
        self.each(|cursor| {
            cursor.txn = None;
            if let At::Read(place) = &mut cursor.at {
                place.reset();
            }
        });
        self.first.set(None);
    }

    /// Whether no cursor is open.
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.first.get().is_none()
    }

    /// Frees the first of a writer's cursors; returns what the engine knows it by.
    pub(crate) fn free_first(&self) -> Option<CursorId> {
        loop {
            let mut first = self.first.get()?;
            // SAFETY: what is in the list lives.
            self.remove(unsafe { first.as_mut() });
            // SAFETY: as above.
            let id = match unsafe { first.as_ref() }.at {
                At::Write(id) => Some(id),
                At::Read(_) => None,
            };
            // SAFETY: as above, and nobody uses it any more.
            unsafe { CURSORS.remove(first) };
            if id.is_some() {
                return id;
            }
        }
    }

    fn each(&self, mut change: impl FnMut(&mut Cursor)) {
        let mut at = self.first.get();
        while let Some(mut cursor) = at {
            // SAFETY: what is in the list lives, and nothing else refers to it during a call.
            let cursor = unsafe { cursor.as_mut() };
            at = cursor.next;
            change(cursor);
        }
    }
}

/// Closes the cursors of an environment that is being closed, but for those of transactions that cannot be ended.
///
/// # Safety
/// Nobody else uses them at this moment.
pub(crate) unsafe fn end_cursors_of(environment: usize) {
    for cursor in CURSORS.of_owner(environment) {
        // SAFETY: it has a handle, so it lives.
        if unsafe { cursor.as_ref() }.txn.is_none() {
            // SAFETY: the caller's promise; it is in no list.
            unsafe { CURSORS.remove(cursor) };
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
    code_of(txn, || {
        if cursor.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let mut txn = TXNS.find(txn)?;
        // SAFETY: it has a handle; the caller's promise.
        let owner = unsafe { txn.as_mut() };
        let database = owner.database(dbi)?;
        if dbi == FREE_LIST && !owner.is_read() {
            return Err(Code::INVALID_ARGUMENT);
        }
        owner.check_free()?;
        let opened = match &mut owner.kind {
            Kind::Read(_) => match owner.cursors.reopen(txn, dbi, database) {
                Some(spare) => spare,
                None => make(
                    txn,
                    owner,
                    dbi,
                    database,
                    At::Read(CursorPosition::new(database)),
                )?,
            },
            Kind::Write(writer) => {
                let mut writer = *writer;
                let id = writer.get_mut().open_cursor(database)?;
                make(txn, owner, dbi, database, At::Write(id))
                    .inspect_err(|_| writer.get_mut().close_cursor(id))?
            }
        };
        // SAFETY: it leaves the list before it is freed.
        unsafe { owner.cursors.insert(opened) };
        // SAFETY: not null; the caller's promise.
        unsafe { store(cursor, Slab::handle(opened)) }
    })
}

fn make(
    txn: NonNull<Txn>,
    owner: &Txn,
    dbi: MDB_dbi,
    database: Database,
    at: At,
) -> Outcome<NonNull<Cursor>> {
    let environment = owner.environment();
    CURSORS.insert(environment, || Cursor {
        at,
        txn: Some(txn),
        dbi,
        database,
        environment,
        next: None,
        previous: None,
    })
}

/// Closes a cursor. NULL is fine, and so is what is closed already.
///
/// Without effect in a comparison function that a call within its transaction asks, and, for a cursor of a write
/// transaction, in another thread than that of the transaction.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_close(cursor: *mut MDB_cursor) {
    value_of(cursor, (), || {
        let mut found = CURSORS.find(cursor)?;
        // SAFETY: it has a handle; the caller's promise.
        let closed = unsafe { found.as_mut() };
        if let Some(mut txn) = closed.txn {
            // SAFETY: a transaction leaves its cursors before it is freed.
            let txn = unsafe { txn.as_mut() };
            if txn.state() == State::Busy || !txn.is_of_this_thread() {
                return Err(Code::BAD_TXN);
            }
            txn.cursors.remove(closed);
            if let (Kind::Write(writer), At::Write(id)) = (&mut txn.kind, &closed.at) {
                writer.get_mut().close_cursor(*id);
            } else {
                // SAFETY: the caller's promise.
                unsafe { txn.cursors.keep(found) };
                return Ok(());
            }
        }
        // SAFETY: as above.
        unsafe { CURSORS.remove(found) };
        Ok(())
    });
}

/// Gives a cursor of a read transaction to another read transaction, standing nowhere yet.
///
/// EINVAL: NULL, a write transaction, one of another environment, or a handle that is unknown there. MDB_BAD_TXN: the
/// transaction has ended, or a call within that of the cursor is under way, in whose comparison function the program is.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_renew(txn: *mut MDB_txn, cursor: *mut MDB_cursor) -> c_int {
    code_of(txn, || {
        let mut found = CURSORS.find(cursor)?;
        // SAFETY: it has a handle; the caller's promise.
        let renewed = unsafe { found.as_mut() };
        let next_txn = TXNS.find(txn)?;
        // SAFETY: as above.
        let next = unsafe { next_txn.as_ref() };
        if next.environment() != renewed.environment {
            return Err(Code::INVALID_ARGUMENT);
        }
        let database = next.database(renewed.dbi)?;
        // SAFETY: a transaction leaves its cursors before it is freed.
        let previous = renewed.txn.map(|txn| unsafe { txn.as_ref() });
        let At::Read(place) = &mut renewed.at else {
            return Err(Code::INVALID_ARGUMENT);
        };
        if !next.is_read() {
            return Err(Code::INVALID_ARGUMENT);
        }
        next.check_free()?;
        if previous.is_some_and(|txn| txn.state() == State::Busy) {
            return Err(Code::BAD_TXN);
        }
        renewed.database = database;
        if place.database() == database {
            place.reset();
        } else {
            *place = CursorPosition::new(database);
        }
        if renewed.txn == Some(next_txn) {
            return Ok(());
        }
        if let Some(previous) = previous {
            previous.cursors.remove(renewed);
        }
        renewed.txn = Some(next_txn);
        // SAFETY: it leaves the list before it is freed.
        unsafe { next.cursors.insert(found) };
        Ok(())
    })
}

/// The transaction of a cursor; NULL for NULL, once a read transaction has ended, and for what is closed.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_txn(cursor: *mut MDB_cursor) -> *mut MDB_txn {
    value_of(cursor, ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind(cursor) }?.txn;
        Ok(txn.map_or(ptr::null_mut(), handle_of))
    })
}

/// The database handle of a cursor; 0 for NULL, and for what is closed.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_dbi(cursor: *mut MDB_cursor) -> MDB_dbi {
    // SAFETY: the caller's promise.
    value_of(cursor, 0, || Ok(unsafe { behind(cursor) }?.dbi))
}

impl Cursor {
    /// The transaction, if it has not ended.
    /// # Errors
    /// EINVAL.
    #[inline]
    pub(crate) fn txn<'a>(&self) -> Outcome<&'a mut Txn> {
        let mut txn = self.txn.ok_or(Code::INVALID_ARGUMENT)?;
        // SAFETY: a transaction leaves its cursors before it is freed, and during a call nothing else refers to it.
        Ok(unsafe { txn.as_mut() })
    }
}
