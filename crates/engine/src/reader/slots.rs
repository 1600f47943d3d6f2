//! Reader slots: taken once, then used without any lock.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use fulgurite_os::platform::thread_local;

use fulgurite_format::lockfile;
use fulgurite_os::{LockKind, thread_word, try_lock_byte};

use super::{LockFile, Ownership, Slot, SlotOwner, SlotTable};
use crate::Error;
use crate::boxed_error::BoxedError;

thread_local! {
    /// The slot that this thread had last, in any environment: a hint for the search.
    static LAST_SLOT: Cell<u32> = const { Cell::new(0) };
}

impl SlotTable for LockFile {
    type Word32 = AtomicU32;
    type Word64 = AtomicU64;

    fn slots(&self) -> u32 {
        self.slots
    }

    #[inline]
    fn last_txnid_word(&self) -> &AtomicU64 {
        self.map.word64(lockfile::LAST_TXNID_AT)
    }

    fn used_slots_word(&self) -> &AtomicU32 {
        self.map.word32(lockfile::USED_SLOTS_AT)
    }

    #[inline]
    fn txnid_word(&self, index: u32) -> &AtomicU64 {
        self.map
            .word64(lockfile::slot_at(index) + lockfile::SLOT_TXNID_AT)
    }

    #[inline]
    fn pid_word(&self, index: u32) -> &AtomicU32 {
        self.map
            .word32(lockfile::slot_at(index) + lockfile::SLOT_PID_AT)
    }

    #[inline]
    fn thread_word(&self, index: u32) -> &AtomicU64 {
        self.map
            .word64(lockfile::slot_at(index) + lockfile::SLOT_THREAD_AT)
    }

    fn forget_notes(&self, index: u32) {
        self.stamp_txnid_word(index)
            .store(lockfile::IDLE, Ordering::SeqCst);
        self.stamp_word(index).store(0, Ordering::SeqCst);
        self.end_word(index).store(0, Ordering::SeqCst);
    }

    #[inline]
    fn owned(&self, index: u32) -> Option<&Ownership> {
        self.owned.get(index as usize)
    }

    #[inline]
    fn this_thread(&self) -> u64 {
        thread_word()
    }
}

impl LockFile {
    /// Takes a slot of the stock: an idle one of this process, else a new one from the table. A
    /// thread begins with the slot it had last, so that threads do not meet.
    pub(crate) fn take_slot(&self) -> Result<Slot, BoxedError> {
        let last = LAST_SLOT.get();
        if self.claim_stock(last) {
            return Ok(Slot(last));
        }
        let own = (0..self.used_slots()).find(|&index| self.claim_stock(index));
        let slot = match own {
            Some(index) => Slot(index),
            None => self.take_new_slot(SlotOwner::Stock)?,
        };
        LAST_SLOT.set(slot.0);
        Ok(slot)
    }

    /// Takes a slot from the table that goes back there when it is given back.
    pub(crate) fn take_slot_once(&self) -> Result<Slot, BoxedError> {
        self.take_new_slot(SlotOwner::Once)
    }

    /// Takes the thread out of a slot that is not bound to it.
    #[cfg(feature = "std")]
    pub(crate) fn name_no_thread(&self, slot: Slot) {
        self.thread_word(slot.0).store(0, Ordering::SeqCst);
    }

    /// Takes a slot from the table for the calling thread, which has it until [`LockFile::leave`].
    /// `handle` distinguishes its bonds.
    pub(crate) fn take_slot_bound(&self, handle: u64) -> Result<Slot, BoxedError> {
        self.take_new_slot(SlotOwner::Thread(handle))
    }

    /// Takes the slot that the calling thread had last through a handle, if it is still bound and
    /// idle. A thread that lives is named in no slot but its own, and one that ends leaves its
    /// slots before.
    #[inline]
    pub(crate) fn take_slot_again(&self, slot: Slot, handle: u64) -> bool {
        self.thread_word(slot.0).load(Ordering::Relaxed) == self.this_thread()
            && self.claim_bound(slot, handle)
    }

    /// Ends the bonds of all slots that were made through a handle.
    pub(crate) fn free_slots_of(&self, handle: u64) {
        for index in 0..self.used_slots() {
            self.leave(Slot(index), handle);
        }
    }

    fn take_new_slot(&self, holder: SlotOwner) -> Result<Slot, BoxedError> {
        if let Some(slot) = self.with_reader_mutex(|| self.take_free_slot_locked(holder))? {
            return Ok(slot);
        }
        self.clear_stale()?;
        self.give_up_stock();
        self.with_reader_mutex(|| self.take_free_slot_locked(holder))?
            .ok_or_else(|| Error::ReadersFull(self.slots).into())
    }

    fn take_free_slot_locked(&self, holder: SlotOwner) -> Result<Option<Slot>, BoxedError> {
        self.announce()?;
        Ok(self.enter_free_slot(self.pid, holder))
    }

    /// Locks the byte of our process id, by which others see that we live.
    fn announce(&self) -> Result<(), BoxedError> {
        if !self.announced.load(Ordering::SeqCst) {
            let locked = try_lock_byte(&self.file, u64::from(self.pid), LockKind::Write).map_err(
                Error::io("locking the byte of this process in the lock file"),
            )?;
            if !locked {
                return Err(Error::LockBroken.into());
            }
            // A dead process that had our process id left these slots. No process tests the lock of
            // a living one, so the snapshots would be kept for ever.
            self.free_slots_of_processes(&[self.pid]);
            self.announced.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}
