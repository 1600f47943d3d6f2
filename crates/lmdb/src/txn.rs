//! Transactions: the engine's, behind handles that C may use in any order.
//!
//! A family of nested transactions shares the one write transaction of the engine, which undoes level by level; each
//! handle knows its parent and its child, and only the youngest may be used.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_uint};
use std::ptr::{self, NonNull};

use fulgurite::{CustomOrder, Database, DatabaseFlags, Environment, ReadTxn, Snapshot, WriteTxn};

use crate::codes::{Code, Outcome};
use crate::cursor::CursorList;
use crate::edge::{code_of, exclusive, reference, store, value_of};
use crate::env::{MDB_env, Open};
use crate::handles::{FREE_LIST, Private};
use crate::types::{MDB_RDONLY, MDB_WRITEMAP, MDB_dbi};

/// A transaction.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_txn {
    pub(crate) kind: Kind,
    state: Cell<State>,
    /// The environment outlives its transactions, as the program has promised by using the interface.
    pub(crate) open: &'static Open,
    env: *mut MDB_env,
    /// The time on the clock of the handles at which it began.
    time: Cell<u64>,
    /// The handles it opened.
    pub(crate) private: RefCell<Vec<Private>>,
    /// Flags of the main database that it asked for but cannot store.
    pub(crate) main_flags: Cell<c_uint>,
    parent: *mut MDB_txn,
    child: *mut MDB_txn,
    pub(crate) cursors: CursorList,
}

/// What the transaction may do.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "handles are boxed already, and readers are not to look twice"
)]
pub(crate) enum Kind {
    Read(ReadTxn<'static>),
    Write(Writer),
}

/// The engine's write transaction, shared by a family of nested ones; the eldest owns it.
#[derive(Debug)]
pub(crate) struct Writer(NonNull<WriteTxn<'static>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    /// A child is to be ended first.
    HasChild,
    /// Without a snapshot until renewed.
    Reset,
}

impl Writer {
    fn new(txn: WriteTxn<'static>) -> Writer {
        Writer(NonNull::from(Box::leak(Box::new(txn))))
    }

    #[inline]
    pub(crate) fn get(&self) -> &WriteTxn<'static> {
        // SAFETY: the eldest of the family frees it last; one thread uses the family, one call at a time, and no
        // reference outlives a call.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut WriteTxn<'static> {
        // SAFETY: as above.
        unsafe { self.0.as_mut() }
    }

    /// Takes the transaction out, to end it.
    ///
    /// # Safety
    /// No handle of the family is used afterwards.
    unsafe fn take(&mut self) -> WriteTxn<'static> {
        // SAFETY: made by `new`, and taken once, as the caller promises.
        *unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}

impl MDB_txn {
    /// What a handle means here, the list of free pages included.
    /// # Errors
    /// EINVAL, BAD_DBI.
    #[inline]
    pub(crate) fn database(&self, dbi: MDB_dbi) -> Outcome<Database> {
        if self.state.get() == State::Reset {
            return Err(Code::INVALID_ARGUMENT);
        }
        self.open
            .handles
            .database(dbi, self.time.get(), &self.private.borrow())
    }

    /// What a handle means here, if it is a database of the user's.
    /// # Errors
    /// EINVAL, BAD_DBI.
    #[inline]
    pub(crate) fn user_database(&self, dbi: MDB_dbi) -> Outcome<Database> {
        if dbi == FREE_LIST {
            return Err(Code::INVALID_ARGUMENT);
        }
        self.database(dbi)
    }

    /// Refuses use while a child lives, after a reset, and after an error that left a change incomplete.
    #[inline]
    pub(crate) fn check_free(&self) -> Outcome {
        match (self.state.get(), &self.kind) {
            (State::Active, Kind::Read(_)) => Ok(()),
            (State::Active, Kind::Write(writer)) if !writer.get().is_failed() => Ok(()),
            _ => Err(Code::BAD_TXN),
        }
    }

    /// The engine's transaction, for changes.
    /// # Errors
    /// EACCES if it only reads; BAD_TXN as for [`Self::check_free`].
    #[inline]
    pub(crate) fn writer(&mut self) -> Outcome<&mut WriteTxn<'static>> {
        let free = self.check_free();
        match &mut self.kind {
            Kind::Read(_) => Err(Code::NO_ACCESS),
            Kind::Write(writer) => free.map(|()| writer.get_mut()),
        }
    }

    /// The flags of a database, as they are stored; also known when the transaction has failed.
    pub(crate) fn flags(&self, database: Database) -> Outcome<DatabaseFlags> {
        let stored = match &self.kind {
            Kind::Read(read) => read.flags(database),
            Kind::Write(writer) => writer.get().flags(database),
        };
        Ok(stored?)
    }

    pub(crate) const fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read(_))
    }

    pub(crate) fn time(&self) -> u64 {
        self.time.get()
    }

    /// Notes that a handle was closed by this transaction, which is to see it.
    pub(crate) fn closed_at(&self, time: u64) {
        self.time.set(time);
    }

    /// Sets the program's own order of keys.
    pub(crate) fn set_key_order(&mut self, database: Database, order: Option<CustomOrder>) {
        match &mut self.kind {
            Kind::Read(read) => read.set_key_order(database, order),
            Kind::Write(writer) => writer.get_mut().set_key_order(database, order),
        }
    }

    /// Sets the program's own order of values.
    pub(crate) fn set_value_order(&mut self, database: Database, order: Option<CustomOrder>) {
        match &mut self.kind {
            Kind::Read(read) => read.set_value_order(database, order),
            Kind::Write(writer) => writer.get_mut().set_value_order(database, order),
        }
    }

    fn boxed(env: *mut MDB_env, open: &'static Open, kind: Kind) -> Box<MDB_txn> {
        Box::new(MDB_txn {
            kind,
            state: Cell::new(State::Active),
            open,
            env,
            time: Cell::new(open.handles.now()),
            private: RefCell::default(),
            main_flags: Cell::new(0),
            parent: ptr::null_mut(),
            child: ptr::null_mut(),
            cursors: CursorList::default(),
        })
    }
}

/// Begins a transaction: to read with MDB_RDONLY among flags, else to write. Other flags are ignored.
///
/// There is one write transaction at a time; this waits for it. With parent, a write transaction, one is begun within
/// it, whose changes become the parent's by its commit; the parent cannot be used meanwhile. Unless the environment has
/// MDB_NOTLS, a thread has one read transaction at a time.
///
/// MDB_BAD_RSLOT: the thread has a read transaction. MDB_BAD_TXN: the parent has failed or has a child, or the thread
/// has a write transaction. MDB_READERS_FULL. MDB_MAP_RESIZED: see mdb_env_set_mapsize. EACCES: to write in a
/// read-only environment. MDB_PANIC: the environment must be closed. EINVAL: NULL, not open, or the parent only reads.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_begin(
    env: *mut MDB_env,
    parent: *mut MDB_txn,
    flags: c_uint,
    txn: *mut *mut MDB_txn,
) -> c_int {
    code_of(|| {
        if txn.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise; an environment outlives its transactions, so that the reference may as well
        // live for ever.
        let open: &'static Open = unsafe { reference::<'static, _>(env) }?.open()?;
        let begun = if parent.is_null() {
            let environment: &'static Environment = &open.environment;
            if flags & MDB_RDONLY != 0 {
                Box::into_raw(begin_read(env, open)?)
            } else {
                let kind = Kind::Write(Writer::new(environment.write()?));
                Box::into_raw(MDB_txn::boxed(env, open, kind))
            }
        } else {
            // SAFETY: the caller's promise.
            unsafe { begin_child(parent, flags) }?
        };
        // SAFETY: not null; the caller's promise.
        unsafe { store(txn, begun) }
    })
}

/// The environment of a transaction; NULL for NULL.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_env(txn: *mut MDB_txn) -> *mut MDB_env {
    // SAFETY: the caller's promise.
    value_of(ptr::null_mut(), || Ok(unsafe { reference(txn) }?.env))
}

/// The id of a transaction: of the commit that a reader sees, or that a writer will make. 0 for NULL.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_id(txn: *mut MDB_txn) -> usize {
    value_of(0, || {
        // SAFETY: the caller's promise.
        let id = match &unsafe { reference(txn) }?.kind {
            Kind::Read(read) => read.id(),
            Kind::Write(writer) => writer.get().id(),
        };
        Ok(id.0 as usize)
    })
}

/// Commits a transaction and frees the handle, whatever the result. A child that lives is committed first.
///
/// The cursors of a write transaction are closed; those of a read transaction are to be closed or renewed by the
/// program. MDB_BAD_TXN: the transaction had failed, and was aborted. EINVAL for NULL. ENOSPC, EIO, MDB_MAP_FULL:
/// nothing was committed.
///
/// # Safety
/// The caller's promise; the handle is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_commit(txn: *mut MDB_txn) -> c_int {
    code_of(|| {
        if txn.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        // SAFETY: the caller's promise.
        unsafe { commit(txn) }
    })
}

/// Ends a transaction without a trace, and frees the handle; its children first. NULL is fine.
///
/// # Safety
/// As [`mdb_txn_commit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_abort(txn: *mut MDB_txn) {
    value_of((), || {
        if !txn.is_null() {
            // SAFETY: the caller's promise.
            unsafe { abort(txn) };
        }
        Ok(())
    });
}

/// Lets a read transaction go of its snapshot but keeps the handle, for mdb_txn_renew. Without effect on others.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_reset(txn: *mut MDB_txn) {
    value_of((), || {
        // SAFETY: the caller's promise.
        let txn = unsafe { exclusive(txn) }?;
        if let Kind::Read(read) = &mut txn.kind
            && txn.state.get() == State::Active
        {
            txn.cursors.park_places(read);
            read.reset();
            txn.state.set(State::Reset);
            let private = txn.private.get_mut();
            txn.open.handles.release(private);
            private.clear();
        }
        Ok(())
    });
}

/// Begins a read transaction again that was reset, on the newest snapshot.
///
/// EINVAL unless it was reset; else as mdb_txn_begin.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_renew(txn: *mut MDB_txn) -> c_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        let txn = unsafe { exclusive(txn) }?;
        let State::Reset = txn.state.get() else {
            return Err(Code::INVALID_ARGUMENT);
        };
        if let Kind::Read(read) = &mut txn.kind {
            read.renew()?;
        }
        txn.begin_again();
        Ok(())
    })
}

/// Begins a read transaction, in one that has ended if there is one.
fn begin_read(env: *mut MDB_env, open: &'static Open) -> Outcome<Box<MDB_txn>> {
    let Some(mut txn) = open.spare_readers.take() else {
        let kind = Kind::Read(open.environment.read()?);
        return Ok(MDB_txn::boxed(env, open, kind));
    };
    if let Kind::Read(read) = &mut txn.kind {
        read.renew()?;
    }
    txn.begin_again();
    Ok(txn)
}

/// Begins a transaction within another.
unsafe fn begin_child(parent: *mut MDB_txn, flags: c_uint) -> Outcome<*mut MDB_txn> {
    // SAFETY: the caller's promise.
    let elder = unsafe { exclusive(parent) }?;
    let writer = match &mut elder.kind {
        Kind::Read(_) => return Err(Code::INVALID_ARGUMENT),
        Kind::Write(writer) => writer,
    };
    let fits = elder.state.get() == State::Active
        && flags & MDB_RDONLY == 0
        && !elder.open.has(MDB_WRITEMAP);
    if !fits {
        return Err(Code::BAD_TXN);
    }
    writer.get_mut().begin_nested()?;
    let mut child = MDB_txn::boxed(elder.env, elder.open, Kind::Write(Writer(writer.0)));
    child.time.set(elder.time.get());
    child
        .private
        .get_mut()
        .extend_from_slice(elder.private.get_mut());
    child.parent = parent;
    let child = Box::into_raw(child);
    elder.child = child;
    elder.state.set(State::HasChild);
    Ok(child)
}

unsafe fn commit(txn: *mut MDB_txn) -> Outcome {
    // SAFETY: the caller's promise.
    let child = unsafe { exclusive(txn) }?.child;
    if !child.is_null() {
        // SAFETY: a handle clears itself from its parent when it is freed, so this one was not.
        if let Err(code) = unsafe { commit(child) } {
            // SAFETY: as the caller promises of this handle.
            unsafe { abort(txn) };
            return Err(code);
        }
    }
    // SAFETY: the caller's promise: made by `mdb_txn_begin` and not used any more.
    let mut txn = unsafe { Box::from_raw(txn) };
    // SAFETY: as above, so nobody uses its cursors any more.
    unsafe { txn.end_cursors() };
    let private = txn.private.take();
    let result = match &mut txn.kind {
        Kind::Read(_) => Ok(()),
        // SAFETY: a parent outlives its child, and nobody else uses it now.
        Kind::Write(writer) => match unsafe { txn.parent.as_mut() } {
            Some(parent) => {
                let result = writer.get_mut().commit_nested();
                if result.is_err() {
                    // A child that cannot be committed takes its parent along.
                    writer.get_mut().mark_failed();
                }
                parent.child_ended(&txn, result.is_ok().then_some(&private));
                if result.is_err() {
                    parent.forget(&private);
                }
                return result.map_err(Code::from);
            }
            // SAFETY: the whole family has ended.
            None => unsafe { writer.take() }.commit(),
        },
    };
    match result {
        Ok(()) => txn.open.handles.publish(&private),
        Err(_) => txn.open.handles.release(&private),
    }
    txn.keep_if_reader();
    result.map_err(Code::from)
}

unsafe fn abort(txn: *mut MDB_txn) {
    // SAFETY: the caller's promise.
    let mut txn = unsafe { Box::from_raw(txn) };
    if !txn.child.is_null() {
        // SAFETY: a handle clears itself from its parent when it is freed, so this one was not.
        unsafe { abort(txn.child) };
    }
    // SAFETY: as the caller promises of the transaction.
    unsafe { txn.end_cursors() };
    let private = txn.private.take();
    if let Kind::Write(writer) = &mut txn.kind {
        // SAFETY: a parent outlives its child, and nobody else uses it now.
        if let Some(parent) = unsafe { txn.parent.as_mut() } {
            writer.get_mut().abort_nested();
            parent.child_ended(&txn, None);
            parent.forget(&private);
            return;
        }
        // SAFETY: the whole family has ended.
        drop(unsafe { writer.take() });
    }
    txn.open.handles.release(&private);
    txn.keep_if_reader();
}

impl MDB_txn {
    /// Makes a reader what it was when it began first.
    fn begin_again(&self) {
        self.time.set(self.open.handles.now());
        self.main_flags.set(0);
        self.state.set(State::Active);
    }

    /// Keeps a reader that has ended for the next.
    fn keep_if_reader(mut self: Box<MDB_txn>) {
        if let Kind::Read(read) = &mut self.kind {
            read.release();
            self.open.spare_readers.keep(self);
        }
    }

    /// Takes over what a child leaves: the handles it opened, if it was committed.
    fn child_ended(&mut self, child: &MDB_txn, private: Option<&Vec<Private>>) {
        self.child = ptr::null_mut();
        self.state.set(State::Active);
        self.time.set(child.time.get());
        if let Some(private) = private {
            self.private.get_mut().clone_from(private);
        }
    }

    /// Takes back the handles that an aborted child opened.
    fn forget(&mut self, private: &[Private]) {
        let own = self.private.get_mut();
        let opened: Vec<Private> = private
            .iter()
            .filter(|one| !own.contains(one))
            .copied()
            .collect();
        self.open.handles.release(&opened);
    }

    /// Ends the cursors with the transaction: those of a writer are freed, those of a reader wait to be renewed.
    unsafe fn end_cursors(&mut self) {
        if self.is_read() {
            self.cursors.orphan_all();
            return;
        }
        while let Some(id) = self.cursors.free_first() {
            if let Kind::Write(writer) = &mut self.kind
                && !self.parent.is_null()
            {
                writer.get_mut().close_cursor(id);
            }
        }
    }
}
