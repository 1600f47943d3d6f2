//! The readers of all processes, read from their slots.

use alloc::vec::Vec;
use core::sync::atomic::Ordering;

use fulgurite_format::{Txnid, lockfile};

use super::{LockFile, SlotTable};
use crate::reader_info::Reader;

impl LockFile {
    /// The slots in use, in their order.
    pub(crate) fn readers(&self) -> Vec<Reader> {
        (0..self.used_slots())
            .filter_map(|index| self.reader(index))
            .collect()
    }

    /// The thread that holds the writer mutex, as the C library notes it there.
    pub(crate) fn writer_thread(&self) -> Option<u32> {
        let word = self.map.word32(lockfile::WRITER_MUTEX_AT);
        let thread = word.load(Ordering::Relaxed) & lockfile::MUTEX_THREAD_MASK;
        (thread != 0).then_some(thread)
    }

    /// The reader in a slot; `None` if that is free.
    pub(super) fn reader(&self, index: u32) -> Option<Reader> {
        let pid = self.slot_pid(index);
        if pid == 0 {
            return None;
        }
        let id = self.txnid_word(index).load(Ordering::SeqCst);
        let snapshot = (id != lockfile::IDLE).then_some(Txnid(id));
        // Read after the slot: nothing that is pinned is newer.
        let newest = self.last_txnid();
        Some(Reader {
            pid,
            thread: self.thread_word(index).load(Ordering::SeqCst),
            snapshot,
            age: snapshot.and_then(|id| self.age(index, pid, id)),
            lag: snapshot.map_or(0, |id| newest.0.saturating_sub(id.0)),
            is_asked_to_end: snapshot.is_some_and(|id| self.is_asked_to_end(index, id)),
        })
    }
}
