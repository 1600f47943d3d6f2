//! The value behind a transaction's handle.
//!
//! A family of nested transactions shares the write transaction of the engine, which undoes level
//! by level. Each knows its parent and its child, and only the youngest may be used. A write
//! transaction belongs to the thread that began it, as the writer mutex does.

use alloc::boxed::Box;
use core::cell::Cell;
use core::fmt;
use core::ptr;
use core::ptr::NonNull;

use fulgurite::{CustomOrder, Database, DatabaseFlags, ReadTxn, Snapshot, WriteTxn};

use crate::codes::{Code, Outcome};
use crate::ffi::Caller;
use crate::objects::databases::{FREE_LIST, HandleView};
use crate::objects::environment::{OpenEnv, assert_function_of};
use crate::objects::order::{BusyGuard, begin_comparisons};
use crate::objects::state::State;
use crate::slab::{Handle, Retired, Slab, Slot};
use crate::types::{MDB_NOLOCK, MDB_assert_func, MDB_cursor, MDB_dbi, MDB_env, MDB_txn, MDB_val};

/// The value behind a transaction's handle.
#[derive(Debug)]
pub(crate) struct Txn {
    pub(crate) kind: Kind,
    pub(crate) state: Cell<State>,
    /// The environment outlives its transactions: closing it ends them, or waits for them.
    pub(crate) open: &'static OpenEnv,
    pub(crate) env: Slot<MDB_env>,
    /// The thread it belongs to; 0 for all.
    thread: u64,
    /// The database handles that are valid in it.
    pub(crate) view: HandleView,
    /// Flags of the main database that were asked for in a read transaction, which cannot store
    /// them.
    pub(crate) main_flags: Cell<u32>,
    /// True if the closed environment waits for its end.
    pub(crate) is_awaited: Cell<bool>,
    pub(crate) parent: Option<Slot<MDB_txn>>,
    pub(crate) child: Option<Slot<MDB_txn>>,
    pub(crate) cursors: CursorList,
}

/// All transactions.
pub(crate) static TXNS: Slab<MDB_txn> = Slab::new();

impl Handle for MDB_txn {
    type Value = Txn;
    const SLOT_BYTES: usize = 1024;
    const FIRST_SLOTS: usize = 4096;
    const WAITING_SLOTS: usize = 1024;
    const ENDED: Code = Code::BAD_TXN;

    #[inline(always)]
    fn slab() -> &'static Slab<MDB_txn> {
        &TXNS
    }
}

/// The cursors of a transaction: a list through the cursors themselves.
#[derive(Default)]
pub(crate) struct CursorList {
    pub(crate) first: Cell<Option<Slot<MDB_cursor>>>,
    /// A closed cursor of a reader, for the next one to be opened: many programs open one for each
    /// read.
    pub(crate) spare: Cell<Option<Retired<MDB_cursor>>>,
}

impl fmt::Debug for CursorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CursorList").finish_non_exhaustive()
    }
}

/// The engine's transaction.
#[derive(Debug)]
pub(crate) enum Kind {
    Read(ReadTxn<'static>),
    Write(Writer),
}

/// The engine's write transaction, shared by a family of nested ones. The eldest owns it.
#[derive(Debug)]
pub(crate) struct Writer {
    txn: NonNull<WriteTxn<'static>>,
    is_owner: bool,
}

impl Writer {
    /// Returns the writer of the eldest of a family.
    pub(crate) fn new(txn: WriteTxn<'static>) -> Writer {
        Writer {
            txn: NonNull::from(Box::leak(Box::new(txn))),
            is_owner: true,
        }
    }

    /// Returns the writer of a child.
    pub(crate) const fn for_child(&self) -> Writer {
        Writer {
            txn: self.txn,
            is_owner: false,
        }
    }

    /// Returns the engine's transaction.
    #[inline(always)]
    pub(crate) fn get(&self) -> &WriteTxn<'static> {
        // SAFETY: the eldest of the family frees it, after its children have ended. One thread uses
        // the family, one call at a time, and a call uses one member's reference at a time.
        unsafe { self.txn.as_ref() }
    }

    /// Returns the engine's transaction, for changing.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self) -> &mut WriteTxn<'static> {
        // SAFETY: the eldest of the family frees it, after its children have ended. One thread uses
        // the family, one call at a time, and a call uses one member's reference at a time.
        unsafe { self.txn.as_mut() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.is_owner {
            // SAFETY: `new` leaked it from a box. There is one owner, and children end before the
            // eldest is freed.
            drop(unsafe { Box::from_raw(self.txn.as_ptr()) });
        }
    }
}

impl Txn {
    /// Returns a transaction without a parent, which begins now.
    #[inline(always)]
    pub(crate) fn eldest(env: Slot<MDB_env>, open: &'static OpenEnv, kind: Kind) -> Txn {
        Txn::new(env, open, kind, HandleView::new(open.databases.now()), None)
    }

    /// Returns a child of a transaction.
    pub(crate) fn child_of(parent: Slot<MDB_txn>, kind: Kind) -> Txn {
        let elder = parent.get();
        Txn::new(
            elder.env,
            elder.open,
            kind,
            elder.view.clone(),
            Some(parent),
        )
    }

    #[inline(always)]
    fn new(
        env: Slot<MDB_env>,
        open: &'static OpenEnv,
        kind: Kind,
        view: HandleView,
        parent: Option<Slot<MDB_txn>>,
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

    /// Returns the database of a handle, or the free list.
    /// # Errors
    /// EINVAL, BAD_DBI; BAD_TXN as for [`Self::check_usable`], but not for one that has failed or
    /// has a child.
    #[inline(always)]
    pub(crate) fn database(&self, dbi: MDB_dbi) -> Outcome<Database> {
        match self.state.get() {
            State::Active | State::HasChild => {}
            State::Reset => return Err(Code::INVALID_ARGUMENT),
            State::Busy | State::Orphaned => return Err(Code::BAD_TXN),
        }
        self.open.databases.database(dbi, &self.view)
    }

    /// Returns the database of a handle.
    /// # Errors
    /// As [`Self::database`]; EINVAL for the free list.
    #[inline(always)]
    pub(crate) fn user_database(&self, dbi: MDB_dbi) -> Outcome<Database> {
        if dbi == FREE_LIST {
            return Err(Code::INVALID_ARGUMENT);
        }
        self.database(dbi)
    }

    /// Refuses use unless the transaction is active, has not failed, and belongs to this thread.
    /// # Errors
    /// BAD_TXN.
    #[inline(always)]
    pub(crate) fn check_usable(&self) -> Outcome {
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

    /// Returns the engine's transaction, for changing.
    /// # Errors
    /// EACCES if it only reads; BAD_TXN as for [`Self::check_usable`].
    #[inline]
    pub(crate) fn writer(&mut self) -> Outcome<&mut WriteTxn<'static>> {
        let usable = self.check_usable();
        match &mut self.kind {
            Kind::Read(_) => Err(Code::NO_ACCESS),
            Kind::Write(writer) => usable.map(|()| writer.get_mut()),
        }
    }

    /// As [`Self::writer`], for a call with this key and data that may run a comparison function.
    /// # Errors
    /// As there.
    #[inline(always)]
    pub(crate) fn busy_writer(
        &mut self,
        key: *const MDB_val,
        data: *const MDB_val,
    ) -> Outcome<(&mut WriteTxn<'static>, Option<BusyGuard<'_>>)> {
        let usable = self.check_usable();
        match &mut self.kind {
            Kind::Read(_) => Err(Code::NO_ACCESS),
            Kind::Write(writer) => {
                usable?;
                let busy = begin_comparisons(self.open, &self.state, key, data);
                Ok((writer.get_mut(), busy))
            }
        }
    }

    /// Prepares a call without key and data that may run a comparison function.
    #[inline]
    pub(crate) fn begin_comparisons(&self) -> Option<BusyGuard<'_>> {
        begin_comparisons(self.open, &self.state, ptr::null(), ptr::null())
    }

    /// Returns the stored flags of a database, also when the transaction has failed.
    /// # Errors
    /// BAD_TXN within a call, and once the environment was closed.
    pub(crate) fn flags(&self, database: Database) -> Outcome<DatabaseFlags> {
        if matches!(self.state(), State::Busy | State::Orphaned) {
            return Err(Code::BAD_TXN);
        }
        let _busy = self.begin_comparisons();
        Ok(reading!(self, txn => txn.flags(database))?)
    }

    /// Returns the number of its environment.
    pub(crate) fn environment(&self) -> usize {
        self.env.get().number
    }

    /// Returns true for a read transaction.
    pub(crate) const fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read(_))
    }

    /// Returns true if the calling thread may use and end it.
    #[inline(always)]
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.thread == 0 || self.thread == this_thread()
    }

    /// Returns the state.
    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        self.state.get()
    }

    /// Sets the state.
    #[inline(always)]
    pub(crate) fn set_state(&self, state: State) {
        self.state.set(state);
    }

    /// Sets the order of keys.
    pub(crate) fn set_key_order(&mut self, database: Database, order: Option<CustomOrder>) {
        match &mut self.kind {
            Kind::Read(read) => read.set_key_order(database, order),
            Kind::Write(writer) => writer.get_mut().set_key_order(database, order),
        }
    }

    /// Sets the order of values.
    pub(crate) fn set_value_order(&mut self, database: Database, order: Option<CustomOrder>) {
        match &mut self.kind {
            Kind::Read(read) => read.set_value_order(database, order),
            Kind::Write(writer) => writer.get_mut().set_value_order(database, order),
        }
    }

    /// Lets an ended writer begin again, for the calling thread.
    pub(crate) fn restart_writer(&mut self) {
        debug_assert!(self.parent.is_none(), "only the eldest is kept for reuse");
        self.view.restart(self.open.databases.now());
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

    /// Lets an ended or reset reader begin again.
    pub(crate) fn restart_reader(&self) {
        debug_assert!(self.is_read(), "writers restart differently");
        self.view.begin(self.open.databases.now());
        self.main_flags.set(0);
        self.state.set(State::Active);
    }
}

impl Caller for *mut MDB_txn {
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)> {
        assert_function_of(TXNS.find(self).ok()?.get().env)
    }
}

/// Returns a number of the calling thread, for as long as it lives.
#[inline(always)]
pub(crate) fn this_thread() -> u64 {
    fulgurite::thread_word()
}

/// Reads from the engine's transaction of either kind.
macro_rules! reading {
    ($txn:expr, $read:ident => $work:expr) => {
        match &$txn.kind {
            $crate::objects::transaction::Kind::Read($read) => $work,
            $crate::objects::transaction::Kind::Write(writer) => {
                let $read = writer.get();
                $work
            }
        }
    };
}
pub(crate) use reading;
