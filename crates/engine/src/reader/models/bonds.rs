//! Slots change hands within a process: between its threads, and between a thread that ends and its
//! transaction elsewhere.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::machine::{fails, holds};
use super::weakness::Weakness;
use super::world::{MetaWrite, World};
use super::{Slot, SlotOwner, SlotTable};

const HANDLE: u64 = 7;

/// A world, and per slot something that its user alone may touch.
struct Process {
    world: World,
    used: [UnsafeCell<u32>; 2],
}

impl Process {
    fn new(weakness: Weakness) -> Process {
        Process {
            world: World::new(2, weakness, MetaWrite::Map),
            used: [UnsafeCell::new(0), UnsafeCell::new(0)],
        }
    }

    /// Uses a slot; the checker complains if another process does.
    fn use_slot(&self, slot: Slot) {
        self.used[slot.0 as usize].with_mut(|used| {
            // SAFETY: the model is to prove that one thread at a time has a slot.
            unsafe { *used += 1 }
        });
    }

    /// A transaction in a slot of the stock, if one is idle.
    fn read_from_stock(&self) {
        let found = (0..self.world.used_slots()).find(|&index| self.world.claim_stock(index));
        if let Some(index) = found {
            self.use_slot(Slot(index));
            self.world.give_back(Slot(index));
        }
    }
}

/// Two threads take what is in the stock.
fn sharing_the_stock(weakness: Weakness) -> impl Fn() {
    move || {
        let process = Arc::new(Process::new(weakness));
        let slot = process.world.enter(1, SlotOwner::Stock);
        process.world.give_back(slot);
        let other = Arc::clone(&process);
        let other = thread::spawn(move || other.read_from_stock());
        process.read_from_stock();
        process.read_from_stock();
        other.join().unwrap();
        assert!(process.world.claim_stock(slot.0), "the slot is lost");
    }
}

/// One thread takes from the stock what another gives up, to enter its own slot.
fn giving_up_the_stock(weakness: Weakness) -> impl Fn() {
    move || {
        let process = Arc::new(Process::new(weakness));
        let slot = process.world.enter(1, SlotOwner::Stock);
        process.world.give_back(slot);
        let other = Arc::clone(&process);
        let other = thread::spawn(move || other.read_from_stock());
        process.world.give_up_stock();
        let slot = process.world.enter(1, SlotOwner::Once);
        process.use_slot(slot);
        process.world.give_back(slot);
        other.join().unwrap();
        process.world.give_up_stock();
        assert!(process.world.slot_pids().is_empty(), "the slot is lost");
    }
}

/// A thread ends while a transaction of its slot, which went to another thread, ends too. Then a
/// slot is entered anew.
fn leaving(weakness: Weakness) -> impl Fn() {
    move || {
        let process = Arc::new(Process::new(weakness));
        let slot = process.world.enter(1, SlotOwner::Thread(HANDLE));
        let other = Arc::clone(&process);
        let other = thread::spawn(move || {
            other.use_slot(slot);
            other.world.give_back(slot);
        });
        process.world.leave(slot, HANDLE);
        let next = process.world.enter(1, SlotOwner::Once);
        process.use_slot(next);
        process.world.give_back(next);
        other.join().unwrap();
        assert!(process.world.slot_pids().is_empty(), "the slot is lost");
    }
}

/// A thread's own transactions, one after the other, the first of which another thread ends.
fn passing_on(weakness: Weakness) -> impl Fn() {
    move || {
        let process = Arc::new(Process::new(weakness));
        let slot = process.world.enter(1, SlotOwner::Thread(HANDLE));
        let other = Arc::clone(&process);
        let other = thread::spawn(move || {
            other.use_slot(slot);
            other.world.give_back(slot);
        });
        if process.world.claim_bound(slot, HANDLE) {
            process.use_slot(slot);
            process.world.give_back(slot);
        }
        other.join().unwrap();
        assert!(process.world.claim_bound(slot, HANDLE), "the slot is lost");
        process.use_slot(slot);
    }
}

#[test]
fn one_thread_at_a_time_has_a_slot() {
    holds("sharing the stock", sharing_the_stock(Weakness::None));
    holds("giving up the stock", giving_up_the_stock(Weakness::None));
    holds("a thread's slot passed on", passing_on(Weakness::None));
}

#[test]
fn a_slot_outlives_neither_its_thread_nor_its_transaction() {
    holds("a thread that ends", leaving(Weakness::None));
}

#[test]
fn ownership_changes_by_exchange_alone() {
    let texts = ["the slot is lost", "Causality violation"];
    let weakness = Weakness::OwnershipWithoutExchange;
    fails(
        "the stock, looked at and stored",
        &texts,
        sharing_the_stock(weakness),
    );
    fails(
        "the stock given up likewise",
        &texts,
        giving_up_the_stock(weakness),
    );
    fails("a thread that ends likewise", &texts, leaving(weakness));
}
