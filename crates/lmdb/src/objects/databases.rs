//! The environment's table of database handles: small numbers, each valid in some transactions and
//! not in others.
//!
//! A handle is private to the transaction that opened it. The commit makes it public: valid in
//! transactions that begin later. A closed handle stays valid in transactions that began before. So
//! each slot has two times, and a transaction the time at which it began. The clock ticks with
//! every commit of new handles and every closing.
//!
//! ```text
//!   clock  ---- opened ---------------------- closed ------------>
//!                 |  transactions that began here  |
//! ```

use alloc::boxed::Box;
use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicU64, Ordering};
use fulgurite::platform::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_utils::atomic::AtomicCell;
use fulgurite::{Database, NameMap};

use super::handle_set::HandleSet;
use super::sorted_map::SortedMap;
use crate::codes::{Code, Outcome};
use crate::types::MDB_dbi;

/// Handle of the free list.
pub(crate) const FREE_LIST: MDB_dbi = 0;
/// Handle of the main database.
pub(crate) const MAIN: MDB_dbi = 1;
/// Number of handles that every environment has.
const FIXED: usize = 2;

/// The time of an event that has not happened.
const NEVER: u64 = u64::MAX;

/// The database handles of an environment.
#[derive(Debug)]
pub(crate) struct DatabaseHandles {
    slots: Box<[Slot]>,
    clock: AtomicU64,
    table: Mutex<Table>,
}

/// The part of a handle that every operation reads, without a lock.
#[derive(Debug)]
struct Slot {
    opened: AtomicU64,
    closed: AtomicU64,
    /// Changes whenever the slot is given to another opening.
    serial: AtomicU64,
    database: AtomicCell<Database>,
}

/// The part that only opening and closing use.
#[derive(Debug)]
struct Table {
    entries: Box<[Entry]>,
    /// The entry of each name.
    names: NameMap,
    /// No entry before this one is free.
    full_before: usize,
}

#[derive(Debug, Default)]
struct Entry {
    name: Box<[u8]>,
    state: EntryState,
    /// Times between which the slot was public before, for another name.
    before: Option<(u64, u64)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum EntryState {
    #[default]
    Free,
    /// Opened by this number of transactions that have not ended yet.
    Private(usize),
    Public,
}

/// The part of the table that is valid in a transaction.
#[derive(Debug)]
pub(crate) struct HandleView {
    /// The time at which it began: handles published later are not valid in it.
    began: Cell<u64>,
    /// The time at which it last closed a handle, or began: a handle closed later is valid in it.
    closed: Cell<u64>,
    /// True if it has opened handles.
    has_opened: Cell<bool>,
    own: RefCell<OwnHandles>,
}

/// The handles that a transaction opened and closed.
#[derive(Debug, Clone, Default)]
struct OwnHandles {
    opened: SortedMap<MDB_dbi, PrivateHandle>,
    closed: HandleSet,
}

/// A handle that a transaction opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PrivateHandle {
    serial: u64,
    database: Database,
}

impl Clone for HandleView {
    fn clone(&self) -> HandleView {
        let own = self.own.try_borrow();
        debug_assert!(own.is_ok(), "nothing changes the handles meanwhile");
        HandleView {
            began: self.began.clone(),
            closed: self.closed.clone(),
            has_opened: self.has_opened.clone(),
            own: RefCell::new(own.map_or_else(|_| OwnHandles::default(), |own| own.clone())),
        }
    }
}

impl HandleView {
    /// Returns the view of a transaction that begins now.
    pub(crate) fn new(now: u64) -> HandleView {
        HandleView {
            began: Cell::new(now),
            closed: Cell::new(now),
            has_opened: Cell::new(false),
            own: RefCell::default(),
        }
    }

    /// Begins again after [`DatabaseHandles::release`] has taken back the opened handles.
    pub(crate) fn begin(&self, now: u64) {
        self.began.set(now);
        self.closed.set(now);
    }

    /// Begins again, and forgets the opened and closed handles.
    pub(crate) fn restart(&mut self, now: u64) {
        self.begin(now);
        let own = self.own.get_mut();
        if self.has_opened.replace(false) || !own.closed.is_empty() {
            *own = OwnHandles::default();
        }
    }

    /// Takes over the opened and closed handles of a committed child.
    pub(crate) fn take_over(&self, child: &HandleView) {
        self.closed.set(child.closed.get());
        self.has_opened.set(child.has_opened.get());
        self.change_own(|own| *own = child.take_own());
    }

    /// Takes over the closed handles of an aborted child: closing is not undone.
    pub(crate) fn take_over_closed(&self, child: &HandleView) {
        self.closed.set(child.closed.get());
        self.change_own(|own| own.closed = child.take_own().closed);
    }

    #[cold]
    fn take_opened(&self) -> SortedMap<MDB_dbi, PrivateHandle> {
        self.has_opened.set(false);
        let mut opened = SortedMap::default();
        self.change_own(|own| opened = core::mem::take(&mut own.opened));
        opened
    }

    fn open(&self, dbi: MDB_dbi, private: PrivateHandle) {
        self.has_opened.set(true);
        self.change_own(|own| own.opened.insert(dbi, private));
    }

    fn close(&self, dbi: MDB_dbi, time: u64) {
        self.closed.set(time);
        self.change_own(|own| own.closed.insert(dbi));
    }

    /// Changes its own handles. Nothing borrows them for longer than a method of this file takes.
    fn change_own(&self, change: impl FnOnce(&mut OwnHandles)) {
        let own = self.own.try_borrow_mut();
        debug_assert!(own.is_ok(), "nothing else uses the handles");
        if let Ok(mut own) = own {
            change(&mut own);
        }
    }

    fn take_own(&self) -> OwnHandles {
        let mut taken = OwnHandles::default();
        self.change_own(|own| taken = core::mem::take(own));
        taken
    }

    /// Returns the handle as the transaction opened it, if it did.
    fn opened(&self, dbi: MDB_dbi) -> Option<PrivateHandle> {
        self.own.try_borrow().ok()?.opened.get(&dbi).copied()
    }

    /// Returns true if the transaction closed the handle.
    fn has_closed(&self, dbi: MDB_dbi) -> bool {
        self.own
            .try_borrow()
            .is_ok_and(|own| own.closed.contains(dbi))
    }
}

impl Table {
    /// Returns the first free entry.
    fn first_free(&mut self) -> Option<usize> {
        let mut rest = self.entries.iter().skip(self.full_before);
        let full = rest.position(|entry| entry.state == EntryState::Free);
        self.full_before = full.map_or(self.entries.len(), |full| self.full_before + full);
        full.map(|_| self.full_before)
    }

    fn give_back(&mut self, index: usize) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.state = EntryState::Free;
            self.names.remove(&core::mem::take(&mut entry.name));
            self.full_before = self.full_before.min(index);
        }
    }
}

impl DatabaseHandles {
    /// Returns a table with room for `named_max` named databases.
    pub(crate) fn new(named_max: usize) -> DatabaseHandles {
        let slot = |index| match index {
            0 => Slot::fixed(Database::FREE_LIST),
            1 => Slot::fixed(Database::MAIN),
            _ => Slot::free(),
        };
        DatabaseHandles {
            slots: (0..named_max + FIXED).map(slot).collect(),
            clock: AtomicU64::new(1),
            table: Mutex::new(Table {
                entries: (0..named_max).map(|_| Entry::default()).collect(),
                names: NameMap::default(),
                full_before: 0,
            }),
        }
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> u64 {
        self.clock.load(Ordering::Acquire)
    }

    /// Returns the database of a handle in a transaction.
    /// # Errors
    /// EINVAL if the handle is not valid there; BAD_DBI if it was given to another database
    /// meanwhile.
    #[inline(always)]
    pub(crate) fn database(&self, dbi: MDB_dbi, view: &HandleView) -> Outcome<Database> {
        let slot = self.slots.get(dbi as usize).ok_or(Code::INVALID_ARGUMENT)?;
        let opened = slot.opened.load(Ordering::Acquire);
        if opened <= view.began.get() {
            let database = slot.database.load();
            // If the slot was given to another name in between, its time of opening has changed.
            if view.closed.get() < slot.closed.load(Ordering::Acquire)
                && slot.opened.load(Ordering::Acquire) == opened
            {
                return Ok(database);
            }
        }
        self.database_by_lock(slot, dbi, view)
    }

    #[cold]
    fn database_by_lock(&self, slot: &Slot, dbi: MDB_dbi, view: &HandleView) -> Outcome<Database> {
        let table = self.lock();
        let index = (dbi as usize).checked_sub(FIXED);
        let entry = index.and_then(|index| table.entries.get(index));
        if let Some(private) = view.opened(dbi) {
            if slot.serial.load(Ordering::Acquire) == private.serial {
                return Ok(private.database);
            }
            return Err(match entry.map(|entry| entry.state) {
                Some(EntryState::Private(_) | EntryState::Public) => Code::BAD_HANDLE,
                Some(EntryState::Free) | None => Code::INVALID_ARGUMENT,
            });
        }
        if view.has_closed(dbi) {
            return Err(Code::INVALID_ARGUMENT);
        }
        let began = view.began.get();
        let is_of_then = |(opened, closed)| opened <= began && began < closed;
        // Another transaction closed it, while this one closed another handle.
        if is_of_then((
            slot.opened.load(Ordering::Acquire),
            slot.closed.load(Ordering::Acquire),
        )) {
            return Ok(slot.database.load());
        }
        match entry.and_then(|entry| entry.before) {
            Some(before) if is_of_then(before) => Err(Code::BAD_HANDLE),
            _ => Err(Code::INVALID_ARGUMENT),
        }
    }

    /// Returns the handle of a name in a transaction, if it is open. A handle that others opened
    /// meanwhile becomes its own.
    pub(crate) fn find(&self, name: &[u8], view: &HandleView) -> Option<MDB_dbi> {
        let mut table = self.lock();
        let index = table.names.get(name)?;
        let dbi = (index + FIXED) as MDB_dbi;
        let slot = self.slots.get(index + FIXED)?;
        let serial = slot.serial.load(Ordering::Acquire);
        let private = view.opened(dbi);
        let is_own = private.is_some_and(|own| own.serial == serial);
        if is_own || slot.opened.load(Ordering::Acquire) <= view.began.get() {
            return Some(dbi);
        }
        // Another transaction opened it; from here on this one owns it too.
        let database = slot.database.load();
        view.open(dbi, PrivateHandle { serial, database });
        if let EntryState::Private(owners) = &mut table.entries.get_mut(index)?.state {
            *owners += 1;
        }
        Some(dbi)
    }

    /// Returns true if no further name can be opened.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().first_free().is_none()
    }

    /// Gives the first free handle to a name, as a private one.
    /// # Errors
    /// DBS_FULL.
    pub(crate) fn open(
        &self,
        name: &[u8],
        database: Database,
        view: &HandleView,
    ) -> Outcome<MDB_dbi> {
        let mut table = self.lock();
        let index = table.first_free().ok_or(Code::HANDLES_FULL)?;
        let slot = self.slots.get(index + FIXED).ok_or(Code::HANDLES_FULL)?;
        table.names.insert(name, index);
        let entry = table.entries.get_mut(index).ok_or(Code::HANDLES_FULL)?;
        let opened = slot.opened.load(Ordering::Acquire);
        if opened != NEVER {
            entry.before = Some((opened, slot.closed.load(Ordering::Acquire)));
        }
        entry.name = name.into();
        entry.state = EntryState::Private(1);
        let serial = slot.serial.load(Ordering::Acquire) + 1;
        slot.opened.store(NEVER, Ordering::Release);
        slot.serial.store(serial, Ordering::Release);
        slot.database.store(database);
        let dbi = (index + FIXED) as MDB_dbi;
        view.open(dbi, PrivateHandle { serial, database });
        Ok(dbi)
    }

    /// Publishes the handles that a committed transaction opened.
    pub(crate) fn publish(&self, view: &HandleView) {
        if !view.has_opened.get() {
            return;
        }
        let opened = view.take_opened();
        let mut table = self.lock();
        let time = self.clock.load(Ordering::Acquire) + 1;
        for (dbi, own) in opened.entries() {
            if let Some((_, entry, slot)) = self.current(&mut table, *dbi, *own)
                && matches!(entry.state, EntryState::Private(_))
            {
                entry.state = EntryState::Public;
                slot.closed.store(NEVER, Ordering::Release);
                slot.opened.store(time, Ordering::Release);
            }
        }
        self.clock.store(time, Ordering::Release);
    }

    /// Takes back the handles that an aborted transaction opened.
    #[inline(always)]
    pub(crate) fn release(&self, view: &HandleView) {
        if view.has_opened.get() {
            self.release_all(&view.take_opened());
        }
    }

    /// Takes back the handles that an aborted child opened, except those that its parent opened
    /// too.
    pub(crate) fn release_new(&self, child: &HandleView, parent: &HandleView) {
        let mut opened = child.take_opened();
        opened.retain(|dbi, own| parent.opened(*dbi) != Some(*own));
        self.release_all(&opened);
    }

    #[cold]
    fn release_all(&self, opened: &SortedMap<MDB_dbi, PrivateHandle>) {
        let mut table = self.lock();
        for (dbi, own) in opened.entries() {
            if let Some((index, entry, slot)) = self.current(&mut table, *dbi, *own)
                && let EntryState::Private(owners) = &mut entry.state
            {
                *owners = owners.saturating_sub(1);
                if *owners == 0 {
                    slot.serial.fetch_add(1, Ordering::AcqRel);
                    table.give_back(index);
                }
            }
        }
    }

    /// Closes a handle for the transaction `by` and for transactions that begin later; the fixed
    /// handles stay open. Returns true if the handle was open.
    pub(crate) fn close(&self, dbi: MDB_dbi, by: Option<&HandleView>) -> bool {
        let mut table = self.lock();
        let index = (dbi as usize).checked_sub(FIXED);
        let entry = index.and_then(|index| Some((index, table.entries.get(index)?.state)));
        let (Some((index, state)), Some(slot)) = (entry, self.slots.get(dbi as usize)) else {
            return false;
        };
        if state == EntryState::Free {
            return false;
        }
        let time = self.clock.load(Ordering::Acquire) + 1;
        if state == EntryState::Public {
            slot.closed.store(time, Ordering::Release);
        } else {
            slot.serial.fetch_add(1, Ordering::AcqRel);
        }
        table.give_back(index);
        self.clock.store(time, Ordering::Release);
        if let Some(view) = by {
            view.close(dbi, time);
        }
        true
    }

    /// Closes all named handles.
    pub(crate) fn close_all(&self, by: &HandleView) {
        for dbi in FIXED..self.slots.len() {
            self.close(dbi as MDB_dbi, Some(by));
        }
    }

    /// Returns the slot of a private handle, unless it was closed.
    fn current<'t>(
        &'t self,
        table: &'t mut Table,
        dbi: MDB_dbi,
        own: PrivateHandle,
    ) -> Option<(usize, &'t mut Entry, &'t Slot)> {
        let index = (dbi as usize).checked_sub(FIXED)?;
        let slot = self.slots.get(dbi as usize)?;
        let entry = table.entries.get_mut(index)?;
        (slot.serial.load(Ordering::Acquire) == own.serial).then_some((index, entry, slot))
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    const fn fixed(database: Database) -> Slot {
        Slot {
            opened: AtomicU64::new(0),
            closed: AtomicU64::new(NEVER),
            serial: AtomicU64::new(0),
            database: AtomicCell::new(database),
        }
    }

    const fn free() -> Slot {
        Slot {
            opened: AtomicU64::new(NEVER),
            closed: AtomicU64::new(NEVER),
            serial: AtomicU64::new(0),
            database: AtomicCell::new(Database::MAIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(handles: &DatabaseHandles, name: &str, view: &HandleView) -> MDB_dbi {
        handles.open(name.as_bytes(), Database::MAIN, view).unwrap()
    }

    fn now(handles: &DatabaseHandles) -> HandleView {
        HandleView::new(handles.now())
    }

    /// The database of a handle in a transaction that begins now.
    fn today(handles: &DatabaseHandles, dbi: MDB_dbi) -> Outcome<Database> {
        handles.database(dbi, &now(handles))
    }

    #[test]
    fn a_handle_is_private_until_commit_and_then_valid_in_later_transactions() {
        let handles = DatabaseHandles::new(2);
        let early = now(&handles);
        let own = now(&handles);
        let dbi = open(&handles, "a", &own);
        assert_eq!(dbi, 2);
        assert!(handles.database(dbi, &own).is_ok());
        let unknown = Err(Code::INVALID_ARGUMENT);
        assert_eq!(handles.database(dbi, &early), unknown);
        handles.publish(&own);
        assert_eq!(handles.database(dbi, &early), unknown);
        assert!(today(&handles, dbi).is_ok());
        assert_eq!(handles.find(b"a", &now(&handles)), Some(2));
    }

    #[test]
    fn abort_frees_an_opened_handle() {
        let handles = DatabaseHandles::new(1);
        let own = now(&handles);
        let dbi = open(&handles, "a", &own);
        assert!(handles.is_full());
        handles.release(&own);
        assert!(!handles.is_full());
        assert_eq!(today(&handles, dbi), Err(Code::INVALID_ARGUMENT));
        assert_eq!(handles.find(b"a", &now(&handles)), None);
    }

    #[test]
    fn a_closed_handle_stays_valid_in_earlier_transactions_until_it_is_reused() {
        let handles = DatabaseHandles::new(1);
        let own = now(&handles);
        let dbi = open(&handles, "a", &own);
        handles.publish(&own);
        let before = now(&handles);
        assert!(handles.close(dbi, None));
        assert!(!handles.close(dbi, None));
        assert!(handles.database(dbi, &before).is_ok());
        assert_eq!(today(&handles, dbi), Err(Code::INVALID_ARGUMENT));
        let other = now(&handles);
        assert_eq!(open(&handles, "b", &other), dbi);
        assert_eq!(handles.database(dbi, &before), Err(Code::BAD_HANDLE));
        handles.publish(&other);
        assert_eq!(handles.database(dbi, &before), Err(Code::BAD_HANDLE));
        assert!(today(&handles, dbi).is_ok());
    }

    #[test]
    fn closing_a_handle_does_not_make_later_ones_valid() {
        let handles = DatabaseHandles::new(3);
        let own = now(&handles);
        let [a, b] = ["a", "b"].map(|name| open(&handles, name, &own));
        handles.publish(&own);
        let writer = now(&handles);
        let other = now(&handles);
        let c = open(&handles, "c", &other);
        handles.publish(&other);
        assert!(handles.close(a, Some(&writer)));
        assert_eq!(handles.database(a, &writer), Err(Code::INVALID_ARGUMENT));
        assert_eq!(handles.database(c, &writer), Err(Code::INVALID_ARGUMENT));
        // It began before others closed this one, so it stays valid.
        assert!(handles.close(b, None));
        assert!(handles.database(b, &writer).is_ok());
        assert!(handles.close(c, Some(&writer)));
        assert!(handles.database(b, &writer).is_ok());
    }

    #[test]
    fn two_transactions_open_one_name() {
        let handles = DatabaseHandles::new(1);
        let (first, second) = (now(&handles), now(&handles));
        let dbi = open(&handles, "a", &first);
        assert_eq!(handles.find(b"a", &second), Some(dbi));
        handles.release(&first);
        assert!(handles.database(dbi, &second).is_ok());
        handles.publish(&second);
        assert!(today(&handles, dbi).is_ok());
    }

    #[test]
    fn the_first_free_handle_is_used_first() {
        let handles = DatabaseHandles::new(4);
        let own = now(&handles);
        let opened = ["a", "b", "c"].map(|name| open(&handles, name, &own));
        assert_eq!(opened, [2, 3, 4]);
        assert!(handles.close(3, None) && handles.close(2, None));
        let again = ["d", "e", "f"].map(|name| open(&handles, name, &own));
        assert_eq!(again, [2, 3, 5]);
        assert!(handles.is_full());
    }

    #[test]
    fn fixed_handles_are_not_closed() {
        let handles = DatabaseHandles::new(0);
        for dbi in [FREE_LIST, MAIN, 7] {
            assert!(!handles.close(dbi, None));
        }
        assert_eq!(today(&handles, MAIN), Ok(Database::MAIN));
        assert_eq!(today(&handles, FREE_LIST), Ok(Database::FREE_LIST));
        assert!(handles.is_full());
    }
}
