//! Transactions: begun, committed, aborted, reset and renewed.

use core::ffi::{c_int, c_uint};
use core::ptr;

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Out, exported};
use crate::objects::close;
use crate::objects::environment::OpenEnv;
use crate::objects::state::State;
use crate::objects::transaction::{Kind, TXNS, Txn, Writer, reading, this_thread};
use crate::slab::Slot;
use crate::types::{MDB_RDONLY, MDB_WRITEMAP, MDB_env, MDB_txn};

exported! {
    /// Begins a transaction: to read with MDB_RDONLY among flags, else to write. Other flags are
    /// ignored.
    ///
    /// There is one write transaction at a time; this call waits for it. With parent, a write
    /// transaction, it begins a child of that. The child's changes become the parent's when it
    /// commits; until then the parent cannot be used. Unless the environment has MDB_NOTLS, a
    /// thread has one read transaction at a time.
    ///
    /// A write transaction belongs to the thread that began it, unless the environment has
    /// MDB_NOLOCK. In another thread calls for it are MDB_BAD_TXN. Any thread may use a read
    /// transaction, one at a time.
    ///
    /// MDB_BAD_RSLOT: the thread has a read transaction. MDB_BAD_TXN: the parent has failed, has
    /// ended or has a child, or the thread has a write transaction. MDB_READERS_FULL.
    /// MDB_MAP_RESIZED: see mdb_env_set_mapsize. EACCES: to write in a read-only environment.
    /// MDB_PANIC: the environment must be closed, or was opened before a fork. EINVAL: NULL, not
    /// open, or the parent only reads or is of another environment.
    fn mdb_txn_begin(
        env: *mut MDB_env,
        parent: *mut MDB_txn,
        flags: c_uint,
        txn: *mut *mut MDB_txn,
    ) -> c_int { code_of(env, begin) }

    /// Returns the environment of a transaction; NULL for NULL, and for an ended transaction.
    fn mdb_txn_env(txn: *mut MDB_txn) -> *mut MDB_env { value_of(txn, ptr::null_mut(), environment) }

    /// Returns the id of a transaction: of the commit that a reader sees, or that a writer will
    /// make. 0 for NULL, and for an ended transaction.
    fn mdb_txn_id(txn: *mut MDB_txn) -> usize { value_of(txn, 0, id) }

    /// Commits a transaction and ends the handle, even if it fails. A child that lives is committed
    /// first.
    ///
    /// The cursors of a write transaction are closed. Those of a read transaction must be closed or
    /// renewed by the program. ENOSPC, EIO, MDB_MAP_FULL: nothing was committed. MDB_BAD_TXN: the
    /// transaction had failed and was aborted, or it has ended before. EINVAL: no transaction.
    ///
    /// MDB_BAD_TXN is also the result in the wrong thread (see mdb_txn_begin), and in a comparison
    /// function called within the transaction. Then the transaction lives on with all its changes.
    /// MDB_PANIC in a forked child: the transaction is the parent's.
    fn mdb_txn_commit(txn: *mut MDB_txn) -> c_int { code_of(txn, commit) }

    /// Ends a transaction without effect on the data; its children first. NULL and ended
    /// transactions are ignored.
    ///
    /// Without effect where mdb_txn_commit returns a code and the transaction lives on. But once
    /// the thread of a write transaction has ended, any thread may abort it. The environment can
    /// then be written again, unless a begin failed with MDB_PANIC before: then all later ones fail
    /// too.
    fn mdb_txn_abort(txn: *mut MDB_txn) { value_of(txn, (), abort) }

    /// Releases the snapshot of a read transaction but keeps the handle, for mdb_txn_renew. Without
    /// effect on others.
    fn mdb_txn_reset(txn: *mut MDB_txn) { value_of(txn, (), reset) }

    /// Begins a reset read transaction again, on the newest snapshot.
    ///
    /// EINVAL: it was not reset. Otherwise as mdb_txn_begin.
    fn mdb_txn_renew(txn: *mut MDB_txn) -> c_int { code_of(txn, renew) }
}

#[inline(always)]
fn begin(
    env: CHandle<MDB_env>,
    parent: CHandle<MDB_txn>,
    flags: c_uint,
    txn: Out<'_, *mut MDB_txn>,
) -> Outcome {
    txn.check()?;
    let env = env.find()?;
    let open = open_of(env)?;
    txn.store(if !parent.is_null() {
        begin_child(env, parent, flags)?
    } else if flags & MDB_RDONLY != 0 {
        begin_read(env, open)?
    } else {
        begin_write(env, open)?
    })
}

/// Returns the open environment, for its transactions.
#[inline(always)]
fn open_of(env: Slot<MDB_env>) -> Outcome<&'static OpenEnv> {
    let open: *const OpenEnv = env.get().open()?;
    // SAFETY: an environment outlives its transactions, and they alone keep this reference.
    Ok(unsafe { &*open })
}

#[inline(always)]
fn insert(env: Slot<MDB_env>, txn: impl FnOnce() -> Txn) -> Outcome<Slot<MDB_txn>> {
    TXNS.insert(env.get().number, txn)
}

/// Begins a read transaction, in a pooled one if there is one.
#[inline(always)]
fn begin_read(env: Slot<MDB_env>, open: &'static OpenEnv) -> Outcome<*mut MDB_txn> {
    let Some(mut pooled) = open.reader_pool.take(this_thread()) else {
        let read = Kind::Read(open.environment.read()?);
        return insert(env, || Txn::eldest(env, open, read)).map(Slot::handle);
    };
    let txn = pooled.get_mut();
    if let Kind::Read(read) = &mut txn.kind {
        read.renew()?;
    }
    txn.restart_reader();
    match pooled.revive() {
        Ok((_, handle)) => Ok(handle),
        // The slot has no addresses left; the transaction moves into another one.
        Err(pooled) => insert(env, || pooled.into_value()).map(Slot::handle),
    }
}

/// Begins a write transaction, in a pooled one if there is one.
#[inline(always)]
fn begin_write(env: Slot<MDB_env>, open: &'static OpenEnv) -> Outcome<*mut MDB_txn> {
    let Some(mut pooled) = open.writer_pool.take(this_thread()) else {
        let writer = Writer::new(open.environment.write()?);
        return insert(env, || Txn::eldest(env, open, Kind::Write(writer))).map(Slot::handle);
    };
    let txn = pooled.get_mut();
    if let Kind::Write(writer) = &mut txn.kind
        && let Err(error) = writer.get_mut().renew()
    {
        open.writer_pool.keep(this_thread(), pooled);
        return Err(error.into());
    }
    txn.restart_writer();
    match pooled.revive() {
        Ok((_, handle)) => Ok(handle),
        // The slot has no addresses left; the transaction moves into another one. Without memory it
        // is dropped, which aborts it.
        Err(pooled) => insert(env, || pooled.into_value()).map(Slot::handle),
    }
}

/// Begins a transaction within another.
fn begin_child(
    env: Slot<MDB_env>,
    parent: CHandle<MDB_txn>,
    flags: c_uint,
) -> Outcome<*mut MDB_txn> {
    let mut parent = parent.find()?;
    let elder = parent.get_mut();
    if elder.is_read() || elder.env != env {
        return Err(Code::INVALID_ARGUMENT);
    }
    let may_begin = elder.state() == State::Active
        && elder.is_of_this_thread()
        && flags & MDB_RDONLY == 0
        && !elder.open.has(MDB_WRITEMAP);
    if !may_begin {
        return Err(Code::BAD_TXN);
    }
    let Kind::Write(writer) = &mut elder.kind else {
        return Err(Code::INVALID_ARGUMENT);
    };
    writer.get_mut().begin_nested()?;
    let kind = Kind::Write(writer.for_child());
    let child = match insert(env, || Txn::child_of(parent, kind)) {
        Ok(child) => child,
        Err(code) => {
            if let Kind::Write(writer) = &mut parent.get_mut().kind {
                writer.get_mut().abort_nested();
            }
            return Err(code);
        }
    };
    let elder = parent.get_mut();
    elder.child = Some(child);
    elder.set_state(State::HasChild);
    Ok(child.handle())
}

fn environment(txn: CHandle<MDB_txn>) -> Outcome<*mut MDB_env> {
    Ok(txn.find()?.get().env.handle())
}

fn id(txn: CHandle<MDB_txn>) -> Outcome<usize> {
    let txn = txn.find()?;
    Ok(reading!(txn.get(), txn => txn.id()).0 as usize)
}

#[inline(always)]
fn commit(txn: CHandle<MDB_txn>) -> Outcome {
    close::commit(txn.find()?)
}

#[inline(always)]
fn abort(txn: CHandle<MDB_txn>) -> Outcome {
    close::abort(txn.find()?);
    Ok(())
}

#[inline(always)]
fn reset(txn: CHandle<MDB_txn>) -> Outcome {
    let mut txn = txn.find()?;
    let txn = txn.get_mut();
    if txn.state() == State::Active
        && let Kind::Read(read) = &mut txn.kind
    {
        txn.cursors.save_positions(read);
        read.reset();
        txn.set_state(State::Reset);
        txn.open.databases.release(&txn.view);
    }
    Ok(())
}

#[inline(always)]
fn renew(txn: CHandle<MDB_txn>) -> Outcome {
    let mut txn = txn.find()?;
    let txn = txn.get_mut();
    match (txn.state(), &mut txn.kind) {
        (State::Reset, Kind::Read(read)) => read.renew()?,
        (State::Orphaned, _) => return Err(Code::BAD_TXN),
        _ => return Err(Code::INVALID_ARGUMENT),
    }
    txn.restart_reader();
    Ok(())
}
