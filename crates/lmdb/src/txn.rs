//! Transactions: the engine's, behind handles that C may use in any order.
//!
//! A family of nested transactions shares the one write transaction of the engine, which undoes level by level; each
//! knows its parent and its child, and only the youngest may be used.

use std::ffi::{c_int, c_uint};
use std::ptr::{self, NonNull};

use crate::codes::{Code, Outcome};
use crate::edge::{behind, behind_mut, code_of, store, value_of};
use crate::ending::{abort, commit};
use crate::env::{ENVS, Env, MDB_env, Open};
use crate::slab::{Handle, Kept, Slab};
use crate::spare::free_writer;
use crate::transaction::{Kind, State, Txn, Writer, handle_of, reading};
use crate::types::{MDB_RDONLY, MDB_WRITEMAP};

/// A transaction.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_txn(());

/// All transactions.
pub(crate) static TXNS: Slab<Txn> = Slab::new();

impl Kept for Txn {
    type Handle = MDB_txn;
    const SLOT: usize = 1024;
    const FIRST: usize = 4096;
    const WAITING: usize = 1024;
    const ENDED: Code = Code::BAD_TXN;

    #[inline(always)]
    fn slab() -> &'static Slab<Txn> {
        &TXNS
    }
}

impl Handle for MDB_txn {
    type Behind = Txn;
}

/// Begins a transaction: to read with MDB_RDONLY among flags, else to write. Other flags are ignored.
///
/// There is one write transaction at a time; this waits for it. With parent, a write transaction, one is begun within
/// it, whose changes become the parent's by its commit; the parent cannot be used meanwhile. Unless the environment has
/// MDB_NOTLS, a thread has one read transaction at a time.
///
/// A write transaction belongs to the thread that began it, unless the environment has MDB_NOLOCK: for any other it is
/// MDB_BAD_TXN. A read transaction may be used by any thread, by one at a time.
///
/// MDB_BAD_RSLOT: the thread has a read transaction. MDB_BAD_TXN: the parent has failed, has ended or has a child, or the
/// thread has a write transaction. MDB_READERS_FULL. MDB_MAP_RESIZED: see mdb_env_set_mapsize. EACCES: to write in a
/// read-only environment. MDB_PANIC: the environment must be closed, or was opened before a fork. EINVAL: NULL, not open,
/// or the parent only reads or is of another environment.
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
    code_of(env, || {
        if txn.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let env = ENVS.find(env)?;
        // SAFETY: an environment outlives its transactions, so that the reference may as well live for ever.
        let open: &'static Open = unsafe { env.as_ref() }.open()?;
        let begun = if !parent.is_null() {
            // SAFETY: the caller's promise.
            handle_of(unsafe { begin_child(env, parent, flags) }?)
        } else if flags & MDB_RDONLY != 0 {
            begin_read(env, open)?
        } else {
            begin_write(env, open)?
        };
        // SAFETY: not null; the caller's promise.
        unsafe { store(txn, begun) }
    })
}

/// The environment of a transaction; NULL for NULL, and for what has ended.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_env(txn: *mut MDB_txn) -> *mut MDB_env {
    value_of(txn, ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        Ok(Slab::handle(unsafe { behind(txn) }?.env))
    })
}

/// The id of a transaction: of the commit that a reader sees, or that a writer will make. 0 for NULL, and for what has
/// ended.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_id(txn: *mut MDB_txn) -> usize {
    value_of(txn, 0, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind(txn) }?;
        Ok(reading!(txn, txn => txn.id()).0 as usize)
    })
}

/// Commits a transaction and ends the handle, whatever the result. A child that lives is committed first.
///
/// The cursors of a write transaction are closed; those of a read transaction are to be closed or renewed by the
/// program. ENOSPC, EIO, MDB_MAP_FULL: nothing was committed. MDB_BAD_TXN: the transaction had failed, and was aborted; or
/// it has ended before. EINVAL: no transaction.
///
/// MDB_BAD_TXN is also the answer to the wrong thread (see mdb_txn_begin), and to a comparison function that a call within
/// the transaction asks: it lives on then, with all its changes. MDB_PANIC in a forked child: it is the parent's.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_commit(txn: *mut MDB_txn) -> c_int {
    code_of(txn, || {
        let txn = TXNS.find(txn)?;
        // SAFETY: it has a handle; the caller's promise.
        unsafe { commit(txn) }
    })
}

/// Ends a transaction without a trace; its children first. NULL is fine, and what has ended.
///
/// Without effect where mdb_txn_commit would answer that the transaction lives on. But once the thread of a write
/// transaction has ended, any thread may abort it; the environment can then be written again, unless somebody tried
/// before: he was told MDB_PANIC, and so are all after him.
///
/// # Safety
/// As [`mdb_txn_commit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_abort(txn: *mut MDB_txn) {
    value_of(txn, (), || {
        let txn = TXNS.find(txn)?;
        // SAFETY: it has a handle; the caller's promise.
        unsafe { abort(txn) };
        Ok(())
    });
}

/// Lets a read transaction go of its snapshot but keeps the handle, for mdb_txn_renew. Without effect on others.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_txn_reset(txn: *mut MDB_txn) {
    let caller = txn;
    value_of(caller, (), || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        if txn.state() == State::Active
            && let Kind::Read(read) = &mut txn.kind
        {
            txn.cursors.park_places(read);
            read.reset();
            txn.set_state(State::Reset);
            txn.open.handles.release(&txn.view);
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
    let caller = txn;
    code_of(caller, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        match (txn.state(), &mut txn.kind) {
            (State::Reset, Kind::Read(read)) => read.renew()?,
            (State::Orphaned, _) => return Err(Code::BAD_TXN),
            _ => return Err(Code::INVALID_ARGUMENT),
        }
        txn.begin_again();
        Ok(())
    })
}

#[inline]
fn insert(env: NonNull<Env>, txn: impl FnOnce() -> Txn) -> Outcome<NonNull<Txn>> {
    // SAFETY: the environment of a transaction that begins is open.
    let owner = unsafe { env.as_ref() }.number;
    TXNS.insert(owner, txn)
}

/// Begins a read transaction, in one that has ended if there is one.
fn begin_read(env: NonNull<Env>, open: &'static Open) -> Outcome<*mut MDB_txn> {
    let Some(mut kept) = open.spare_readers.take() else {
        let read = Kind::Read(open.environment.read()?);
        return insert(env, || Txn::eldest(env, open, read)).map(handle_of);
    };
    // SAFETY: it was kept for whoever takes it out.
    let txn = unsafe { kept.as_mut() };
    if let Kind::Read(read) = &mut txn.kind
        && let Err(error) = read.renew()
    {
        // SAFETY: as above.
        unsafe { TXNS.remove(kept) };
        return Err(error.into());
    }
    txn.begin_again();
    match Slab::revive(kept) {
        Some(handle) => Ok(handle),
        // SAFETY: as above.
        None => insert(env, || unsafe { TXNS.take(kept) }).map(handle_of),
    }
}

/// Begins a write transaction, in the one that has ended last if there is one.
fn begin_write(env: NonNull<Env>, open: &'static Open) -> Outcome<*mut MDB_txn> {
    if let Some(mut kept) = open.spare_writer.take() {
        // SAFETY: it was kept for whoever takes it out.
        let txn = unsafe { kept.as_mut() };
        let renewed = match &mut txn.kind {
            Kind::Write(writer) => writer.get_mut().renew(),
            Kind::Read(_) => Ok(()),
        };
        if let Err(error) = renewed {
            // SAFETY: it has ended, and nobody else has it.
            unsafe { open.spare_writer.keep(kept) };
            return Err(error.into());
        }
        txn.write_again();
        if let Some(handle) = Slab::revive(kept) {
            return Ok(handle);
        }
        // The slot has no addresses left; the transaction moves into another one.
        // SAFETY: it has ended, nobody else has it, and the slot is not looked at again.
        let moved = insert(env, || unsafe { TXNS.take(kept) });
        return moved.map(handle_of).inspect_err(|_| {
            if let Kind::Write(writer) = &mut txn.kind {
                writer.get_mut().release();
            }
            // SAFETY: as above; it was not moved.
            unsafe { free_writer(kept) };
        });
    }
    let mut writer = Writer::new(open.environment.write()?);
    let begun = insert(env, || Txn::eldest(env, open, Kind::Write(writer)));
    // SAFETY: without a handle nobody uses it.
    Ok(handle_of(
        begun.inspect_err(|_| drop(unsafe { writer.take() }))?,
    ))
}

/// Begins a transaction within another.
unsafe fn begin_child(
    env: NonNull<Env>,
    parent: *mut MDB_txn,
    flags: c_uint,
) -> Outcome<NonNull<Txn>> {
    let mut parent = TXNS.find(parent)?;
    // SAFETY: the caller's promise.
    let elder = unsafe { parent.as_mut() };
    if elder.is_read() || elder.env != env {
        return Err(Code::INVALID_ARGUMENT);
    }
    let fits = elder.state() == State::Active
        && elder.is_of_this_thread()
        && flags & MDB_RDONLY == 0
        && !elder.open.has(MDB_WRITEMAP);
    let Kind::Write(writer) = &mut elder.kind else {
        return Err(Code::INVALID_ARGUMENT);
    };
    if !fits {
        return Err(Code::BAD_TXN);
    }
    writer.get_mut().begin_nested()?;
    let (open, kind, view) = (elder.open, Kind::Write(*writer), elder.view.clone());
    let child = insert(env, || Txn::new(env, open, kind, view, Some(parent)));
    let child = child.inspect_err(|_| writer.get_mut().abort_nested())?;
    elder.child = Some(child);
    elder.set_state(State::HasChild);
    Ok(child)
}
