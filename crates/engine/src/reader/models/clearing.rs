//! Slots of the dead are freed while a process takes the id of one of them.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use fulgurite_os::Word;
use loom::sync::Arc;
use loom::thread;

use super::machine::{Word32, fails, holds, word32};
use super::pinning::RACE;
use super::weakness::Weakness;
use super::world::{FIRST, MetaWrite, World};
use super::{SlotOwner, SlotTable};

const OWN: u32 = 1;
/// The id that a process had which died, and that another gets.
const AGAIN: u32 = 7;

/// An environment, and whether the byte of [`AGAIN`] is locked.
struct System {
    world: World,
    byte: Word32,
}

impl System {
    /// As the engine clears: looks without the mutex, and if there is anything to do once more with
    /// it.
    fn clear(&self) {
        let is_alive = |_| Ok::<_, Infallible>(self.byte.load(Ordering::SeqCst) != 0);
        let Ok(dead) = self.world.dead_pids(OWN, is_alive);
        if dead.is_empty() {
            return;
        }
        if self.world.weakness == Weakness::ClearedWithoutMutex {
            self.world.free_slots_of_processes(&dead);
            return;
        }
        let _held = self.world.reader_mutex.lock().unwrap();
        let Ok(_) = self.world.free_dead_slots(OWN, is_alive);
    }

    /// A new process gets the id of the dead one, announces itself, and reads.
    fn begin_again(&self) {
        let slot = {
            let _held = self.world.reader_mutex.lock().unwrap();
            self.byte.store(1, Ordering::SeqCst);
            if self.world.weakness != Weakness::LeftoversKept {
                self.world.free_slots_of_processes(&[AGAIN]);
            }
            self.world.enter_locked(AGAIN, SlotOwner::Once)
        };
        self.world.read(slot);
    }
}

fn an_id_taken_again(weakness: Weakness, commits: u64) -> impl Fn() {
    move || {
        let system = Arc::new(System {
            world: World::new(2, weakness, MetaWrite::Map),
            byte: word32(0),
        });
        let dead = system.world.enter(AGAIN, SlotOwner::Once);
        system.world.pin(dead);
        let process = Arc::clone(&system);
        let process = thread::spawn(move || process.begin_again());
        system.clear();
        for _ in 0..commits {
            system.world.commit();
        }
        process.join().unwrap();
        let newest = system.world.last_txnid();
        assert_eq!(newest.0, FIRST + commits);
        assert_eq!(
            system.world.oldest_reader(newest),
            newest,
            "what a dead process had is kept"
        );
    }
}

#[test]
fn a_living_process_keeps_its_slot() {
    holds("an id taken again", an_id_taken_again(Weakness::None, 3));
    fails(
        "the dead cleared without the reader mutex",
        &RACE,
        an_id_taken_again(Weakness::ClearedWithoutMutex, 3),
    );
}

#[test]
fn a_new_process_frees_what_its_id_left() {
    fails(
        "leftovers under the own id kept",
        &["what a dead process had is kept"],
        an_id_taken_again(Weakness::LeftoversKept, 1),
    );
}
