//! The thread of this process that has the write transaction.

use core::sync::atomic::{AtomicU64, Ordering};

use fulgurite_os::Word;

/// The thread that has the write transaction; 0 if none of this process has. Changed with the
/// writer mutex held.
#[derive(Debug, Default)]
pub(crate) struct WriterMark<W = AtomicU64>(W);

impl<W: Word<u64>> WriterMark<W> {
    /// Returns an unset mark, on a word of value 0.
    #[cfg(test)]
    pub(super) fn new(word: W) -> WriterMark<W> {
        WriterMark(word)
    }

    /// Returns true if the write transaction is that thread's. It alone can rely on the answer.
    #[inline]
    pub(crate) fn is(&self, thread: u64) -> bool {
        self.0.load(Ordering::Acquire) == thread
    }

    /// Returns true if any thread of this process has the write transaction.
    pub(crate) fn is_set(&self) -> bool {
        !self.is(0)
    }

    /// Notes the thread that has the write transaction now. Returns the thread noted before, if
    /// that one ended without clearing the mark.
    #[inline]
    pub(crate) fn set(&self, thread: u64) -> Option<u64> {
        let before = self.0.load(Ordering::Acquire);
        self.0.store(thread, Ordering::Release);
        Some(before).filter(|thread| *thread != 0)
    }

    /// Clears the mark before the mutex is released.
    #[inline]
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }
}
