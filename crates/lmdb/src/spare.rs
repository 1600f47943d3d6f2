//! Transactions that have ended, kept for those to come: many programs begin one for each question, or each change.
//!
//! A read transaction that is kept has no snapshot, no reader slot and no handle, but knows the snapshot it had. If nothing
//! was committed since, the next begin finds all of it. A write transaction has its memory, and knows the snapshot that it
//! left behind; it has neither a handle nor the writer mutex.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::transaction::{Kind, Txn, this_thread};
use crate::txn::TXNS;

/// Threads are spread over so many places, so that few meet.
const PLACES: usize = 16;

/// A few read transactions that have ended.
#[derive(Debug, Default)]
pub(crate) struct SpareReaders {
    places: [CachePadded<Place>; PLACES],
}

/// Room for one, which belongs to the first thread that comes by: since nobody else touches it, nothing in it needs an
/// exchange. A thread that has none of its own begins as if nothing had been kept.
#[derive(Debug, Default)]
struct Place {
    /// Whose it is; 0 while it is nobody's. A thread that comes after this one has ended may have the same name, and then
    /// it has the place as well.
    thread: AtomicU64,
    spare: AtomicPtr<Txn>,
}

impl SpareReaders {
    /// Takes one out.
    #[inline]
    pub(crate) fn take(&self) -> Option<NonNull<Txn>> {
        let thread = this_thread();
        let place = self.place(thread);
        if place.thread.load(Ordering::Relaxed) != thread {
            return None;
        }
        let spare = NonNull::new(place.spare.load(Ordering::Acquire))?;
        place.spare.store(ptr::null_mut(), Ordering::Relaxed);
        Some(spare)
    }

    /// Keeps one, or frees it if there is one already or no room.
    ///
    /// # Safety
    /// It has no handle any more, and nobody uses it.
    #[inline]
    pub(crate) unsafe fn keep(&self, txn: NonNull<Txn>) {
        let thread = this_thread();
        let place = self.place(thread);
        if place.is_of(thread) && place.spare.load(Ordering::Relaxed).is_null() {
            place.spare.store(txn.as_ptr(), Ordering::Release);
        } else {
            // SAFETY: the caller's promise, and it was given to nobody.
            unsafe { TXNS.remove(txn) };
        }
    }

    /// The place that a thread may have.
    fn place(&self, thread: u64) -> &Place {
        // What tells threads apart is an address at the end of their stacks.
        let page = (thread >> 12) as usize;
        &self.places[page % PLACES]
    }
}

impl Place {
    /// Whether it is this thread's, from now on if it was nobody's.
    #[inline]
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

impl Drop for SpareReaders {
    fn drop(&mut self) {
        for place in &self.places {
            if let Some(spare) = NonNull::new(place.spare.load(Ordering::Acquire)) {
                // SAFETY: it was put here by `keep`, which had it to itself, and nobody has taken it out; nor will anybody.
                unsafe { TXNS.remove(spare) };
            }
        }
    }
}

/// Write transactions that have ended: the last of the thread that has the place, and the last of all others.
///
/// Writers take turns anyway; but what one leaves behind when it has given up the mutex, and another one finds before it
/// has got it, takes an exchange, unless both are of one thread.
#[derive(Debug, Default)]
pub(crate) struct SpareWriter {
    own: Place,
    shared: AtomicPtr<Txn>,
}

impl SpareWriter {
    /// Takes one out.
    #[inline]
    pub(crate) fn take(&self) -> Option<NonNull<Txn>> {
        let own = &self.own;
        if own.thread.load(Ordering::Relaxed) == this_thread()
            && let Some(spare) = NonNull::new(own.spare.load(Ordering::Acquire))
        {
            own.spare.store(ptr::null_mut(), Ordering::Relaxed);
            return Some(spare);
        }
        if self.shared.load(Ordering::Relaxed).is_null() {
            return None;
        }
        NonNull::new(self.shared.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Keeps one, or frees it if there is one already.
    ///
    /// # Safety
    /// It has ended, is the eldest of its family, and nobody uses it.
    #[inline(always)]
    pub(crate) unsafe fn keep(&self, txn: NonNull<Txn>) {
        let own = &self.own;
        if own.is_of(this_thread()) && own.spare.load(Ordering::Relaxed).is_null() {
            own.spare.store(txn.as_ptr(), Ordering::Release);
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.share(txn) };
    }

    /// Keeps one for any thread.
    #[cold]
    unsafe fn share(&self, txn: NonNull<Txn>) {
        let (free, kept) = (ptr::null_mut(), txn.as_ptr());
        let result = self
            .shared
            .compare_exchange(free, kept, Ordering::Release, Ordering::Relaxed);
        if result.is_err() {
            // SAFETY: the caller's promise, and it was given to nobody.
            unsafe { free_writer(txn) };
        }
    }
}

impl Drop for SpareWriter {
    fn drop(&mut self) {
        for spare in [&self.own.spare, &self.shared] {
            if let Some(spare) = NonNull::new(spare.load(Ordering::Acquire)) {
                // SAFETY: it was put here by `keep`, which had it to itself, and nobody has taken it out; nor will anybody.
                unsafe { free_writer(spare) };
            }
        }
    }
}

/// Frees a write transaction that has ended, with the engine's.
///
/// # Safety
/// It is the eldest of its family, and nobody uses it.
pub(crate) unsafe fn free_writer(txn: NonNull<Txn>) {
    // SAFETY: the caller's promise.
    let mut freed = unsafe { TXNS.take(txn) };
    if let Kind::Write(writer) = &mut freed.kind {
        // SAFETY: the whole family has ended.
        drop(unsafe { writer.take() });
    }
}
