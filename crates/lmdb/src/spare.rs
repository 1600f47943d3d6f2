//! Read transactions that have ended, kept for those to come: many programs begin one for each question.
//!
//! Such a one has no snapshot and no reader slot, but knows the snapshot it had. If nothing was committed since, the next
//! begin finds all of it.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use crate::txn::MDB_txn;

/// Threads are spread over so many places, so that few meet.
const PLACES: usize = 16;

/// A few read transactions that have ended.
#[derive(Debug, Default)]
pub(crate) struct SpareReaders {
    places: [CachePadded<AtomicPtr<MDB_txn>>; PLACES],
}

thread_local! {
    static PLACE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % PLACES
    };
}

impl SpareReaders {
    /// Takes one out.
    pub(crate) fn take(&self) -> Option<Box<MDB_txn>> {
        let place = self.place()?;
        if place.load(Ordering::Relaxed).is_null() {
            return None;
        }
        let spare = place.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: it was put here by `keep`, which had it to itself, and nobody else has taken it out.
        (!spare.is_null()).then(|| unsafe { Box::from_raw(spare) })
    }

    /// Keeps one, or frees it if there is one already.
    pub(crate) fn keep(&self, txn: Box<MDB_txn>) {
        let Some(place) = self.place() else { return };
        let txn = Box::into_raw(txn);
        let kept =
            place.compare_exchange(ptr::null_mut(), txn, Ordering::Release, Ordering::Relaxed);
        if kept.is_err() {
            // SAFETY: made a line above, and given to nobody.
            drop(unsafe { Box::from_raw(txn) });
        }
    }

    /// The calling thread's place; none while it ends.
    fn place(&self) -> Option<&AtomicPtr<MDB_txn>> {
        let index = PLACE.try_with(|place| *place).ok()?;
        self.places.get(index).map(|place| &**place)
    }
}

impl Drop for SpareReaders {
    fn drop(&mut self) {
        for place in &self.places {
            let spare = place.swap(ptr::null_mut(), Ordering::Acquire);
            if !spare.is_null() {
                // SAFETY: as in `take`.
                drop(unsafe { Box::from_raw(spare) });
            }
        }
    }
}
