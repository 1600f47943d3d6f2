//! The environment's table of database handles: small numbers, each good for some transactions and not for others.
//!
//! A handle is private to the transaction that opened it until that one commits, and public from then on: good for
//! transactions that begin later. Closed, it stays good for those that began before. So each slot bears two marks on
//! a clock that ticks with every publishing and closing, and a transaction the time at which it began:
//!
//! ```text
//!   clock  ---- opened ---------------------- closed ------------>
//!                 |  transactions that began here  |
//! ```

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_utils::atomic::AtomicCell;
use fulgurite::Database;

use crate::codes::{Code, Outcome};
use crate::types::MDB_dbi;

/// The handle of the list of free pages.
pub(crate) const FREE_LIST: MDB_dbi = 0;
/// The handle of the main database.
pub(crate) const MAIN: MDB_dbi = 1;
/// Handles that every environment has.
const FIXED: usize = 2;

/// A time that never comes.
const NEVER: u64 = u64::MAX;

/// The handles of an environment.
#[derive(Debug)]
pub(crate) struct Handles {
    slots: Box<[Slot]>,
    clock: AtomicU64,
    table: Mutex<Table>,
}

/// What every operation looks at, without a lock.
#[derive(Debug)]
struct Slot {
    opened: AtomicU64,
    closed: AtomicU64,
    /// Changes whenever the slot is given to another opening.
    serial: AtomicU64,
    database: AtomicCell<Database>,
}

/// What only opening and closing look at.
#[derive(Debug)]
struct Table {
    entries: Box<[Entry]>,
    /// Who has a name.
    names: HashMap<Box<[u8]>, usize>,
    /// How many entries were ever in use, those from the first on.
    used: usize,
    /// Those of them that are free again.
    free: BTreeSet<usize>,
}

#[derive(Debug, Default)]
struct Entry {
    name: Box<[u8]>,
    state: State,
    /// When the slot was public before: what it meant to transactions of that time.
    before: Option<(u64, u64)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Free,
    /// Opened by so many transactions that have not ended yet.
    Private(usize),
    Public,
}

/// What a transaction sees of the table.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// When it began: later openings of others are not for it.
    began: Cell<u64>,
    /// When it last closed a handle itself, or else when it began: what was closed later is certainly good.
    closed: Cell<u64>,
    /// Whether it has opened handles, which most have not.
    has_opened: Cell<bool>,
    own: RefCell<Own>,
}

/// What a transaction did itself.
#[derive(Debug, Clone, Default)]
struct Own {
    opened: BTreeMap<MDB_dbi, Private>,
    closed: BTreeSet<MDB_dbi>,
}

/// A handle that a transaction opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Private {
    serial: u64,
    database: Database,
}

impl View {
    /// That of a transaction that begins now.
    pub(crate) fn new(now: u64) -> View {
        View {
            began: Cell::new(now),
            closed: Cell::new(now),
            has_opened: Cell::new(false),
            own: RefCell::default(),
        }
    }

    /// Begins anew; [`Handles::release`] has taken back what was opened.
    pub(crate) fn begin(&self, now: u64) {
        self.began.set(now);
        self.closed.set(now);
    }

    /// Begins anew, whatever was done before.
    pub(crate) fn restart(&mut self, now: u64) {
        self.begin(now);
        let own = self.own.get_mut();
        if self.has_opened.replace(false) || !own.closed.is_empty() {
            *own = Own::default();
        }
    }

    /// Makes what a child did one's own.
    pub(crate) fn take_over(&self, child: &View) {
        self.closed.set(child.closed.get());
        self.has_opened.set(child.has_opened.get());
        self.own.replace(child.own.take());
    }

    /// Knows what an aborted child closed: that is not undone.
    pub(crate) fn learn(&self, child: &View) {
        self.closed.set(child.closed.get());
        self.own.borrow_mut().closed = child.own.take().closed;
    }

    #[cold]
    fn take_opened(&self) -> BTreeMap<MDB_dbi, Private> {
        self.has_opened.set(false);
        std::mem::take(&mut self.own.borrow_mut().opened)
    }

    fn open(&self, dbi: MDB_dbi, private: Private) {
        self.has_opened.set(true);
        self.own.borrow_mut().opened.insert(dbi, private);
    }

    fn close(&self, dbi: MDB_dbi, time: u64) {
        self.closed.set(time);
        self.own.borrow_mut().closed.insert(dbi);
    }
}

impl Table {
    /// The first entry that is free.
    fn first_free(&self) -> Option<usize> {
        let fresh = (self.used < self.entries.len()).then_some(self.used);
        self.free.first().copied().or(fresh)
    }

    fn take(&mut self, index: usize, name: &[u8]) {
        if !self.free.remove(&index) {
            self.used = index + 1;
        }
        self.names.insert(name.into(), index);
    }

    fn give_back(&mut self, index: usize) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.state = State::Free;
            self.names.remove(&std::mem::take(&mut entry.name));
            self.free.insert(index);
        }
    }
}

impl Handles {
    /// A table for so many named databases.
    pub(crate) fn new(named_max: usize) -> Handles {
        let slot = |index| match index {
            0 => Slot::fixed(Database::FREE_LIST),
            1 => Slot::fixed(Database::MAIN),
            _ => Slot::free(),
        };
        Handles {
            slots: (0..named_max + FIXED).map(slot).collect(),
            clock: AtomicU64::new(1),
            table: Mutex::new(Table {
                entries: (0..named_max).map(|_| Entry::default()).collect(),
                names: HashMap::new(),
                used: 0,
                free: BTreeSet::new(),
            }),
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> u64 {
        self.clock.load(Ordering::Acquire)
    }

    /// What a handle means to a transaction.
    /// # Errors
    /// EINVAL if nothing; BAD_DBI if it was given to another database meanwhile.
    #[inline]
    pub(crate) fn database(&self, dbi: MDB_dbi, view: &View) -> Outcome<Database> {
        let slot = self.slots.get(dbi as usize).ok_or(Code::INVALID_ARGUMENT)?;
        let opened = slot.opened.load(Ordering::Acquire);
        if opened <= view.began.get() {
            let database = slot.database.load();
            // If the slot was given away in between, this is seen here.
            if view.closed.get() < slot.closed.load(Ordering::Acquire)
                && slot.opened.load(Ordering::Acquire) == opened
            {
                return Ok(database);
            }
        }
        self.database_otherwise(slot, dbi, view)
    }

    #[cold]
    fn database_otherwise(&self, slot: &Slot, dbi: MDB_dbi, view: &View) -> Outcome<Database> {
        let table = self.lock();
        let index = (dbi as usize).checked_sub(FIXED);
        let entry = index.and_then(|index| table.entries.get(index));
        let own = view.own.borrow();
        if let Some(private) = own.opened.get(&dbi) {
            if slot.serial.load(Ordering::Acquire) == private.serial {
                return Ok(private.database);
            }
            return Err(match entry.map(|entry| entry.state) {
                Some(State::Private(_) | State::Public) => Code::BAD_HANDLE,
                Some(State::Free) | None => Code::INVALID_ARGUMENT,
            });
        }
        if own.closed.contains(&dbi) {
            return Err(Code::INVALID_ARGUMENT);
        }
        let began = view.began.get();
        let is_of_then = |(opened, closed)| opened <= began && began < closed;
        // Closed by others while this transaction closed something else.
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

    /// The handle that a transaction has for a name already. One that others opened meanwhile becomes its own.
    pub(crate) fn find(&self, name: &[u8], view: &View) -> Option<MDB_dbi> {
        let mut table = self.lock();
        let index = *table.names.get(name)?;
        let dbi = (index + FIXED) as MDB_dbi;
        let slot = self.slots.get(index + FIXED)?;
        let serial = slot.serial.load(Ordering::Acquire);
        let private = view.own.borrow().opened.get(&dbi).copied();
        let is_own = private.is_some_and(|own| own.serial == serial);
        if is_own || slot.opened.load(Ordering::Acquire) <= view.began.get() {
            return Some(dbi);
        }
        // Opened by another transaction, and named as its own by this one from here on.
        let database = slot.database.load();
        view.open(dbi, Private { serial, database });
        if let State::Private(owners) = &mut table.entries.get_mut(index)?.state {
            *owners += 1;
        }
        Some(dbi)
    }

    /// Whether no further name can be opened.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().first_free().is_none()
    }

    /// Gives the first free handle to a name, as private.
    /// # Errors
    /// DBS_FULL.
    pub(crate) fn open(&self, name: &[u8], database: Database, view: &View) -> Outcome<MDB_dbi> {
        let mut table = self.lock();
        let index = table.first_free().ok_or(Code::HANDLES_FULL)?;
        table.take(index, name);
        let (entry, slot) = (&mut table.entries[index], &self.slots[index + FIXED]);
        let opened = slot.opened.load(Ordering::Acquire);
        if opened != NEVER {
            entry.before = Some((opened, slot.closed.load(Ordering::Acquire)));
        }
        entry.name = name.into();
        entry.state = State::Private(1);
        let serial = slot.serial.load(Ordering::Acquire) + 1;
        slot.opened.store(NEVER, Ordering::Release);
        slot.serial.store(serial, Ordering::Release);
        slot.database.store(database);
        let dbi = (index + FIXED) as MDB_dbi;
        view.open(dbi, Private { serial, database });
        Ok(dbi)
    }

    /// Makes the handles that a committed transaction opened public.
    pub(crate) fn publish(&self, view: &View) {
        if !view.has_opened.get() {
            return;
        }
        let opened = view.take_opened();
        let mut table = self.lock();
        let time = self.clock.load(Ordering::Acquire) + 1;
        for (dbi, own) in opened {
            if let Some((_, entry, slot)) = self.current(&mut table, dbi, own)
                && matches!(entry.state, State::Private(_))
            {
                entry.state = State::Public;
                slot.closed.store(NEVER, Ordering::Release);
                slot.opened.store(time, Ordering::Release);
            }
        }
        self.clock.store(time, Ordering::Release);
    }

    /// Takes the handles back that an aborted transaction opened.
    #[inline(always)]
    pub(crate) fn release(&self, view: &View) {
        if view.has_opened.get() {
            self.release_all(&view.take_opened());
        }
    }

    /// Takes the handles back that an aborted child opened, but not those that its parent has as well.
    pub(crate) fn release_new(&self, child: &View, parent: &View) {
        let mut opened = child.take_opened();
        let kept = parent.own.borrow();
        opened.retain(|dbi, own| kept.opened.get(dbi) != Some(own));
        self.release_all(&opened);
    }

    #[cold]
    fn release_all(&self, opened: &BTreeMap<MDB_dbi, Private>) {
        let mut table = self.lock();
        for (dbi, own) in opened {
            if let Some((index, entry, slot)) = self.current(&mut table, *dbi, *own)
                && let State::Private(owners) = &mut entry.state
            {
                *owners = owners.saturating_sub(1);
                if *owners == 0 {
                    slot.serial.fetch_add(1, Ordering::AcqRel);
                    table.give_back(index);
                }
            }
        }
    }

    /// Closes a handle for all who begin later, and for the transaction that does it; the two fixed ones, unknown and
    /// closed ones stay as they are. Tells whether it was open.
    pub(crate) fn close(&self, dbi: MDB_dbi, by: Option<&View>) -> bool {
        let mut table = self.lock();
        let index = (dbi as usize).checked_sub(FIXED);
        let entry = index.and_then(|index| Some((index, table.entries.get(index)?.state)));
        let (Some((index, state)), Some(slot)) = (entry, self.slots.get(dbi as usize)) else {
            return false;
        };
        if state == State::Free {
            return false;
        }
        let time = self.clock.load(Ordering::Acquire) + 1;
        if state == State::Public {
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
    pub(crate) fn close_all(&self, by: &View) {
        for dbi in FIXED..self.slots.len() {
            self.close(dbi as MDB_dbi, Some(by));
        }
    }

    /// The slot of a private handle, if it still is that handle's.
    fn current<'t>(
        &'t self,
        table: &'t mut Table,
        dbi: MDB_dbi,
        own: Private,
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

    fn open(handles: &Handles, name: &str, view: &View) -> MDB_dbi {
        handles.open(name.as_bytes(), Database::MAIN, view).unwrap()
    }

    fn now(handles: &Handles) -> View {
        View::new(handles.now())
    }

    /// What a handle means to a transaction that begins now.
    fn today(handles: &Handles, dbi: MDB_dbi) -> Outcome<Database> {
        handles.database(dbi, &now(handles))
    }

    #[test]
    fn a_handle_is_private_until_commit_and_public_for_those_who_begin_later() {
        let handles = Handles::new(2);
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
    fn an_aborted_opening_frees_the_handle() {
        let handles = Handles::new(1);
        let own = now(&handles);
        let dbi = open(&handles, "a", &own);
        assert!(handles.is_full());
        handles.release(&own);
        assert!(!handles.is_full());
        assert_eq!(today(&handles, dbi), Err(Code::INVALID_ARGUMENT));
        assert_eq!(handles.find(b"a", &now(&handles)), None);
    }

    #[test]
    fn a_closed_handle_serves_those_who_began_before_until_it_is_given_away() {
        let handles = Handles::new(1);
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
    fn who_closes_a_handle_does_not_come_to_know_those_that_others_opened() {
        let handles = Handles::new(3);
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
        // Nor does it lose what others closed before: it began before that.
        assert!(handles.close(b, None));
        assert!(handles.database(b, &writer).is_ok());
        assert!(handles.close(c, Some(&writer)));
        assert!(handles.database(b, &writer).is_ok());
    }

    #[test]
    fn two_transactions_may_open_one_name() {
        let handles = Handles::new(1);
        let (first, second) = (now(&handles), now(&handles));
        let dbi = open(&handles, "a", &first);
        assert_eq!(handles.find(b"a", &second), Some(dbi));
        handles.release(&first);
        assert!(handles.database(dbi, &second).is_ok());
        handles.publish(&second);
        assert!(today(&handles, dbi).is_ok());
    }

    #[test]
    fn the_first_free_handle_is_given_away() {
        let handles = Handles::new(4);
        let own = now(&handles);
        let opened = ["a", "b", "c"].map(|name| open(&handles, name, &own));
        assert_eq!(opened, [2, 3, 4]);
        assert!(handles.close(3, None) && handles.close(2, None));
        let again = ["d", "e", "f"].map(|name| open(&handles, name, &own));
        assert_eq!(again, [2, 3, 5]);
        assert!(handles.is_full());
    }

    #[test]
    fn the_fixed_handles_stay() {
        let handles = Handles::new(0);
        for dbi in [FREE_LIST, MAIN, 7] {
            assert!(!handles.close(dbi, None));
        }
        assert_eq!(today(&handles, MAIN), Ok(Database::MAIN));
        assert_eq!(today(&handles, FREE_LIST), Ok(Database::FREE_LIST));
        assert!(handles.is_full());
    }
}
