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
    entries: Mutex<Box<[Entry]>>,
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
#[derive(Debug, Default)]
struct Entry {
    name: Vec<u8>,
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

/// A handle that a transaction opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Private {
    dbi: MDB_dbi,
    serial: u64,
    database: Database,
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
            entries: Mutex::new((0..named_max).map(|_| Entry::default()).collect()),
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> u64 {
        self.clock.load(Ordering::Acquire)
    }

    /// What a handle means to a transaction that began at `time` and opened the handles `private`.
    /// # Errors
    /// EINVAL if nothing; BAD_DBI if it was given to another database meanwhile.
    #[inline]
    pub(crate) fn database(
        &self,
        dbi: MDB_dbi,
        time: u64,
        private: &[Private],
    ) -> Outcome<Database> {
        let slot = self.slots.get(dbi as usize).ok_or(Code::INVALID_ARGUMENT)?;
        let opened = slot.opened.load(Ordering::Acquire);
        if opened <= time {
            let database = slot.database.load();
            // If the slot was given away in between, this is seen here.
            if time < slot.closed.load(Ordering::Acquire)
                && slot.opened.load(Ordering::Acquire) == opened
            {
                return Ok(database);
            }
        }
        self.private_database(slot, dbi, time, private)
    }

    #[cold]
    fn private_database(
        &self,
        slot: &Slot,
        dbi: MDB_dbi,
        time: u64,
        private: &[Private],
    ) -> Outcome<Database> {
        let entries = self.lock();
        // The newest: a transaction may drop a database and open another one in its place.
        if let Some(own) = private.iter().rev().find(|own| own.dbi == dbi) {
            if slot.serial.load(Ordering::Acquire) == own.serial {
                return Ok(own.database);
            }
            let index = (dbi as usize).checked_sub(FIXED);
            let entry = index.and_then(|index| entries.get(index));
            return Err(match entry.map(|entry| entry.state) {
                Some(State::Private(_) | State::Public) => Code::BAD_HANDLE,
                Some(State::Free) | None => Code::INVALID_ARGUMENT,
            });
        }
        let before = (dbi as usize)
            .checked_sub(FIXED)
            .and_then(|index| entries.get(index)?.before);
        match before {
            Some((opened, closed)) if opened <= time && time < closed => Err(Code::BAD_HANDLE),
            _ => Err(Code::INVALID_ARGUMENT),
        }
    }

    /// The handle that a transaction has for a name already. A handle that others opened meanwhile is taken over into
    /// `private`.
    pub(crate) fn find(
        &self,
        name: &[u8],
        time: u64,
        private: &mut Vec<Private>,
    ) -> Option<MDB_dbi> {
        let mut entries = self.lock();
        let index = entries
            .iter()
            .position(|entry| entry.state != State::Free && entry.name == name)?;
        let dbi = (index + FIXED) as MDB_dbi;
        let slot = &self.slots[index + FIXED];
        let serial = slot.serial.load(Ordering::Acquire);
        let is_own = private
            .iter()
            .any(|own| own.dbi == dbi && own.serial == serial);
        if is_own || slot.opened.load(Ordering::Acquire) <= time {
            return Some(dbi);
        }
        // Opened by another transaction, and named as its own by this one from here on.
        private.retain(|own| own.dbi != dbi);
        private.push(Private {
            dbi,
            serial,
            database: slot.database.load(),
        });
        if let State::Private(owners) = &mut entries[index].state {
            *owners += 1;
        }
        Some(dbi)
    }

    /// Whether no further name can be opened.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().iter().all(|entry| entry.state != State::Free)
    }

    /// Gives the first free handle to a name, as private.
    /// # Errors
    /// DBS_FULL.
    pub(crate) fn open(
        &self,
        name: &[u8],
        database: Database,
        private: &mut Vec<Private>,
    ) -> Outcome<MDB_dbi> {
        let mut entries = self.lock();
        let index = entries
            .iter()
            .position(|entry| entry.state == State::Free)
            .ok_or(Code::HANDLES_FULL)?;
        let (entry, slot) = (&mut entries[index], &self.slots[index + FIXED]);
        let opened = slot.opened.load(Ordering::Acquire);
        if opened != NEVER {
            entry.before = Some((opened, slot.closed.load(Ordering::Acquire)));
        }
        entry.name = name.to_vec();
        entry.state = State::Private(1);
        let serial = slot.serial.load(Ordering::Acquire) + 1;
        slot.opened.store(NEVER, Ordering::Release);
        slot.serial.store(serial, Ordering::Release);
        slot.database.store(database);
        let dbi = (index + FIXED) as MDB_dbi;
        private.retain(|own| own.dbi != dbi);
        private.push(Private {
            dbi,
            serial,
            database,
        });
        Ok(dbi)
    }

    /// Makes the handles of a committed transaction public.
    pub(crate) fn publish(&self, private: &[Private]) {
        if private.is_empty() {
            return;
        }
        let mut entries = self.lock();
        let time = self.clock.load(Ordering::Acquire) + 1;
        for own in private {
            if let Some((entry, slot)) = self.current(&mut entries, own)
                && matches!(entry.state, State::Private(_))
            {
                entry.state = State::Public;
                slot.closed.store(NEVER, Ordering::Release);
                slot.opened.store(time, Ordering::Release);
            }
        }
        self.clock.store(time, Ordering::Release);
    }

    /// Takes the handles of an aborted transaction back.
    pub(crate) fn release(&self, private: &[Private]) {
        if private.is_empty() {
            return;
        }
        let mut entries = self.lock();
        for own in private {
            if let Some((entry, slot)) = self.current(&mut entries, own)
                && let State::Private(owners) = entry.state
            {
                entry.state = match owners {
                    0 | 1 => State::Free,
                    more => State::Private(more - 1),
                };
                if entry.state == State::Free {
                    slot.serial.fetch_add(1, Ordering::AcqRel);
                }
            }
        }
    }

    /// Closes a handle for all who begin later; the two fixed ones, unknown and closed ones stay as they are.
    /// Returns the time of closing.
    pub(crate) fn close(&self, dbi: MDB_dbi) -> Option<u64> {
        let index = (dbi as usize).checked_sub(FIXED)?;
        let mut entries = self.lock();
        let entry = entries.get_mut(index)?;
        let slot = &self.slots[index + FIXED];
        if entry.state == State::Free {
            return None;
        }
        let time = self.clock.load(Ordering::Acquire) + 1;
        if entry.state == State::Public {
            slot.closed.store(time, Ordering::Release);
        } else {
            slot.serial.fetch_add(1, Ordering::AcqRel);
        }
        entry.state = State::Free;
        self.clock.store(time, Ordering::Release);
        Some(time)
    }

    /// Closes all named handles. Returns the time of closing.
    pub(crate) fn close_all(&self) -> Option<u64> {
        (FIXED..self.slots.len())
            .filter_map(|dbi| self.close(dbi as MDB_dbi))
            .last()
    }

    /// The slot of a private handle, if it still is that handle's.
    fn current<'e>(
        &'e self,
        entries: &'e mut [Entry],
        own: &Private,
    ) -> Option<(&'e mut Entry, &'e Slot)> {
        let slot = self.slots.get(own.dbi as usize)?;
        let entry = entries.get_mut((own.dbi as usize).checked_sub(FIXED)?)?;
        (slot.serial.load(Ordering::Acquire) == own.serial).then_some((entry, slot))
    }

    fn lock(&self) -> MutexGuard<'_, Box<[Entry]>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn open(handles: &Handles, name: &str, private: &mut Vec<Private>) -> MDB_dbi {
        handles
            .open(name.as_bytes(), Database::MAIN, private)
            .unwrap()
    }

    #[test]
    fn a_handle_is_private_until_commit_and_public_for_those_who_begin_later() {
        let handles = Handles::new(2);
        let early = handles.now();
        let mut own = Vec::new();
        let dbi = open(&handles, "a", &mut own);
        assert_eq!(dbi, 2);
        assert!(handles.database(dbi, early, &own).is_ok());
        assert_eq!(
            handles.database(dbi, early, &[]),
            Err(Code::INVALID_ARGUMENT)
        );
        handles.publish(&own);
        assert_eq!(
            handles.database(dbi, early, &[]),
            Err(Code::INVALID_ARGUMENT)
        );
        assert!(handles.database(dbi, handles.now(), &[]).is_ok());
        assert_eq!(handles.find(b"a", handles.now(), &mut Vec::new()), Some(2));
    }

    #[test]
    fn an_aborted_opening_frees_the_handle() {
        let handles = Handles::new(1);
        let mut own = Vec::new();
        let dbi = open(&handles, "a", &mut own);
        assert!(handles.is_full());
        handles.release(&own);
        assert!(!handles.is_full());
        assert_eq!(
            handles.database(dbi, handles.now(), &[]),
            Err(Code::INVALID_ARGUMENT)
        );
        assert_eq!(handles.find(b"a", handles.now(), &mut Vec::new()), None);
    }

    #[test]
    fn a_closed_handle_serves_those_who_began_before_until_it_is_given_away() {
        let handles = Handles::new(1);
        let mut own = Vec::new();
        let dbi = open(&handles, "a", &mut own);
        handles.publish(&own);
        let before = handles.now();
        assert!(handles.close(dbi).is_some());
        assert!(handles.close(dbi).is_none());
        assert!(handles.database(dbi, before, &[]).is_ok());
        assert_eq!(
            handles.database(dbi, handles.now(), &[]),
            Err(Code::INVALID_ARGUMENT)
        );
        let mut other = Vec::new();
        assert_eq!(open(&handles, "b", &mut other), dbi);
        assert_eq!(handles.database(dbi, before, &[]), Err(Code::BAD_HANDLE));
        handles.publish(&other);
        assert_eq!(handles.database(dbi, before, &[]), Err(Code::BAD_HANDLE));
        assert!(handles.database(dbi, handles.now(), &[]).is_ok());
    }

    #[test]
    fn two_transactions_may_open_one_name() {
        let handles = Handles::new(1);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let dbi = open(&handles, "a", &mut first);
        assert_eq!(handles.find(b"a", handles.now(), &mut second), Some(dbi));
        handles.release(&first);
        assert!(handles.database(dbi, handles.now(), &second).is_ok());
        handles.publish(&second);
        assert!(handles.database(dbi, handles.now(), &[]).is_ok());
    }

    #[test]
    fn the_fixed_handles_stay() {
        let handles = Handles::new(0);
        assert!(handles.close(FREE_LIST).is_none());
        assert!(handles.close(MAIN).is_none());
        assert!(handles.close(7).is_none());
        assert_eq!(handles.database(MAIN, 0, &[]), Ok(Database::MAIN));
        assert_eq!(handles.database(FREE_LIST, 0, &[]), Ok(Database::FREE_LIST));
        assert!(handles.is_full());
    }
}
