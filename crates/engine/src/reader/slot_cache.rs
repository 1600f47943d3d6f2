//! The words of a reader's slot, looked up once: many programs begin a transaction for each
//! question.

use core::sync::atomic::{AtomicU64, Ordering};

use fulgurite_format::{Txnid, lockfile};
use fulgurite_os::{coarse_clock_ns, thread_word};

use super::stamp::{EndMark, MARK, PINNED, SlotWords};
use super::table::{pin_newest, unpin};
use super::{LockFile, Ownership, Slot, SlotTable};

const THREAD: usize = lockfile::SLOT_THREAD_AT / 8;
const STAMP_TXNID: usize = lockfile::SLOT_STAMP_TXNID_AT / 8;
const STAMP: usize = lockfile::SLOT_STAMP_AT / 8;

/// A slot that the process has, or has had, with all its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReaderSlotCache<'a> {
    slot: Slot,
    pid: u32,
    words: &'a SlotWords,
    last_txnid: &'a AtomicU64,
    owned: &'a Ownership,
}

impl LockFile {
    /// The words of a slot.
    pub(crate) fn slot_cache(&self, slot: Slot) -> Option<ReaderSlotCache<'_>> {
        Some(ReaderSlotCache {
            slot,
            pid: self.pid,
            words: self.map.words(lockfile::slot_at(slot.0)),
            last_txnid: self.last_txnid_word(),
            owned: self.owned(slot.0)?,
        })
    }
}

impl<'a> ReaderSlotCache<'a> {
    pub(crate) const fn slot(self) -> Slot {
        self.slot
    }

    /// As [`LockFile::take_slot_again`].
    #[inline]
    pub(crate) fn take_again(self, handle: u64) -> bool {
        self.is_of_this_thread() && self.owned.claim_bound(handle)
    }

    /// As [`SlotTable::pin`].
    #[inline]
    pub(crate) fn pin(self) -> Txnid {
        pin_newest(&self.words[PINNED], self.last_txnid)
    }

    /// As [`SlotTable::unpin`].
    #[inline]
    pub(crate) fn unpin(self) {
        unpin(&self.words[PINNED]);
    }

    /// As [`SlotTable::give_back`]. Returns true if the slot is to be freed for all processes.
    #[inline]
    pub(crate) fn give_back(self) -> bool {
        self.unpin();
        self.owned.give_back(|| self.is_of_this_thread())
    }

    /// Returns the stamp for [`ReaderSlotCache::stamp`]. Asked before the snapshot is pinned:
    /// behind the fence that this takes, it would be waited for.
    #[inline]
    pub(crate) fn stamp_of_now(self) -> u64 {
        lockfile::stamp(coarse_clock_ns(), self.pid)
    }

    /// Notes the time when the slot's snapshot was pinned. Earlier requests to the slot are
    /// settled.
    #[inline]
    pub(crate) fn stamp(self, stamp: u64, id: Txnid) {
        self.words[STAMP].store(stamp, Ordering::Relaxed);
        // A thread that sees the stamp's snapshot also sees the stamp.
        self.words[STAMP_TXNID].store(id.0, Ordering::Release);
        let mark = &self.words[MARK];
        if mark.load(Ordering::Relaxed) != 0 {
            mark.store(0, Ordering::Relaxed);
        }
    }

    /// The mark of the slot.
    #[inline]
    pub(crate) const fn end_mark(self) -> EndMark<'a> {
        EndMark::of(self.words)
    }

    #[inline]
    fn is_of_this_thread(self) -> bool {
        self.words[THREAD].load(Ordering::Relaxed) == thread_word()
    }
}
