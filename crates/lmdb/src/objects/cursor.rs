//! The value behind a cursor's handle, and the cursors of a transaction.

use fulgurite::{CursorId, CursorPosition, Database, ReadTxn, Snapshot};

use crate::codes::{Code, Outcome};
use crate::ffi::Caller;
use crate::objects::transaction::{CursorList, Txn};
use crate::slab::{Handle, Slab, Slot};
use crate::types::{MDB_assert_func, MDB_cursor, MDB_dbi, MDB_env, MDB_txn};

/// The value behind a cursor's handle.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) position: Position,
    /// `None` once the transaction has ended: a reader's cursor outlives it, to be renewed or
    /// closed.
    pub(crate) txn: Option<Slot<MDB_txn>>,
    pub(crate) dbi: MDB_dbi,
    pub(crate) database: Database,
    /// Number of its environment.
    pub(crate) environment: usize,
    /// Neighbours in the transaction's list.
    next: Option<Slot<MDB_cursor>>,
    previous: Option<Slot<MDB_cursor>>,
}

/// All cursors.
pub(crate) static CURSORS: Slab<MDB_cursor> = Slab::new();

impl Handle for MDB_cursor {
    type Value = Cursor;
    const SLOT_BYTES: usize = 512;
    const FIRST_SLOTS: usize = 8192;
    const WAITING_SLOTS: usize = 1024;
    const ENDED: Code = Code::INVALID_ARGUMENT;

    #[inline(always)]
    fn slab() -> &'static Slab<MDB_cursor> {
        &CURSORS
    }
}

/// The position of a cursor.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "slots have one size, and readers need their position without another access"
)]
pub(crate) enum Position {
    /// In a snapshot, which does not change.
    Read(CursorPosition),
    /// In the engine's table, which moves cursors as items change.
    Write(CursorId),
}

impl Cursor {
    /// Creates a cursor of a transaction, outside its list.
    /// # Errors
    /// ENOMEM.
    pub(crate) fn insert(
        txn: Slot<MDB_txn>,
        dbi: MDB_dbi,
        database: Database,
        position: Position,
    ) -> Outcome<Slot<MDB_cursor>> {
        let environment = txn.get().environment();
        CURSORS.insert(environment, || Cursor {
            position,
            txn: Some(txn),
            dbi,
            database,
            environment,
            next: None,
            previous: None,
        })
    }

    /// Returns position and transaction, if it has not ended.
    /// # Errors
    /// EINVAL.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> Outcome<(&mut Position, &mut Txn)> {
        let txn = self.txn.as_mut().ok_or(Code::INVALID_ARGUMENT)?;
        Ok((&mut self.position, txn.get_mut()))
    }

    /// Leaves a reader's cursor without a position.
    fn unset(&mut self) {
        if let Position::Read(position) = &mut self.position {
            position.reset();
        }
    }
}

impl CursorList {
    /// Adds a cursor.
    pub(crate) fn insert(&self, mut cursor: Slot<MDB_cursor>) {
        let first = self.first.replace(Some(cursor));
        let added = cursor.get_mut();
        added.next = first;
        added.previous = None;
        if let Some(mut first) = first {
            first.get_mut().previous = Some(cursor);
        }
    }

    /// Removes a cursor.
    pub(crate) fn remove(&self, cursor: &Cursor) {
        match cursor.previous {
            Some(mut previous) => previous.get_mut().next = cursor.next,
            None => self.first.set(cursor.next),
        }
        if let Some(mut next) = cursor.next {
            next.get_mut().previous = cursor.previous;
        }
    }

    /// Opens the spare cursor of a reader again, if there is one.
    #[inline(always)]
    pub(crate) fn reopen(
        &self,
        txn: Slot<MDB_txn>,
        dbi: MDB_dbi,
        database: Database,
    ) -> Option<Slot<MDB_cursor>> {
        let (mut slot, _) = self.spare.take()?.revive().ok()?;
        let cursor = slot.get_mut();
        cursor.txn = Some(txn);
        cursor.dbi = dbi;
        cursor.database = database;
        match &mut cursor.position {
            Position::Read(position) if position.database() == database => position.reset(),
            position => *position = Position::Read(CursorPosition::new(database)),
        }
        Some(slot)
    }

    /// Saves the positions of a reader's cursors before its snapshot is released: programs continue
    /// there in the next one.
    pub(crate) fn save_positions(&self, read: &ReadTxn<'_>) {
        self.each(|cursor| {
            if let Position::Read(position) = &mut cursor.position
                && read.save_position(position).is_err()
            {
                position.reset();
            }
        });
    }

    /// Leaves a reader's cursors without a transaction.
    pub(crate) fn orphan_all(&self) {
        self.each(|cursor| {
            cursor.txn = None;
            cursor.unset();
        });
        self.first.set(None);
    }

    /// Returns true if no cursor is open.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_none()
    }

    /// Frees the first of a writer's cursors; returns its number in the engine.
    pub(crate) fn free_first(&self) -> Option<CursorId> {
        loop {
            let first = self.first.get()?;
            self.remove(first.get());
            let id = match &first.get().position {
                Position::Write(id) => Some(*id),
                Position::Read(_) => None,
            };
            // SAFETY: it has left the list, which held the only other reference to it.
            drop(unsafe { first.retire() });
            if id.is_some() {
                return id;
            }
        }
    }

    fn each(&self, mut change: impl FnMut(&mut Cursor)) {
        let mut at = self.first.get();
        while let Some(mut cursor) = at {
            let cursor = cursor.get_mut();
            at = cursor.next;
            change(cursor);
        }
    }
}

impl Caller for *mut MDB_cursor {
    fn assert_function(self) -> Option<(*mut MDB_env, MDB_assert_func)> {
        let txn = CURSORS.find(self).ok()?.get().txn?;
        txn.handle().assert_function()
    }
}
