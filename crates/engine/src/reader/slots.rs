//! Reader slots: taken once, then used without any lock.

use std::cell::Cell;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use fulgurite_format::{Txnid, lockfile};
use fulgurite_os::{LockKind, thread_word, try_lock_byte};

use super::{Holder, LockFile, Ownership};
use crate::{Error, Reader};

/// A reader slot of this process; while one holds it, nobody else uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u32);

thread_local! {
    /// The slot this thread had last, of whatever environment: only a place to begin looking.
    static LAST_SLOT: Cell<u32> = const { Cell::new(0) };
}

impl LockFile {
    /// Takes a slot of the stock: one that this process already has and does not use, else a new one from the table. A
    /// thread begins with the slot it had last, so that threads do not meet.
    pub(crate) fn take_slot(&self) -> Result<Slot, Error> {
        let last = LAST_SLOT.get();
        if self.claim_stock(last) {
            return Ok(Slot(last));
        }
        let own = (0..self.used_slots()).find(|&index| self.claim_stock(index));
        let slot = match own {
            Some(index) => Slot(index),
            None => self.take_new_slot(Holder::Stock)?,
        };
        LAST_SLOT.set(slot.0);
        Ok(slot)
    }

    /// Takes a slot from the table that goes back there when it is given back.
    pub(crate) fn take_slot_once(&self) -> Result<Slot, Error> {
        self.take_new_slot(Holder::Once)
    }

    /// Takes a slot from the table for the calling thread, which has it until [`LockFile::leave`]. `handle` tells its
    /// bonds apart.
    pub(crate) fn take_slot_bound(&self, handle: u64) -> Result<Slot, Error> {
        self.take_new_slot(Holder::Thread(handle))
    }

    /// Takes the slot that is bound to the calling thread; `false` if a transaction has it.
    #[inline]
    pub(crate) fn claim_bound(&self, slot: Slot, handle: u64) -> bool {
        self.owned
            .get(slot.0 as usize)
            .is_some_and(|owned| owned.claim_bound(handle))
    }

    /// Ends the bond of a slot with the calling thread.
    pub(crate) fn leave(&self, slot: Slot, handle: u64) {
        let owned = self.owned.get(slot.0 as usize);
        if owned.is_some_and(|owned| owned.leave(handle)) {
            self.set_slot_pid(slot.0, 0);
        }
    }

    /// Ends the bonds of all slots that were made through a handle.
    pub(crate) fn free_slots_of(&self, handle: u64) {
        for index in 0..self.used_slots() {
            self.leave(Slot(index), handle);
        }
    }

    /// Gives a slot back to whom it belongs; it pins nothing any more.
    #[inline]
    pub(crate) fn give_back(&self, slot: Slot) {
        self.unpin(slot);
        let is_own_thread = || {
            let at = lockfile::slot_at(slot.0) + lockfile::SLOT_THREAD_AT;
            self.map.word64(at).load(Ordering::Relaxed) == thread_word()
        };
        if let Some(owned) = self.owned.get(slot.0 as usize)
            && owned.give_back(is_own_thread)
        {
            self.set_slot_pid(slot.0, 0);
        }
    }

    /// Pins the newest snapshot; returns its id. Takes no lock: writes the id, then looks whether it is still the
    /// newest, so that no writer can have missed the slot.
    #[inline]
    pub(crate) fn pin(&self, slot: Slot) -> Txnid {
        let word = self.txnid_word(slot.0);
        loop {
            let id = self.last_txnid();
            // Stored by an exchange, which is a full fence: either the next writer, who has such a fence before it looks
            // at the slots, sees this one; or the id it follows is seen here.
            word.swap(id.0, Ordering::SeqCst);
            if self.last_txnid() == id {
                return id;
            }
        }
    }

    /// What the slot pins.
    pub(crate) fn pinned(&self, slot: Slot) -> Txnid {
        Txnid(self.txnid_word(slot.0).load(Ordering::Relaxed))
    }

    /// Pins a given snapshot: one that no writer reuses pages of before it has looked at the slots again.
    pub(crate) fn pin_at(&self, slot: Slot, id: Txnid) {
        self.txnid_word(slot.0).swap(id.0, Ordering::SeqCst);
    }

    /// Lets go of the snapshot but keeps the slot.
    pub(crate) fn unpin(&self, slot: Slot) {
        // All reads of the snapshot come before this, so nothing of it is reused under them.
        self.txnid_word(slot.0)
            .store(lockfile::IDLE, Ordering::Release);
    }

    /// The oldest snapshot that a reader of any process uses, if it is older than `limit`; else `limit`.
    pub(crate) fn oldest_reader(&self, limit: Txnid) -> Txnid {
        fence(Ordering::SeqCst);
        (0..self.used_slots())
            .filter(|&index| self.slot_pid(index) != 0)
            .map(|index| self.txnid_word(index).load(Ordering::SeqCst))
            .fold(limit, |oldest, id| oldest.min(Txnid(id)))
    }

    /// The slots in use.
    pub(crate) fn readers(&self) -> Vec<Reader> {
        let reader = |index: u32| {
            let pid = self.slot_pid(index);
            let at = lockfile::slot_at(index) + lockfile::SLOT_THREAD_AT;
            let id = self.txnid_word(index).load(Ordering::SeqCst);
            (pid != 0).then(|| Reader {
                pid,
                thread: self.map.word64(at).load(Ordering::SeqCst),
                snapshot: (id != lockfile::IDLE).then_some(Txnid(id)),
            })
        };
        (0..self.used_slots()).filter_map(reader).collect()
    }

    #[inline]
    fn txnid_word(&self, index: u32) -> &AtomicU64 {
        self.map
            .word64(lockfile::slot_at(index) + lockfile::SLOT_TXNID_AT)
    }

    /// Slots ever used, never more than the file has.
    pub(crate) fn used_slots(&self) -> u32 {
        self.map
            .word32(lockfile::USED_SLOTS_AT)
            .load(Ordering::SeqCst)
            .min(self.slots)
    }

    pub(super) fn slot_pid(&self, index: u32) -> u32 {
        self.map
            .word32(lockfile::slot_at(index) + lockfile::SLOT_PID_AT)
            .load(Ordering::SeqCst)
    }

    pub(super) fn set_slot_pid(&self, index: u32, pid: u32) {
        self.map
            .word32(lockfile::slot_at(index) + lockfile::SLOT_PID_AT)
            .store(pid, Ordering::SeqCst);
    }

    #[inline]
    fn claim_stock(&self, index: u32) -> bool {
        self.owned
            .get(index as usize)
            .is_some_and(Ownership::claim_stock)
    }

    fn take_new_slot(&self, holder: Holder) -> Result<Slot, Error> {
        if let Some(slot) = self.with_reader_mutex(|| self.take_free_slot_locked(holder))? {
            return Ok(slot);
        }
        self.clear_stale()?;
        self.give_up_stock();
        self.with_reader_mutex(|| self.take_free_slot_locked(holder))?
            .ok_or(Error::ReadersFull(self.slots))
    }

    /// Frees what the process keeps for later: another handle of it needs a slot of its own.
    fn give_up_stock(&self) {
        for index in 0..self.used_slots() {
            if self.claim_stock(index)
                && let Some(owned) = self.owned.get(index as usize)
            {
                owned.take(Holder::Once);
                self.give_back(Slot(index));
            }
        }
    }

    fn take_free_slot_locked(&self, holder: Holder) -> Result<Option<Slot>, Error> {
        self.announce()?;
        let used = self.used_slots();
        let free = (0..used)
            .find(|&index| self.slot_pid(index) == 0)
            .or((used < self.slots).then_some(used));
        let Some(index) = free else { return Ok(None) };
        let at = lockfile::slot_at(index);
        self.set_slot_pid(index, 0);
        self.map
            .word64(at + lockfile::SLOT_TXNID_AT)
            .store(lockfile::IDLE, Ordering::SeqCst);
        self.map
            .word64(at + lockfile::SLOT_THREAD_AT)
            .store(thread_word(), Ordering::SeqCst);
        if index == used {
            self.map
                .word32(lockfile::USED_SLOTS_AT)
                .store(index + 1, Ordering::SeqCst);
        }
        if let Some(owned) = self.owned.get(index as usize) {
            owned.take(holder);
        }
        self.set_slot_pid(index, self.pid);
        Ok(Some(Slot(index)))
    }

    /// Locks the octet of our process id, by which others see that we live.
    fn announce(&self) -> Result<(), Error> {
        if !self.announced.load(Ordering::SeqCst) {
            let locked = try_lock_byte(self.file.as_fd(), u64::from(self.pid), LockKind::Write)
                .map_err(Error::io(
                    "locking the octet of this process in the lock file",
                ))?;
            if !locked {
                return Err(Error::LockBroken);
            }
            // What bears our process id now was left by a dead process that had it before; as nobody tests the lock of
            // the living, its snapshots would be kept for ever.
            for index in 0..self.used_slots() {
                if self.slot_pid(index) == self.pid {
                    self.set_slot_pid(index, 0);
                }
            }
            self.announced.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}
