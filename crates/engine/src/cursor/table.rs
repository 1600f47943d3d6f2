//! The cursors that a write transaction keeps in step with its changes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};

use super::position::{Deleted, State};
use super::{CursorPosition, Record};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::space::PageView;
use crate::tree::Tree;

/// A cursor of a write transaction, for [`crate::WriteTxn::at`].
///
/// [`crate::WriteTxn::close_cursor`] closes it, and so does the end of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorId {
    index: usize,
    /// Distinguishes cursors that used the same slot one after the other.
    serial: u64,
}

#[derive(Debug, Clone)]
struct Slot {
    serial: u64,
    /// Absent while the cursor is in use.
    position: Option<Box<CursorPosition>>,
}

/// Serial numbers per transaction, as a power of two.
const SERIAL_BITS: u32 = 32;

/// The open cursors. They are in a cell because a returned record borrows the transaction while the
/// position goes back.
#[derive(Debug, Default)]
pub(crate) struct CursorTable {
    slots: RefCell<Vec<Option<Slot>>>,
    serial: u64,
}

/// The cursors of a transaction at the start of a nested one.
#[derive(Debug)]
pub(crate) struct CursorSavepoint(Vec<Option<Slot>>);

impl CursorTable {
    pub(crate) fn open(&mut self, database: Database) -> CursorId {
        // Each transaction of the process has its own block of serial numbers, so no transaction
        // accepts another's cursor.
        static BLOCKS: AtomicU64 = AtomicU64::new(1);
        if self.serial == 0 {
            self.serial = BLOCKS.fetch_add(1, Ordering::Relaxed) << SERIAL_BITS;
        }
        self.serial += 1;
        let slot = Slot {
            serial: self.serial,
            position: Some(Box::new(CursorPosition::new(database))),
        };
        let slots = self.slots.get_mut();
        let free = slots.iter().position(Option::is_none);
        let index = free.unwrap_or(slots.len());
        match slots.get_mut(index) {
            Some(free) => *free = Some(slot),
            None => slots.push(Some(slot)),
        }
        CursorId {
            index,
            serial: self.serial,
        }
    }

    pub(crate) fn close(&mut self, id: CursorId) {
        let slots = self.slots.get_mut();
        if let Some(slot) = slots.get_mut(id.index)
            && slot.as_ref().is_some_and(|slot| slot.serial == id.serial)
        {
            *slot = None;
        }
    }

    /// Closes all cursors.
    pub(crate) fn clear(&mut self) {
        self.slots.get_mut().clear();
    }

    /// Returns true if no cursor was opened since all were closed.
    #[inline]
    pub(crate) fn has_none(&mut self) -> bool {
        self.slots.get_mut().is_empty()
    }

    /// Returns true if a cursor is open.
    pub(crate) fn is_open(&self, id: CursorId) -> bool {
        let Ok(slots) = self.slots.try_borrow() else {
            return false;
        };
        let slot = slots.get(id.index).and_then(Option::as_ref);
        slot.is_some_and(|slot| slot.serial == id.serial && slot.position.is_some())
    }

    /// Takes a position out for use.
    #[inline(never)]
    pub(crate) fn take(&self, id: CursorId) -> Result<Box<CursorPosition>, BoxedError> {
        if let Ok(mut slots) = self.slots.try_borrow_mut()
            && let Some(Some(slot)) = slots.get_mut(id.index)
            && slot.serial == id.serial
            && let Some(position) = slot.position.take()
        {
            return Ok(position);
        }
        Err(Error::CursorClosed.into())
    }

    /// Lends a position if every other cursor is closed or in use.
    #[inline]
    pub(crate) fn only(&mut self, id: CursorId) -> Option<&mut CursorPosition> {
        let mut own = None;
        for (index, slot) in self.slots.get_mut().iter_mut().enumerate() {
            let Some(Slot { serial, position }) = slot else {
                continue;
            };
            match position {
                Some(position) if index == id.index && *serial == id.serial => own = Some(position),
                Some(_) => return None,
                None => {}
            }
        }
        own.map(Box::as_mut)
    }

    /// Steps a cursor one record forward within the cached leaf. Returns `None` if that is not
    /// enough.
    #[inline]
    pub(crate) fn step_within<'t>(&self, id: CursorId, pages: PageView<'t>) -> Option<Record<'t>> {
        let mut slots = self.slots.try_borrow_mut().ok()?;
        let slot = slots.get_mut(id.index)?.as_mut()?;
        if slot.serial != id.serial {
            return None;
        }
        slot.position.as_mut()?.step_in_cached_leaf(pages)
    }

    /// Puts a position back.
    pub(crate) fn put_back(&self, id: CursorId, position: Box<CursorPosition>) {
        // Nothing borrows the table for longer than a method of it takes.
        if let Ok(mut slots) = self.slots.try_borrow_mut()
            && let Some(slot) = slots.get_mut(id.index).and_then(Option::as_mut)
        {
            debug_assert!(slot.position.is_none(), "a cursor was put back twice");
            slot.position = Some(position);
        }
    }

    /// Returns true if every open cursor is in use, so none is affected by a change.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.slots
            .get_mut()
            .iter()
            .flatten()
            .all(|slot| slot.position.is_none())
    }

    /// Saves the positions of a database's idle cursors, because its tree is about to change.
    pub(crate) fn save_positions(
        &mut self,
        pages: PageView<'_>,
        tree: &Tree,
        database: Database,
    ) -> Result<(), BoxedError> {
        for slot in self.slots.get_mut().iter_mut().flatten() {
            if let Some(position) = &mut slot.position
                && position.database == database
            {
                position.save_position(pages, tree)?;
            }
        }
        Ok(())
    }

    /// Moves saved positions on a deleted record to where the deleting cursor is now.
    pub(crate) fn follow(&mut self, gone: &DeletedRecord<'_>, now: &CursorPosition) {
        for slot in self.slots.get_mut().iter_mut().flatten() {
            let Some(position) = &mut slot.position else {
                continue;
            };
            let stood_there = position.database == now.database
                && position.state == State::On
                && position.is_saved
                && position.key == gone.key
                && match gone.value {
                    None => true,
                    Some(value) => !position.behind_values && position.value_bytes == value,
                };
            if stood_there {
                let (at_end, deleted) = (position.at_end, position.deleted);
                **position = now.clone();
                position.at_end = at_end;
                if deleted == Deleted::Key {
                    position.deleted = deleted;
                }
            }
        }
    }

    /// Unsets the cursors of an emptied database.
    pub(crate) fn reset(&mut self, database: Database) {
        for slot in self.slots.get_mut().iter_mut().flatten() {
            if let Some(position) = &mut slot.position
                && position.database == database
            {
                position.reset();
            }
        }
    }

    /// Unsets the cursors of a database that was cleared, or of all databases. As in LMDB, they
    /// still know that their record was deleted before.
    pub(crate) fn reset_cleared(&mut self, database: Option<Database>) {
        for slot in self.slots.get_mut().iter_mut().flatten() {
            if let Some(position) = &mut slot.position
                && database.is_none_or(|database| position.database == database)
            {
                let deleted = position.deleted;
                position.reset();
                position.deleted = deleted;
            }
        }
    }

    /// Returns the databases of all cursors that are set. A dropped database has none.
    pub(crate) fn databases(&mut self) -> Vec<Database> {
        let slots = self.slots.get_mut();
        let mut found: Vec<Database> = Vec::new();
        for position in slots
            .iter()
            .flatten()
            .filter_map(|slot| slot.position.as_ref())
            .filter(|position| position.state != State::Unset)
        {
            if !found.contains(&position.database) {
                found.push(position.database);
            }
        }
        found
    }

    /// Copies the positions, which are all saved.
    pub(crate) fn save(&mut self) -> CursorSavepoint {
        CursorSavepoint(self.slots.get_mut().clone())
    }

    /// Restores the positions and closes cursors opened since. Cursors closed since stay closed.
    pub(crate) fn restore(&mut self, saved: CursorSavepoint) {
        let slots = self.slots.get_mut();
        slots.truncate(saved.0.len());
        for (slot, saved) in slots.iter_mut().zip(saved.0) {
            let same = |slot: &Slot| saved.as_ref().is_some_and(|old| old.serial == slot.serial);
            if slot.as_ref().is_some_and(same) {
                *slot = saved;
            } else {
                *slot = None;
            }
        }
    }
}

/// A deleted record. Without a value, its key with all values.
#[derive(Debug)]
pub(crate) struct DeletedRecord<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: Option<&'a [u8]>,
}

impl CursorPosition {
    /// Returns true if the record was deleted with its key.
    pub(crate) fn is_key_deleted(&self) -> bool {
        self.deleted == Deleted::Key
    }

    /// Records that the position is the successor of a deleted record. In an emptied tree there is
    /// none.
    pub(crate) fn mark_deleted(&mut self, whole_key: bool) {
        self.deleted = if self.state == State::Unset {
            Deleted::No
        } else if whole_key {
            Deleted::Key
        } else {
            Deleted::Value
        };
    }
}
