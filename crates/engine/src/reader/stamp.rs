//! The notes of our readers in the padding of their slots: the time since they have their
//! snapshots. The padding also holds the mark by which a writer asks the reader to end.
//!
//! ```text
//!   reader   pins a snapshot, then stamps the slot: when, for which snapshot, which process
//!   anybody  believes a stamp that is for the slot's snapshot and process: the original never stamps
//!   writer   asks: stores the mark, for that snapshot
//!   reader   looks whether there is a mark at each operation; one for another snapshot is left over, and goes
//! ```
//!
//! The request takes nothing away. The snapshot stays pinned, and borrowed data stay valid, until
//! the reader itself ends.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use fulgurite_format::{Txnid, lockfile};
use fulgurite_os::{Word, coarse_clock_ns};

use super::LockFile;
use crate::Error;
use crate::boxed_error::BoxedError;

/// The words of a slot.
pub(super) type SlotWords = [AtomicU64; lockfile::SLOT_LEN / 8];

pub(super) const PINNED: usize = lockfile::SLOT_TXNID_AT / 8;
pub(super) const MARK: usize = lockfile::SLOT_END_AT / 8;

/// The mark of a reader's own slot; one load shows if it may go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndMark<'a>(&'a SlotWords);

/// Means a slot where there is none.
static NEVER: SlotWords = [const { AtomicU64::new(0) }; lockfile::SLOT_LEN / 8];

/// Means the slot of a reader that has no snapshot.
static ALWAYS: SlotWords = [const { AtomicU64::new(u64::MAX) }; lockfile::SLOT_LEN / 8];

impl<'a> EndMark<'a> {
    /// Returns the mark among these words of a slot.
    #[inline]
    pub(super) const fn of(words: &'a SlotWords) -> EndMark<'a> {
        EndMark(words)
    }
}

impl EndMark<'_> {
    /// The transaction has no slot, so it cannot be asked to end.
    pub(crate) const fn never() -> EndMark<'static> {
        EndMark(&NEVER)
    }

    /// The transaction has no snapshot, and cannot go on anyway.
    pub(crate) const fn always() -> EndMark<'static> {
        EndMark(&ALWAYS)
    }

    /// Returns true if one load shows that the reader is asked to end.
    #[inline(always)]
    pub(crate) fn is_set(self) -> bool {
        self.0[MARK].load(Ordering::Relaxed) != 0
    }

    /// Interprets a mark that is set.
    /// # Errors
    /// [`Error::ReaderEnded`] if it is for the snapshot that the reader has;
    /// [`Error::TransactionFailed`] if that has none.
    #[cold]
    #[inline(never)]
    pub(crate) fn look(self) -> Result<(), BoxedError> {
        if core::ptr::eq(self.0, &raw const ALWAYS) {
            return Err(Error::TransactionFailed.into());
        }
        let pinned = Txnid(self.0[PINNED].load(Ordering::Relaxed));
        if mark_asks(&self.0[MARK], pinned) {
            return Err(Error::ReaderEnded.into());
        }
        Ok(())
    }

    /// Returns true if the reader may go on.
    /// # Errors
    /// As [`EndMark::look`].
    #[inline(always)]
    pub(crate) fn check(self) -> Result<(), BoxedError> {
        if self.is_set() {
            return self.look();
        }
        Ok(())
    }
}

/// The mark for a snapshot; never 0.
const fn mark_of(id: Txnid) -> u64 {
    id.0.wrapping_add(1)
}

/// Returns true if a mark asks the reader of snapshot `id` to end; for that reader. One that was
/// left over is taken away.
pub(super) fn mark_asks(word: &impl Word<u64>, id: Txnid) -> bool {
    let mark = word.load(Ordering::Acquire);
    if mark == mark_of(id) {
        return true;
    }
    // If a writer stores another mark meanwhile, that mark stays.
    let _ = word.compare_exchange(mark, 0, Ordering::AcqRel, Ordering::Relaxed);
    false
}

/// Asks the reader that has snapshot `id` in the slot of this mark to end. The reader may have
/// released it, and another reader may have the slot now. The mark does not apply to that one.
pub(super) fn ask_to_end(word: &impl Word<u64>, id: Txnid) {
    word.store(mark_of(id), Ordering::SeqCst);
}

impl LockFile {
    /// For which snapshot a slot is stamped.
    #[inline]
    pub(super) fn stamp_txnid_word(&self, index: u32) -> &AtomicU64 {
        self.map
            .word64(lockfile::slot_at(index) + lockfile::SLOT_STAMP_TXNID_AT)
    }

    /// Since when that snapshot is pinned, and by which process.
    #[inline]
    pub(super) fn stamp_word(&self, index: u32) -> &AtomicU64 {
        self.map
            .word64(lockfile::slot_at(index) + lockfile::SLOT_STAMP_AT)
    }

    /// Returns the word with the snapshot whose reader is asked to end.
    #[inline]
    pub(super) fn end_word(&self, index: u32) -> &AtomicU64 {
        self.map
            .word64(lockfile::slot_at(index) + lockfile::SLOT_END_AT)
    }

    /// For how long the snapshot of a slot has been pinned; `None` if its reader does not say.
    pub(super) fn age(&self, index: u32, pid: u32, id: Txnid) -> Option<Duration> {
        let stamped = self.stamp_txnid_word(index).load(Ordering::Acquire);
        let stamp = self.stamp_word(index).load(Ordering::Acquire);
        let since = lockfile::stamped_ns(stamp, pid).filter(|_| stamped == id.0)?;
        Some(Duration::from_nanos(
            coarse_clock_ns().saturating_sub(since),
        ))
    }

    /// Returns true if the reader of a slot was asked to end.
    pub(super) fn is_asked_to_end(&self, index: u32, id: Txnid) -> bool {
        self.end_word(index).load(Ordering::SeqCst) == mark_of(id)
    }
}
