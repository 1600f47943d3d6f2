//! Reader slots: taken once, then used without any lock.

use std::os::fd::AsFd;
use std::sync::atomic::{Ordering, fence};

use fulgurite_format::{Txnid, lockfile};
use fulgurite_os::{LockKind, thread_word, try_lock_byte};

use super::LockFile;
use crate::Error;

/// A reader slot of this process; while one holds it, nobody else uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u32);

impl LockFile {
    /// Takes a slot: one that this process already owns and does not use, else a new one from the table.
    pub(crate) fn take_slot(&self) -> Result<Slot, Error> {
        let used = self.used_slots();
        let own = (0..used).find(|&index| self.claim_own(index));
        match own {
            Some(index) => Ok(Slot(index)),
            None => self.take_new_slot(),
        }
    }

    /// Gives a slot back to this process's stock; it pins nothing any more.
    pub(crate) fn give_back(&self, slot: Slot) {
        self.unpin(slot);
        if let Some(in_use) = self.in_use.get(slot.0 as usize) {
            in_use.store(false, Ordering::Release);
        }
    }

    /// Pins the newest snapshot; returns its id. Takes no lock: writes the id, then looks whether it is still the
    /// newest, so that no writer can have missed the slot.
    pub(crate) fn pin(&self, slot: Slot) -> Txnid {
        let word = self
            .map
            .word64(lockfile::slot_at(slot.0) + lockfile::SLOT_TXNID_AT);
        loop {
            let id = self.last_txnid();
            word.store(id.0, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if self.last_txnid() == id {
                return id;
            }
        }
    }

    /// What the slot pins.
    pub(crate) fn pinned(&self, slot: Slot) -> Txnid {
        Txnid(
            self.map
                .word64(lockfile::slot_at(slot.0) + lockfile::SLOT_TXNID_AT)
                .load(Ordering::Relaxed),
        )
    }

    /// Pins a given snapshot; for read-only openers of files that nobody has committed to since.
    pub(crate) fn pin_at(&self, slot: Slot, id: Txnid) {
        self.map
            .word64(lockfile::slot_at(slot.0) + lockfile::SLOT_TXNID_AT)
            .store(id.0, Ordering::SeqCst);
    }

    /// Lets go of the snapshot but keeps the slot.
    pub(crate) fn unpin(&self, slot: Slot) {
        self.map
            .word64(lockfile::slot_at(slot.0) + lockfile::SLOT_TXNID_AT)
            .store(lockfile::IDLE, Ordering::SeqCst);
    }

    /// The oldest snapshot that a reader of any process uses, if it is older than `limit`; else `limit`.
    pub(crate) fn oldest_reader(&self, limit: Txnid) -> Txnid {
        (0..self.used_slots())
            .filter(|&index| self.slot_pid(index) != 0)
            .map(|index| {
                self.map
                    .word64(lockfile::slot_at(index) + lockfile::SLOT_TXNID_AT)
                    .load(Ordering::SeqCst)
            })
            .fold(limit, |oldest, id| oldest.min(Txnid(id)))
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

    fn claim_own(&self, index: u32) -> bool {
        self.slot_pid(index) == self.pid
            && self.in_use.get(index as usize).is_some_and(|in_use| {
                in_use
                    .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            })
    }

    fn take_new_slot(&self) -> Result<Slot, Error> {
        match self.with_reader_mutex(|| self.take_free_slot_locked())? {
            Some(slot) => Ok(slot),
            None => {
                self.clear_stale()?;
                self.with_reader_mutex(|| self.take_free_slot_locked())?
                    .ok_or(Error::ReadersFull(self.slots))
            }
        }
    }

    fn take_free_slot_locked(&self) -> Result<Option<Slot>, Error> {
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
        if let Some(in_use) = self.in_use.get(index as usize) {
            in_use.store(true, Ordering::SeqCst);
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
            self.announced.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // A forked child must leave its parent's slots alone.
        if fulgurite_os::process_id() != self.pid {
            return;
        }
        for index in 0..self.used_slots() {
            if self.slot_pid(index) == self.pid {
                self.set_slot_pid(index, 0);
            }
        }
    }
}
