//! The protocol between readers and writers: the operations on the shared words of the lock file,
//! and their order.
//!
//! ```text
//!   reader   last id -> own slot, full fence, last id again: the same?      pages of that snapshot are safe
//!   writer   full fence, all slots: the oldest?                             older pages may be used again
//!            ... pages, meta page, last id
//! ```
//!
//! It knows neither files nor mappings, so the models of a model checker run this very code.

use alloc::vec::Vec;
use core::sync::atomic::{Ordering, fence};

use fulgurite_format::{META_PAGES, Txnid, lockfile};
use fulgurite_os::Word;

use super::{Ownership, SlotOwner};

/// A reader slot of this process; while one holds it, no other thread or process uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub(super) u32);

/// Returns true if pages that transaction `freed_by` freed may be used again, when readers have
/// `oldest` or newer snapshots. None of these readers sees the pages. Nor does the snapshot before
/// the last commit, to which a crash may lead back.
#[inline]
pub(crate) fn may_be_reused(freed_by: Txnid, oldest: Txnid) -> bool {
    freed_by < oldest
}

/// As [`SlotTable::pin`], on the words themselves: that of the slot, and that of the last committed
/// id.
#[inline]
pub(super) fn pin_newest<W: Word<u64>>(pinned: &W, last_txnid: &W) -> Txnid {
    loop {
        let id = last_txnid.load(Ordering::SeqCst);
        // An exchange stores the id, which is a full fence. The next writer has such a fence before
        // it looks at the slots. Either it sees this id, or this reader sees the writer's new id.
        pinned.swap(id, Ordering::SeqCst);
        if last_txnid.load(Ordering::SeqCst) == id {
            return Txnid(id);
        }
    }
}

/// As [`SlotTable::unpin`].
#[inline]
pub(super) fn unpin<W: Word<u64>>(pinned: &W) {
    // All reads of the snapshot come before this, so nothing of it is reused under them.
    pinned.store(lockfile::IDLE, Ordering::Release);
}

/// The shared words, and the steps of the protocol on them.
pub(crate) trait SlotTable {
    type Word32: Word<u32>;
    type Word64: Word<u64>;

    /// How many slots there is room for.
    fn slots(&self) -> u32;
    /// The id of the last committed transaction.
    fn last_txnid_word(&self) -> &Self::Word64;
    /// How many slots have ever been used.
    fn used_slots_word(&self) -> &Self::Word32;
    /// The word with the snapshot that a slot pins.
    fn txnid_word(&self, index: u32) -> &Self::Word64;
    /// The word with the process that has a slot; 0 if it is free.
    fn pid_word(&self, index: u32) -> &Self::Word32;
    /// The word with the thread that has a slot.
    fn thread_word(&self, index: u32) -> &Self::Word64;
    /// Clears the notes of a slot's last user, and requests to it.
    fn forget_notes(&self, index: u32);
    /// The state of a slot in this process.
    fn owned(&self, index: u32) -> Option<&Ownership<Self::Word64>>;
    /// How the calling thread is named in slots.
    fn this_thread(&self) -> u64;

    /// A fence: all threads that use it see this thread's earlier accesses before its later ones.
    #[inline]
    fn full_fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// The id of the last committed transaction.
    #[inline]
    fn last_txnid(&self) -> Txnid {
        Txnid(self.last_txnid_word().load(Ordering::SeqCst))
    }

    /// Publishes a commit.
    fn store_last_txnid(&self, id: Txnid) {
        self.last_txnid_word().store(id.0, Ordering::SeqCst);
    }

    /// Pins the newest snapshot; returns its id. Takes no lock. It writes the id, then checks that
    /// the id is still the newest. So no writer can have missed the slot.
    #[inline]
    fn pin(&self, slot: Slot) -> Txnid {
        pin_newest(self.txnid_word(slot.0), self.last_txnid_word())
    }

    /// Returns the snapshot that the slot pins.
    #[inline]
    fn pinned(&self, slot: Slot) -> Txnid {
        Txnid(self.txnid_word(slot.0).load(Ordering::Relaxed))
    }

    /// Pins a given snapshot: one that no writer reuses pages of before it has looked at the slots
    /// again.
    #[inline]
    fn pin_at(&self, slot: Slot, id: Txnid) {
        self.txnid_word(slot.0).swap(id.0, Ordering::SeqCst);
    }

    /// Releases the snapshot but keeps the slot.
    #[inline]
    fn unpin(&self, slot: Slot) {
        unpin(self.txnid_word(slot.0));
    }

    /// Returns the result of `read` on the meta page that commit `id` wrote. Returns `None` if the
    /// page may have been half another commit's.
    #[inline]
    fn read_settled<M, E>(
        &self,
        id: Txnid,
        read: impl FnOnce() -> Result<Option<M>, E>,
    ) -> Result<Option<M>, E> {
        let found = read();
        // The second commit after `id` writes its page again, at the earliest once the first one is
        // published. Before that, all words belong together.
        if self.last_txnid() == id {
            found
        } else {
            Ok(None)
        }
    }

    /// Pins the snapshot before the newest, or the newest if there is none before it. Returns its
    /// meta page, and the number of that page. No writer writes a meta page meanwhile.
    ///
    /// The next writer leaves both snapshots alone, because its own crash may need either. The
    /// writer after it sees the slot.
    fn pin_previous<M, E>(
        &self,
        slot: Slot,
        read: impl Fn(u64) -> Result<(Txnid, M), E>,
    ) -> Result<(u64, M), E> {
        let newest = self.last_txnid();
        let mut page = (newest.0 + 1) % META_PAGES;
        let (mut id, mut meta) = read(page)?;
        if id >= newest {
            // In a new file, or after going back, the page belongs to no transaction before the
            // newest.
            page = newest.0 % META_PAGES;
            (id, meta) = read(page)?;
        }
        self.pin_at(slot, id);
        Ok((page, meta))
    }

    /// The oldest snapshot that a reader of any process uses, if it is older than `limit`; else
    /// `limit`.
    fn oldest_reader(&self, limit: Txnid) -> Txnid {
        self.full_fence();
        (0..self.used_slots())
            .filter(|&index| self.slot_pid(index) != 0)
            .map(|index| self.txnid_word(index).load(Ordering::SeqCst))
            .fold(limit, |oldest, id| oldest.min(Txnid(id)))
    }

    /// Slots ever used, never more than the file has.
    fn used_slots(&self) -> u32 {
        self.used_slots_word()
            .load(Ordering::SeqCst)
            .min(self.slots())
    }

    fn slot_pid(&self, index: u32) -> u32 {
        self.pid_word(index).load(Ordering::SeqCst)
    }

    fn set_slot_pid(&self, index: u32, pid: u32) {
        self.pid_word(index).store(pid, Ordering::SeqCst);
    }

    /// Enters this thread of process `pid` into a free slot, if there is one. The reader mutex is
    /// held.
    fn enter_free_slot(&self, pid: u32, holder: SlotOwner) -> Option<Slot> {
        let used = self.used_slots();
        let index = (0..used)
            .find(|&index| self.slot_pid(index) == 0)
            .or((used < self.slots()).then_some(used))?;
        self.set_slot_pid(index, 0);
        self.txnid_word(index)
            .store(lockfile::IDLE, Ordering::SeqCst);
        self.forget_notes(index);
        self.thread_word(index)
            .store(self.this_thread(), Ordering::SeqCst);
        if index == used {
            self.used_slots_word().store(index + 1, Ordering::SeqCst);
        }
        if let Some(owned) = self.owned(index) {
            owned.take(holder);
        }
        self.set_slot_pid(index, pid);
        Some(Slot(index))
    }

    /// Takes a slot of this process's stock, unless it is in use.
    #[inline]
    fn claim_stock(&self, index: u32) -> bool {
        self.owned(index).is_some_and(Ownership::claim_stock)
    }

    /// Takes the slot that is bound to the calling thread; `false` if a transaction has it.
    #[inline]
    fn claim_bound(&self, slot: Slot, handle: u64) -> bool {
        self.owned(slot.0)
            .is_some_and(|owned| owned.claim_bound(handle))
    }

    /// Gives a slot back to its owner; it pins nothing any more.
    #[inline]
    fn give_back(&self, slot: Slot) {
        self.unpin(slot);
        let is_own_thread =
            || self.thread_word(slot.0).load(Ordering::Relaxed) == self.this_thread();
        if let Some(owned) = self.owned(slot.0)
            && owned.give_back(is_own_thread)
        {
            self.set_slot_pid(slot.0, 0);
        }
    }

    /// Frees a slot for all.
    fn free(&self, slot: Slot) {
        self.set_slot_pid(slot.0, 0);
    }

    /// Ends the bond of a slot with the calling thread.
    fn leave(&self, slot: Slot, handle: u64) {
        if self.owned(slot.0).is_some_and(|owned| owned.leave(handle)) {
            self.set_slot_pid(slot.0, 0);
        }
    }

    /// Frees the stock of the process: another handle of it needs a slot.
    fn give_up_stock(&self) {
        for index in 0..self.used_slots() {
            if self.claim_stock(index)
                && let Some(owned) = self.owned(index)
            {
                owned.take(SlotOwner::Once);
                self.give_back(Slot(index));
            }
        }
    }

    /// The processes that have slots, each once.
    fn slot_pids(&self) -> Vec<u32> {
        let pids = (0..self.used_slots()).map(|index| self.slot_pid(index));
        fulgurite_os::distinct_processes(pids.filter(|&pid| pid != 0))
    }

    /// Frees the slots of processes that died; returns how many. `own` is alive without being asked
    /// for. The caller holds the reader mutex, so that no process can take a dead one's id
    /// meanwhile.
    fn free_dead_slots<E>(
        &self,
        own: u32,
        is_alive: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let dead = self.dead_pids(own, is_alive)?;
        Ok(self.free_slots_of_processes(&dead))
    }

    /// The processes that have slots and are dead.
    fn dead_pids<E>(
        &self,
        own: u32,
        mut is_alive: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<Vec<u32>, E> {
        let mut dead = Vec::new();
        for pid in self.slot_pids() {
            if pid != own && !is_alive(pid)? {
                dead.push(pid);
            }
        }
        Ok(dead)
    }

    /// Frees the slots of some processes; returns how many. The reader mutex is held, if they can
    /// still take any.
    fn free_slots_of_processes(&self, pids: &[u32]) -> usize {
        let mut freed = 0;
        for index in 0..self.used_slots() {
            if pids.contains(&self.slot_pid(index)) {
                self.set_slot_pid(index, 0);
                freed += 1;
            }
        }
        freed
    }
}
