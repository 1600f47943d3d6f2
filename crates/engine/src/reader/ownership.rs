//! The state of a reader slot in this process.
//!
//! ```text
//!                     STOCK idle <---> STOCK busy
//!    not ours  ---->  bound idle <---> bound busy  ----> left  ----> not ours     (the thread ends first)
//!                     once                               ----------> not ours
//! ```

use core::sync::atomic::{AtomicU64, Ordering};

use fulgurite_os::Word;

/// The state of a slot in this process; on a cache line separate, because readers on other cores
/// change theirs.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Ownership<W = AtomicU64>(W);

/// The owner of a slot in use after its transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotOwner {
    /// The process's stock.
    Stock,
    /// All processes.
    Once,
    /// The thread that took it, through the handle of this number.
    Thread(u64),
}

// The kinds of states; the number of a handle is above them. A slot with our process id that is not
// ours was left by a process that died.
const NOT_OURS: u64 = 0;
const STOCK_IDLE: u64 = 1;
const STOCK_BUSY: u64 = 2;
const ONCE_BUSY: u64 = 3;
const BOUND_IDLE: u64 = 4;
const BOUND_BUSY: u64 = 5;
/// In use, but the thread it was bound to has ended.
const LEFT_BUSY: u64 = 6;
const KIND_BITS: u32 = 3;

const fn of(kind: u64, handle: u64) -> u64 {
    handle << KIND_BITS | kind
}

const fn kind(state: u64) -> u64 {
    state & ((1 << KIND_BITS) - 1)
}

impl<W: Word<u64>> Ownership<W> {
    /// A slot that is not ours, on a word of value 0.
    #[cfg(test)]
    pub(super) fn new(word: W) -> Ownership<W> {
        Ownership(word)
    }

    /// Takes a slot of the stock that is idle.
    pub(super) fn claim_stock(&self) -> bool {
        self.0.load(Ordering::Relaxed) == STOCK_IDLE && self.step(STOCK_IDLE, STOCK_BUSY)
    }

    /// Takes a slot that is bound to the calling thread, unless it is in use.
    #[inline]
    pub(super) fn claim_bound(&self, handle: u64) -> bool {
        // Only this thread takes the slot, so there is no race.
        let is_idle = self.0.load(Ordering::Acquire) == of(BOUND_IDLE, handle);
        if is_idle {
            self.0.store(of(BOUND_BUSY, handle), Ordering::Relaxed);
        }
        is_idle
    }

    /// Notes that the slot is ours from now on, and in use.
    pub(super) fn take(&self, holder: SlotOwner) {
        let state = match holder {
            SlotOwner::Stock => STOCK_BUSY,
            SlotOwner::Once => ONCE_BUSY,
            SlotOwner::Thread(handle) => of(BOUND_BUSY, handle),
        };
        self.0.store(state, Ordering::Release);
    }

    /// Ends the use of a slot. Returns true if the slot is to be freed for all processes.
    /// `is_own_thread` tells whether the calling thread is the one it is bound to, if it is bound.
    #[inline]
    pub(super) fn give_back(&self, is_own_thread: impl FnOnce() -> bool) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        let idle = match kind(state) {
            STOCK_BUSY => STOCK_IDLE,
            BOUND_BUSY => of(BOUND_IDLE, state >> KIND_BITS),
            _ => NOT_OURS,
        };
        // The thread of a bound slot may be ending at this moment, unless it is the one that is
        // here.
        if kind(state) == BOUND_BUSY && !is_own_thread() {
            return !self.step(state, idle) && {
                self.0.store(NOT_OURS, Ordering::Release);
                true
            };
        }
        self.0.store(idle, Ordering::Release);
        idle == NOT_OURS
    }

    /// Ends the bond with the calling thread, made through `handle`. Returns true if the slot is to
    /// be freed for all processes now. In use, it will be when its transaction ends.
    pub(super) fn leave(&self, handle: u64) -> bool {
        let free_idle = || self.step(of(BOUND_IDLE, handle), NOT_OURS);
        // Its transaction may end in another thread between the first two looks; begin it cannot
        // any more.
        free_idle() || !self.step(of(BOUND_BUSY, handle), LEFT_BUSY) && free_idle()
    }

    fn step(&self, from: u64, to: u64) -> bool {
        self.0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }
}
