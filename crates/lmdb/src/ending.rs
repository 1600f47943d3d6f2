//! How transactions end: committed, aborted, or with their environment.

use std::ptr::{self, NonNull};

use crate::codes::{Code, Outcome};
use crate::compare::lend;
use crate::env::stop_lingering;
use crate::slab::Slab;
use crate::spare::free_writer;
use crate::transaction::{Kind, State, Txn, handle_of};
use crate::txn::TXNS;

/// Commits a transaction and its children, and frees them whatever the result; unless it may not end now, which is
/// BAD_TXN, and then it lives on.
///
/// # Safety
/// It lives, and nobody else uses its family.
#[inline]
pub(crate) unsafe fn commit(txn: NonNull<Txn>) -> Outcome {
    // SAFETY: the caller's promise.
    if unsafe { end_reader(txn, true) } {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { commit_writer(txn) }
}

/// Ends a transaction and its children without a trace; unless it may not end now: then it lives on.
///
/// # Safety
/// As [`commit`].
#[inline]
pub(crate) unsafe fn abort(txn: NonNull<Txn>) {
    // SAFETY: the caller's promise.
    if unsafe { end_reader(txn, false) } || unsafe { end_lone_writer(txn) } {
        return;
    }
    // SAFETY: as above.
    if unsafe { txn.as_ref() }.may_be_undone() {
        // SAFETY: as above.
        unsafe { undo(txn) };
    }
}

/// Ends a reader that nothing is special about; `false` if it is none.
#[inline(always)]
unsafe fn end_reader(mut txn: NonNull<Txn>, commits: bool) -> bool {
    // SAFETY: the caller's promise.
    let ended = unsafe { txn.as_mut() };
    let Kind::Read(read) = &mut ended.kind else {
        return false;
    };
    if !matches!(ended.state.get(), State::Active | State::Reset) {
        return false;
    }
    read.release();
    ended.cursors.orphan_all();
    let handles = &ended.open.handles;
    if commits {
        handles.publish(&ended.view);
    }
    handles.release(&ended.view);
    Slab::retire(txn);
    // SAFETY: the caller's promise; the handle is gone.
    unsafe { ended.open.spare_readers.keep(txn) };
    true
}

/// Undoes a writer that nothing is special about: the eldest of a family without others, without cursors; `false` if it is
/// none.
#[inline(always)]
unsafe fn end_lone_writer(mut txn: NonNull<Txn>) -> bool {
    // SAFETY: the caller's promise.
    let ended = unsafe { txn.as_mut() };
    let is_lone = ended.state.get() == State::Active
        && ended.parent.is_none()
        && ended.cursors.are_none()
        && ended.is_of_this_thread();
    let Kind::Write(writer) = &mut ended.kind else {
        return false;
    };
    if !is_lone {
        return false;
    }
    writer.get_mut().release();
    ended.open.handles.release(&ended.view);
    Slab::retire(txn);
    // SAFETY: the caller's promise; the handle is gone.
    unsafe { ended.open.spare_writer.keep(txn) };
    true
}

#[inline(never)]
unsafe fn commit_writer(txn: NonNull<Txn>) -> Outcome {
    // SAFETY: the caller's promise.
    let ended = unsafe { txn.as_ref() };
    if !ended.is_of_this_thread() || ended.is_called_back() {
        return Err(Code::BAD_TXN);
    }
    if ended.state() == State::Orphaned {
        // SAFETY: the caller's promise.
        unsafe { undo(txn) };
        return Err(Code::BAD_TXN);
    }
    // SAFETY: as above.
    unsafe { make_good(txn) }
}

/// Ends the transactions of an environment that is being closed. Those that cannot be ended now are only good for being
/// ended from here on; `keep` is called for each, and [`stop_lingering`] once it has ended.
///
/// # Safety
/// Nobody else uses them at this moment.
pub(crate) unsafe fn end_all_of(environment: usize, is_inherited: bool, keep: impl Fn()) {
    for txn in TXNS.of_owner(environment) {
        if handle_of(txn).is_null() {
            // It ended with its parent.
            continue;
        }
        // SAFETY: it has a handle, so it lives.
        let last = unsafe { txn.as_ref() };
        if last.parent.is_some() {
            continue;
        }
        if is_inherited || last.may_be_undone() {
            // SAFETY: the caller's promise.
            unsafe { undo(txn) };
            continue;
        }
        keep();
        last.is_awaited.set(true);
        let mut family = Some(txn);
        while let Some(member) = family {
            // SAFETY: children live no longer than their parents know them.
            let member = unsafe { member.as_ref() };
            member.set_state(State::Orphaned);
            family = member.child;
        }
    }
}

unsafe fn make_good(txn: NonNull<Txn>) -> Outcome {
    let mut ended = txn;
    // SAFETY: the caller's promise.
    let ended = unsafe { ended.as_mut() };
    if let Some(child) = ended.child {
        // SAFETY: a child that ends clears itself from its parent, so this one lives.
        if let Err(code) = unsafe { make_good(child) } {
            // SAFETY: as the caller promises of this one.
            unsafe { undo(txn) };
            return Err(code);
        }
    }
    ended.end_cursors();
    let parent = ended.parent;
    let result = match &mut ended.kind {
        Kind::Read(_) => Ok(()),
        Kind::Write(writer) => match parent {
            Some(mut parent) => {
                let result = writer.get_mut().commit_nested();
                if result.is_err() {
                    // A child that cannot be committed takes its parent along.
                    writer.get_mut().mark_failed();
                }
                // SAFETY: a parent outlives its child, and nobody else uses it now.
                let parent = unsafe { parent.as_mut() };
                parent.child_ended(ended, result.is_ok());
                // SAFETY: the caller's promise.
                unsafe { TXNS.remove(txn) };
                return result.map_err(Code::from);
            }
            None => {
                let _lent = lend(ended.open, &ended.state, ptr::null(), ptr::null());
                writer.get_mut().commit_and_release()
            }
        },
    };
    match result {
        Ok(()) => ended.open.handles.publish(&ended.view),
        Err(_) => ended.open.handles.release(&ended.view),
    }
    // SAFETY: the caller's promise.
    unsafe { finish(txn) };
    result.map_err(Code::from)
}

#[inline(never)]
unsafe fn undo(txn: NonNull<Txn>) {
    let mut ended = txn;
    // SAFETY: the caller's promise.
    let ended = unsafe { ended.as_mut() };
    if let Some(child) = ended.child {
        // SAFETY: a child that ends clears itself from its parent, so this one lives.
        unsafe { undo(child) };
    }
    ended.end_cursors();
    let parent = ended.parent;
    if let Kind::Write(writer) = &mut ended.kind {
        if let Some(mut parent) = parent {
            writer.get_mut().abort_nested();
            // SAFETY: a parent outlives its child, and nobody else uses it now.
            unsafe { parent.as_mut() }.child_ended(ended, false);
            // SAFETY: the caller's promise.
            unsafe { TXNS.remove(txn) };
            return;
        }
        writer.get_mut().release();
    }
    ended.open.handles.release(&ended.view);
    // SAFETY: the caller's promise.
    unsafe { finish(txn) };
}

/// Keeps the eldest of a family of write transactions for the next, now that it has ended; frees it if its environment is
/// closed.
unsafe fn finish(txn: NonNull<Txn>) {
    // SAFETY: the caller's promise.
    let ended = unsafe { txn.as_ref() };
    let is_kept = !ended.is_read();
    if let Some(env) = ended.is_awaited.get().then_some(ended.env) {
        // SAFETY: as above.
        unsafe { free_ended(txn) };
        // SAFETY: closing the environment has waited for this one.
        unsafe { stop_lingering(env) };
    } else if is_kept {
        Slab::retire(txn);
        // SAFETY: as above; the handle is gone.
        unsafe { ended.open.spare_writer.keep(txn) };
    } else {
        // SAFETY: as above.
        unsafe { free_ended(txn) };
    }
}

/// Frees a transaction that has ended.
unsafe fn free_ended(txn: NonNull<Txn>) {
    // SAFETY: the caller's promise.
    if unsafe { txn.as_ref() }.is_read() {
        // SAFETY: as above.
        unsafe { TXNS.remove(txn) };
    } else {
        // SAFETY: as above; the whole family has ended.
        unsafe { free_writer(txn) };
    }
}

impl Txn {
    /// Whether a call is under way that the program was called back from, in this one or a child of it.
    fn is_called_back(&self) -> bool {
        let mut member = self;
        loop {
            if member.state() == State::Busy {
                return true;
            }
            match &member.child {
                // SAFETY: children live as long as their parents know them.
                Some(child) => member = unsafe { child.as_ref() },
                None => return false,
            }
        }
    }

    /// Whether it may be aborted now and here.
    fn may_be_undone(&self) -> bool {
        if self.is_called_back() {
            return false;
        }
        self.is_of_this_thread() || self.open.environment.writer_is_gone()
    }

    /// Takes over what a child leaves: the handles it opened, if it was committed.
    fn child_ended(&mut self, child: &Txn, committed: bool) {
        self.child = None;
        if self.state() == State::HasChild {
            self.set_state(State::Active);
        }
        if committed {
            self.view.take_over(&child.view);
        } else {
            self.open.handles.release_new(&child.view, &self.view);
            self.view.learn(&child.view);
        }
    }

    /// Ends the cursors with the transaction: those of a writer are freed, those of a reader wait to be renewed.
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
