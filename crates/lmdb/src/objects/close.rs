//! The end of transactions, by commit, abort or the end of their environment; and the end of
//! environments.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::codes::{Code, Outcome};
use crate::objects::cursor::CURSORS;
use crate::objects::order::begin_comparisons;
use crate::objects::state::State;
use crate::objects::transaction::{Kind, TXNS, Txn, this_thread};
use crate::slab::Slot;
use crate::types::{MDB_env, MDB_txn};

/// Commits a transaction with its children, and frees them even if that fails.
/// # Errors
/// BAD_TXN if it may not end now: then it lives on. Otherwise the errors of the commit.
#[inline(always)]
pub(crate) fn commit(txn: Slot<MDB_txn>) -> Outcome {
    if end_reader(txn, true) {
        return Ok(());
    }
    commit_writer(txn)
}

/// Undoes a transaction with its children and frees them. Without effect if it may not end now.
#[inline(always)]
pub(crate) fn abort(txn: Slot<MDB_txn>) {
    if end_reader(txn, false) || end_simple_writer(txn) {
        return;
    }
    if may_be_undone(&txn) {
        undo(txn);
    }
}

/// Ends a reader; returns false for a writer, and for a reader of a closed environment.
#[inline(always)]
fn end_reader(mut txn: Slot<MDB_txn>, commits: bool) -> bool {
    let ended = txn.get_mut();
    let Kind::Read(read) = &mut ended.kind else {
        return false;
    };
    if !matches!(ended.state.get(), State::Active | State::Reset) {
        return false;
    }
    read.release();
    ended.cursors.orphan_all();
    let open = ended.open;
    if commits {
        open.databases.publish(&ended.view);
    }
    open.databases.release(&ended.view);
    // SAFETY: a reader has no family, and its cursors refer to it no longer.
    let retired = unsafe { txn.retire() };
    open.reader_pool.keep(this_thread(), retired);
    true
}

/// Undoes a writer without family and cursors, the usual one; returns false for others.
#[inline(always)]
fn end_simple_writer(mut txn: Slot<MDB_txn>) -> bool {
    let ended = txn.get_mut();
    let is_simple = ended.state.get() == State::Active
        && ended.parent.is_none()
        && ended.cursors.is_empty()
        && ended.is_of_this_thread();
    let Kind::Write(writer) = &mut ended.kind else {
        return false;
    };
    if !is_simple {
        return false;
    }
    writer.get_mut().release();
    let open = ended.open;
    open.databases.release(&ended.view);
    // SAFETY: no parent, child or cursor refers to it: an active transaction has no child.
    let retired = unsafe { txn.retire() };
    open.writer_pool.keep(this_thread(), retired);
    true
}

#[inline(never)]
fn commit_writer(txn: Slot<MDB_txn>) -> Outcome {
    if !txn.get().is_of_this_thread() || is_called_back(txn) {
        return Err(Code::BAD_TXN);
    }
    if txn.get().state() == State::Orphaned {
        undo(txn);
        return Err(Code::BAD_TXN);
    }
    commit_family(txn)
}

/// Ends the transactions of an environment that is being closed. A transaction that cannot be ended
/// now only accepts commit and abort from here on. `keep` is called for each of them, and
/// [`stop_lingering`] after its end.
pub(crate) fn end_all_of(environment: usize, is_inherited: bool, keep: impl Fn()) {
    for txn in TXNS.of_owner(environment) {
        // A child has no handle any more once its parent was ended.
        if txn.handle().is_null() || txn.get().parent.is_some() {
            continue;
        }
        if is_inherited || may_be_undone(&txn) {
            undo(txn);
            continue;
        }
        keep();
        txn.get().is_awaited.set(true);
        let mut family = Some(txn);
        while let Some(member) = family {
            member.get().set_state(State::Orphaned);
            family = member.get().child;
        }
    }
}

/// Frees the cursors of an environment that is being closed, except those of transactions that
/// could not be ended.
pub(crate) fn end_cursors_of(environment: usize) {
    for cursor in CURSORS.of_owner(environment) {
        if cursor.get().txn.is_none() {
            // SAFETY: without a transaction it is in no list, so nothing else refers to it.
            drop(unsafe { cursor.retire() });
        }
    }
}

/// Commits a transaction after its child.
fn commit_family(mut txn: Slot<MDB_txn>) -> Outcome {
    if let Some(child) = txn.get().child
        && let Err(code) = commit_family(child)
    {
        undo(txn);
        return Err(code);
    }
    let ended = txn.get_mut();
    ended.end_cursors();
    let parent = ended.parent;
    let result = match &mut ended.kind {
        Kind::Read(_) => Ok(()),
        Kind::Write(writer) if parent.is_some() => {
            let result = writer.get_mut().commit_nested();
            if result.is_err() {
                // A child that cannot be committed fails its parent too.
                writer.get_mut().mark_failed();
            }
            result
        }
        Kind::Write(writer) => {
            let _busy = begin_comparisons(ended.open, &ended.state, ptr::null(), ptr::null());
            writer.get_mut().commit_and_release()
        }
    };
    if let Some(parent) = parent {
        end_child(txn, parent, result.is_ok());
        return result.map_err(Code::from);
    }
    match result {
        Ok(()) => ended.open.databases.publish(&ended.view),
        Err(_) => ended.open.databases.release(&ended.view),
    }
    free_eldest(txn);
    result.map_err(Code::from)
}

/// Undoes a transaction after its child.
#[inline(never)]
fn undo(mut txn: Slot<MDB_txn>) {
    if let Some(child) = txn.get().child {
        undo(child);
    }
    let ended = txn.get_mut();
    ended.end_cursors();
    let parent = ended.parent;
    if let Kind::Write(writer) = &mut ended.kind {
        if let Some(parent) = parent {
            writer.get_mut().abort_nested();
            end_child(txn, parent, false);
            return;
        }
        writer.get_mut().release();
    }
    ended.open.databases.release(&ended.view);
    free_eldest(txn);
}

/// Frees a child whose changes have become its parent's, or have been undone.
fn end_child(child: Slot<MDB_txn>, mut parent: Slot<MDB_txn>, committed: bool) {
    debug_assert!(
        parent.get().child == Some(child),
        "parent and child know each other"
    );
    parent.get_mut().child_ended(child.get(), committed);
    // SAFETY: its cursors and its own child have ended, and its parent refers to it no longer.
    drop(unsafe { child.retire() });
}

/// Ends a transaction without a parent: a writer is kept for the next one, unless its environment
/// is closed.
fn free_eldest(txn: Slot<MDB_txn>) {
    let Txn { open, env, .. } = *txn.get();
    let (is_awaited, is_read) = (txn.get().is_awaited.get(), txn.get().is_read());
    // SAFETY: its cursors have ended or refer to it no longer, and so has its child.
    let retired = unsafe { txn.retire() };
    if is_awaited {
        drop(retired);
        stop_lingering(env);
    } else if is_read {
        drop(retired);
    } else {
        open.writer_pool.keep(this_thread(), retired);
    }
}

/// Returns true if a comparison function runs in this transaction or in a child of it.
fn is_called_back(txn: Slot<MDB_txn>) -> bool {
    let mut member = txn;
    loop {
        if member.get().state() == State::Busy {
            return true;
        }
        match member.get().child {
            Some(child) => member = child,
            None => return false,
        }
    }
}

/// Returns true if a transaction may be aborted now by this thread.
fn may_be_undone(txn: &Slot<MDB_txn>) -> bool {
    if is_called_back(*txn) {
        return false;
    }
    let txn = txn.get();
    txn.is_of_this_thread() || txn.open.environment.writer_is_gone()
}

impl Txn {
    /// Ends the relation to a child, and takes over its database handles if it was committed.
    fn child_ended(&mut self, child: &Txn, committed: bool) {
        self.child = None;
        if self.state() == State::HasChild {
            self.set_state(State::Active);
        }
        if committed {
            self.view.take_over(&child.view);
        } else {
            self.open.databases.release_new(&child.view, &self.view);
            self.view.take_over_closed(&child.view);
        }
    }

    /// Ends the cursors: those of a writer are freed, those of a reader wait to be renewed.
    fn end_cursors(&mut self) {
        if self.is_read() {
            self.cursors.orphan_all();
            return;
        }
        while let Some(id) = self.cursors.free_first() {
            if let Kind::Write(writer) = &mut self.kind
                && self.parent.is_some()
            {
                writer.get_mut().close_cursor(id);
            }
        }
    }
}

/// Keeps a closed environment for another transaction, or for the call that closes it.
pub(crate) fn linger(env: Slot<MDB_env>) {
    env.get().lingering.fetch_add(1, Ordering::AcqRel);
}

/// Ends a [`linger`], and frees the environment with the last of them.
pub(crate) fn stop_lingering(env: Slot<MDB_env>) {
    if env.get().lingering.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: the environment has no handle, its transactions have ended, and the last call
        // that used it ends here.
        drop(unsafe { env.retire() });
    }
}
