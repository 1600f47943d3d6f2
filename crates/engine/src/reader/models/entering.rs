//! Threads enter slots while writers look at them.

use loom::sync::Arc;
use loom::thread;

use super::machine::{fails, holds};
use super::pinning::RACE;
use super::weakness::Weakness;
use super::world::{MetaWrite, World};
use super::{SlotOwner, SlotTable};

/// A thread enters a slot and reads, while commits are made.
fn entering(weakness: Weakness, commits: u64) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(1, weakness, MetaWrite::Map));
        let reader = Arc::clone(&world);
        let reader = thread::spawn(move || {
            let slot = reader.enter(1, SlotOwner::Once);
            reader.read(slot);
        });
        for _ in 0..commits {
            world.commit();
        }
        reader.join().unwrap();
    }
}

/// Two threads enter at once, each for itself, and read while a commit is made.
fn two_entering(weakness: Weakness, commits: u64) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(2, weakness, MetaWrite::Map));
        let readers: Vec<_> = (1..=2)
            .map(|pid| {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    let slot = world.enter(pid, SlotOwner::Stock);
                    if commits > 0 {
                        world.read(slot);
                    }
                    slot
                })
            })
            .collect();
        for _ in 0..commits {
            world.commit();
        }
        let slots: Vec<_> = readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .collect();
        assert_ne!(slots[0], slots[1], "two threads have one slot");
        assert_eq!(world.used_slots(), 2, "more slots than were used");
        assert_eq!(world.slot_pids(), [1, 2]);
    }
}

#[test]
fn writers_see_every_reader_that_enters() {
    holds("entering beside three commits", entering(Weakness::None, 3));
    holds("two entering", two_entering(Weakness::None, 0));
    holds(
        "two entering and reading beside a commit",
        two_entering(Weakness::None, 1),
    );
}

#[test]
fn a_slot_is_filled_before_it_counts() {
    fails(
        "a slot in use before it is filled",
        &["held back for a snapshot that nobody has"],
        entering(Weakness::EnteredTooSoon, 1),
    );
    fails(
        "a slot that pins before it is somebody's",
        &RACE,
        entering(Weakness::EnteredTooLate, 3),
    );
}

#[test]
fn slots_are_entered_one_at_a_time() {
    fails(
        "entering without the reader mutex",
        &["two threads have one slot", "more slots than were used"],
        two_entering(Weakness::NoReaderMutex, 0),
    );
}
