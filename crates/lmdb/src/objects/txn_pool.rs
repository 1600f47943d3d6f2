//! Ended transactions that the next ones reuse: many programs begin one for each read, or each
//! change.
//!
//! A pooled reader has no snapshot, no reader slot and no handle, but remembers the snapshot it
//! had. If nothing was committed since, the next begin finds all of it. A pooled writer keeps its
//! memory and remembers the snapshot that it left. It has neither a handle nor the writer mutex.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::slab::{Handle, Retired};

/// Cells of a pool of readers: threads spread over them, so that few share one.
const CELLS: usize = 16;

/// Ended readers, one for each of a few threads.
#[derive(Debug)]
pub(crate) struct ReaderPool<H: Handle> {
    cells: [CachePadded<PoolCell<H>>; CELLS],
}

/// Room for one value, owned by the first thread that uses it. No other thread touches the value,
/// so none of its operations needs an exchange. Threads without a cell do not pool.
#[derive(Debug)]
struct PoolCell<H: Handle> {
    /// The owner; 0 for none. A later thread may have the number of an ended one, and then owns its
    /// cell.
    thread: AtomicU64,
    value: AtomicPtr<H::Value>,
}

impl<H: Handle> Default for ReaderPool<H> {
    fn default() -> Self {
        ReaderPool {
            cells: core::array::from_fn(|_| CachePadded::default()),
        }
    }
}

impl<H: Handle> ReaderPool<H> {
    /// Takes out the reader of a thread.
    #[inline(always)]
    pub(crate) fn take(&self, thread: u64) -> Option<Retired<H>> {
        self.cell(thread).take(thread)
    }

    /// Keeps an ended reader of a thread, or frees it if there is one already or no cell.
    #[inline(always)]
    pub(crate) fn keep(&self, thread: u64, value: Retired<H>) {
        // A value that is not kept is freed by its end.
        let _ = self.cell(thread).keep(thread, value);
    }

    /// The cell that a thread may own.
    fn cell(&self, thread: u64) -> &PoolCell<H> {
        // A thread's number is an address at the end of its stack.
        let page = (thread >> 12) as usize;
        &self.cells[page % CELLS]
    }
}

impl<H: Handle> Default for PoolCell<H> {
    fn default() -> Self {
        PoolCell {
            thread: AtomicU64::new(0),
            value: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

impl<H: Handle> PoolCell<H> {
    /// Takes the value out if the cell is the thread's.
    #[inline(always)]
    fn take(&self, thread: u64) -> Option<Retired<H>> {
        if self.thread.load(Ordering::Relaxed) != thread {
            return None;
        }
        let value = self.value.load(Ordering::Acquire);
        if value.is_null() {
            return None;
        }
        self.value.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: `keep` stored a pointer of `into_raw`. Only the owning thread takes it out, and
        // has just cleared it.
        unsafe { Retired::from_raw(value) }
    }

    /// Keeps a value if the cell is the thread's, or unowned, and empty.
    /// # Errors
    /// The value, if it is not kept.
    #[inline(always)]
    fn keep(&self, thread: u64, value: Retired<H>) -> Result<(), Retired<H>> {
        if !self.is_of(thread) || !self.value.load(Ordering::Relaxed).is_null() {
            return Err(value);
        }
        self.value.store(value.into_raw(), Ordering::Release);
        Ok(())
    }

    /// Returns true if the cell is this thread's, from now on if it was unowned.
    #[inline(always)]
    fn is_of(&self, thread: u64) -> bool {
        let owner = self.thread.load(Ordering::Relaxed);
        owner == thread || owner == 0 && self.claim(thread)
    }

    #[cold]
    fn claim(&self, thread: u64) -> bool {
        let claimed = self
            .thread
            .compare_exchange(0, thread, Ordering::AcqRel, Ordering::Relaxed);
        claimed.is_ok()
    }
}

impl<H: Handle> Drop for PoolCell<H> {
    fn drop(&mut self) {
        // SAFETY: null, or a pointer of `into_raw` that was not taken out; nothing uses the cell
        // after this.
        drop(unsafe { Retired::<H>::from_raw(*self.value.get_mut()) });
    }
}

/// Ended writers: the last of the thread that owns the cell, and the last of all others.
///
/// The writer mutex does not protect this. A writer leaves its memory here after it has released
/// the mutex. The next one takes it before it locks the mutex. So `shared` needs an exchange; `own`
/// does not, since one thread uses it.
#[derive(Debug)]
pub(crate) struct WriterPool<H: Handle> {
    own: PoolCell<H>,
    shared: AtomicPtr<H::Value>,
}

impl<H: Handle> Default for WriterPool<H> {
    fn default() -> Self {
        WriterPool {
            own: PoolCell::default(),
            shared: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

impl<H: Handle> WriterPool<H> {
    /// Takes a writer out.
    #[inline(always)]
    pub(crate) fn take(&self, thread: u64) -> Option<Retired<H>> {
        if let Some(own) = self.own.take(thread) {
            return Some(own);
        }
        if self.shared.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let shared = self.shared.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: null, or a pointer of `into_raw` that `share` stored; the exchange took it out
        // for this thread alone.
        unsafe { Retired::from_raw(shared) }
    }

    /// Keeps an ended writer, or frees it if there is one already.
    #[inline(always)]
    pub(crate) fn keep(&self, thread: u64, value: Retired<H>) {
        if let Err(value) = self.own.keep(thread, value) {
            self.share(value);
        }
    }

    /// Keeps a writer for any thread.
    #[cold]
    fn share(&self, value: Retired<H>) {
        let (free, kept) = (ptr::null_mut(), value.into_raw());
        let result = self
            .shared
            .compare_exchange(free, kept, Ordering::Release, Ordering::Relaxed);
        if result.is_err() {
            // SAFETY: `into_raw` made the pointer above, and it was not stored.
            drop(unsafe { Retired::<H>::from_raw(kept) });
        }
    }
}

impl<H: Handle> Drop for WriterPool<H> {
    fn drop(&mut self) {
        // SAFETY: null, or a pointer of `into_raw` that was not taken out; nothing uses the pool
        // after this.
        drop(unsafe { Retired::<H>::from_raw(*self.shared.get_mut()) });
    }
}
