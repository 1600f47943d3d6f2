//! What is behind a transaction's handle, and who may use it when.
//!
//! ```text
//!             .---- a child begins ----> HasChild ---- it ends ----.
//!          Active <------------------------------------------------'        only an active one can be used
//!             |---- a call asks the program for an order ----> Busy ---- it has answered ---> Active
//!             |---- reset ----> Reset ---- renew ----> Active                         readers only
//!             '---- the environment is closed, and this cannot be ended ----> Orphaned
//! ```
//!
//! A write transaction belongs to the thread that began it, as the mutex does that lets it write.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use fulgurite::{CustomOrder, Database, DatabaseFlags, ReadTxn, Snapshot, WriteTxn};

use crate::codes::{Code, Outcome};
use crate::compare::{Lent, lend};
use crate::cursor::CursorList;
use crate::env::{Env, Open};
use crate::handles::{FREE_LIST, View};
use crate::slab::Slab;
use crate::types::{MDB_NOLOCK, MDB_dbi, MDB_val};

/// What is behind a transaction's handle.
#[derive(Debug)]
pub(crate) struct Txn {
    pub(crate) kind: Kind,
    pub(crate) state: Cell<State>,
    /// The environment outlives its transactions: closing it ends them, or waits for them.
    pub(crate) open: &'static Open,
    pub(crate) env: NonNull<Env>,
    /// The thread it belongs to; 0 for all.
    thread: u64,
    /// The database handles that are good for it.
    pub(crate) view: View,
    /// Flags of the main database that it asked for but cannot store.
    pub(crate) main_flags: Cell<u32>,
    /// Whether the closed environment waits for its end.
    pub(crate) is_awaited: Cell<bool>,
    pub(crate) parent: Option<NonNull<Txn>>,
    pub(crate) child: Option<NonNull<Txn>>,
    pub(crate) cursors: CursorList,
}

/// What the transaction may do.
#[derive(Debug)]
pub(crate) enum Kind {
    Read(ReadTxn<'static>),
    Write(Writer),
}

/// The engine's write transaction, shared by a family of nested ones; the eldest owns it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer(NonNull<WriteTxn<'static>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Active,
    /// A child is to be ended first.
    HasChild,
    /// Without a snapshot until renewed.
    Reset,
    /// A call is under way that asks the program for an order.
    Busy,
    /// The environment was closed; only ending it is left.
    Orphaned,
}

impl Writer {
    pub(crate) fn new(txn: WriteTxn<'static>) -> Writer {
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
    pub(crate) unsafe fn take(&mut self) -> WriteTxn<'static> {
        // SAFETY: made by `new`, and taken once, as the caller promises.
        *unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}

impl Txn {
    /// A transaction that begins now, of an environment's own.
    #[inline(always)]
    pub(crate) fn eldest(env: NonNull<Env>, open: &'static Open, kind: Kind) -> Txn {
        Txn::new(env, open, kind, View::new(open.handles.now()), None)
    }

    #[inline(always)]
    pub(crate) fn new(
        env: NonNull<Env>,
        open: &'static Open,
        kind: Kind,
        view: View,
        parent: Option<NonNull<Txn>>,
    ) -> Txn {
        let is_bound = matches!(kind, Kind::Write(_)) && !open.has(MDB_NOLOCK);
        Txn {
            kind,
            state: Cell::new(State::Active),
            open,
            env,
            thread: if is_bound { this_thread() } else { 0 },
            view,
            main_flags: Cell::new(0),
            is_awaited: Cell::new(false),
            parent,
            child: None,
            cursors: CursorList::default(),
        }
    }

    /// What a handle means here, the list of free pages included.
    /// # Errors
    /// EINVAL, BAD_DBI; BAD_TXN as for [`Self::check_free`], but not for one that has failed or has a child.
    #[inline]
    pub(crate) fn database(&self, dbi: MDB_dbi) -> Outcome<Database> {
        match self.state.get() {
            State::Active | State::HasChild => {}
            State::Reset => return Err(Code::INVALID_ARGUMENT),
            State::Busy | State::Orphaned => return Err(Code::BAD_TXN),
        }
        self.open.handles.database(dbi, &self.view)
    }

    /// What a handle means here, if it is a database of the user's.
    /// # Errors
    /// As [`Self::database`].
    #[inline]
    pub(crate) fn user_database(&self, dbi: MDB_dbi) -> Outcome<Database> {
        if dbi == FREE_LIST {
            return Err(Code::INVALID_ARGUMENT);
        }
        self.database(dbi)
    }

    /// Refuses use while a child lives, while a call is under way, after a reset, after an error that left a change
    /// incomplete, once the environment was closed, and of a write transaction by another thread.
    #[inline(always)]
    pub(crate) fn check_free(&self) -> Outcome {
        match (self.state.get(), &self.kind) {
            (State::Active, Kind::Read(_)) => Ok(()),
            (State::Active, Kind::Write(writer))
                if self.is_of_this_thread() && !writer.get().is_failed() =>
            {
                Ok(())
            }
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

    /// As [`Self::writer`], for a call with this key and data that may ask the program for an order: see [`lend`].
    /// # Errors
    /// As there.
    #[inline(always)]
    pub(crate) fn lent_writer(
        &mut self,
        key: *const MDB_val,
        data: *const MDB_val,
    ) -> Outcome<(&mut WriteTxn<'static>, Option<Lent<'_>>)> {
        let free = self.check_free();
        match &mut self.kind {
            Kind::Read(_) => Err(Code::NO_ACCESS),
            Kind::Write(writer) => {
                free?;
                let lent = lend(self.open, &self.state, key, data);
                Ok((writer.get_mut(), lent))
            }
        }
    }

    /// For a call without key and data: see [`lend`].
    #[inline]
    pub(crate) fn lend(&self) -> Option<Lent<'_>> {
        lend(self.open, &self.state, ptr::null(), ptr::null())
    }

    /// The flags of a database, as they are stored; also known when the transaction has failed.
    /// # Errors
    /// BAD_TXN within a call, and once the environment was closed.
    pub(crate) fn flags(&self, database: Database) -> Outcome<DatabaseFlags> {
        if matches!(self.state(), State::Busy | State::Orphaned) {
            return Err(Code::BAD_TXN);
        }
        let _lent = self.lend();
        Ok(reading!(self, txn => txn.flags(database))?)
    }

    /// Number of its environment.
    pub(crate) fn environment(&self) -> usize {
        // SAFETY: an environment outlives its transactions.
        unsafe { self.env.as_ref() }.number
    }

    pub(crate) const fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read(_))
    }

    /// Whether the calling thread may use and end it.
    #[inline]
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.thread == 0 || self.thread == this_thread()
    }

    pub(crate) fn state(&self) -> State {
        self.state.get()
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.set(state);
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

    /// Makes a writer that has ended what it was when it began first, for the calling thread.
    pub(crate) fn write_again(&mut self) {
        self.view.restart(self.open.handles.now());
        self.main_flags.set(0);
        self.is_awaited.set(false);
        self.child = None;
        self.thread = if self.open.has(MDB_NOLOCK) {
            0
        } else {
            this_thread()
        };
        self.state.set(State::Active);
    }

    /// Makes a reader what it was when it began first.
    pub(crate) fn begin_again(&self) {
        self.view.begin(self.open.handles.now());
        self.main_flags.set(0);
        self.state.set(State::Active);
    }
}

/// The handle of a transaction.
pub(crate) fn handle_of(txn: NonNull<Txn>) -> *mut crate::txn::MDB_txn {
    Slab::handle(txn)
}

/// A number of the calling thread, for as long as it lives.
#[inline]
pub(crate) fn this_thread() -> u64 {
    fulgurite::thread_word()
}

/// Reads from the engine's transaction, of whatever kind.
macro_rules! reading {
    ($txn:expr, $read:ident => $work:expr) => {
        match &$txn.kind {
            $crate::transaction::Kind::Read($read) => $work,
            $crate::transaction::Kind::Write(writer) => {
                let $read = writer.get();
                $work
            }
        }
    };
}
pub(crate) use reading;
