//! Transactions that have ended, kept for those to come: many programs begin one for each question, or each change.
//!
//! A read transaction that is kept has no snapshot, no reader slot and no handle, but knows the snapshot it had. If nothing
//! was committed since, the next begin finds all of it. A write transaction has its memory, and knows the snapshot that it
//! left behind; it has neither a handle nor the writer mutex.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use crossbeam_utils::CachePadded;

use crate::transaction::{Kind, Txn, this_thread};
use crate::txn::TXNS;

/// Threads are spread over so many places, so that few meet.
const PLACES: usize = 16;

/// A few read transactions that have ended.
#[derive(Debug, Default)]
pub(crate) struct SpareReaders {
    places: [CachePadded<AtomicPtr<Txn>>; PLACES],
}

impl SpareReaders {
    /// Takes one out.
    #[inline]
    pub(crate) fn take(&self) -> Option<NonNull<Txn>> {
        let place = self.place();
        if place.load(Ordering::Relaxed).is_null() {
            return None;
        }
        NonNull::new(place.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Keeps one, or frees it if there is one already.
    ///
    /// # Safety
    /// It has no handle any more, and nobody uses it.
    #[inline]
    pub(crate) unsafe fn keep(&self, txn: NonNull<Txn>) {
        let (free, kept) = (ptr::null_mut(), txn.as_ptr());
        let place = self.place();
        let result = place.compare_exchange(free, kept, Ordering::Release, Ordering::Relaxed);
        if result.is_err() {
            // SAFETY: the caller's promise, and it was given to nobody.
            unsafe { TXNS.remove(txn) };
        }
    }

    /// The calling thread's place.
    fn place(&self) -> &AtomicPtr<Txn> {
        // What tells threads apart is an address at the end of their stacks.
        let page = (this_thread() >> 12) as usize;
        &self.places[page % PLACES]
    }
}

impl Drop for SpareReaders {
    fn drop(&mut self) {
        for place in &self.places {
            if let Some(spare) = NonNull::new(place.swap(ptr::null_mut(), Ordering::Acquire)) {
                // SAFETY: it was put here by `keep`, which had it to itself, and nobody has taken it out.
                unsafe { TXNS.remove(spare) };
            }
        }
    }
}

/// The write transaction that has ended last.
#[derive(Debug, Default)]
pub(crate) struct SpareWriter(AtomicPtr<Txn>);

impl SpareWriter {
    /// Takes it out.
    #[inline]
    pub(crate) fn take(&self) -> Option<NonNull<Txn>> {
        if self.0.load(Ordering::Relaxed).is_null() {
            return None;
        }
        NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire))
    }

    /// Keeps one, or frees it if there is one already.
    ///
    /// # Safety
    /// It has ended, is the eldest of its family, and nobody uses it.
    pub(crate) unsafe fn keep(&self, txn: NonNull<Txn>) {
        let (free, kept) = (ptr::null_mut(), txn.as_ptr());
        let result = self
            .0
            .compare_exchange(free, kept, Ordering::Release, Ordering::Relaxed);
        if result.is_err() {
            // SAFETY: the caller's promise, and it was given to nobody.
            unsafe { free_writer(txn) };
        }
    }
}

impl Drop for SpareWriter {
    fn drop(&mut self) {
        if let Some(spare) = self.take() {
            // SAFETY: it was put here by `keep`, which had it to itself, and nobody has taken it out.
            unsafe { free_writer(spare) };
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
