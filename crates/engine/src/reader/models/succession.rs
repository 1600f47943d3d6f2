//! One writer after the other, also after one that died.

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::machine::{fails, holds, word64};
use super::weakness::Weakness;
use super::world::{Death, FIRST, MetaWrite, World};
use super::{SlotOwner, SlotTable, WriterMark};

/// Two writers and a reader.
fn two_writers(weakness: Weakness) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(1, weakness, MetaWrite::Map));
        let slot = world.enter(1, SlotOwner::Once);
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let world = Arc::clone(&world);
                thread::spawn(move || world.commit())
            })
            .collect();
        world.read(slot);
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(world.last_txnid().0, FIRST + 2, "two commits have one id");
    }
}

/// A writer dies; another follows, and commits so often.
fn succeeding(weakness: Weakness, death: Death, commits: u64) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(1, weakness, MetaWrite::Map));
        let slot = world.enter(1, SlotOwner::Once);
        let writer = Arc::clone(&world);
        let writer = thread::spawn(move || {
            writer.die(death);
            writer.commit_after_a_death();
            for _ in 1..commits {
                writer.commit();
            }
        });
        world.read(slot);
        writer.join().unwrap();
        let was_there = u64::from(death == Death::BeforePublication);
        assert_eq!(world.last_txnid().0, FIRST + was_there + commits);
    }
}

/// Two threads of a process write in turn, and each leaves its mark.
fn marking(is_left_too_late: bool) -> impl Fn() {
    move || {
        let process = Arc::new((
            Mutex::new(()),
            WriterMark::new(word64(0)),
            UnsafeCell::new(0),
        ));
        let write = move |process: &(Mutex<()>, WriterMark<_>, UnsafeCell<u32>), me: u64| {
            let (mutex, mark, data) = process;
            assert!(!mark.is(me), "it is taken for its own predecessor");
            let held = mutex.lock().unwrap();
            assert_eq!(mark.set(me), None, "a predecessor is missed");
            assert!(mark.is(me), "its mark is gone");
            data.with_mut(|data| {
                // SAFETY: the mutex is held.
                unsafe { *data += 1 }
            });
            if is_left_too_late {
                drop(held);
                mark.clear();
            } else {
                mark.clear();
                drop(held);
            }
        };
        let other = Arc::clone(&process);
        let other = thread::spawn(move || {
            write(&other, 1);
            write(&other, 1);
        });
        write(&process, 2);
        write(&process, 2);
        other.join().unwrap();
    }
}

#[test]
fn commits_follow_each_other() {
    holds("two writers and a reader", two_writers(Weakness::None));
    fails(
        "the right to write given up before the publication",
        &[
            "two commits have one id",
            "a crash now would lead back",
            "Causality violation",
        ],
        two_writers(Weakness::PublishedTooLate),
    );
    fails(
        "two writers at a time",
        &[
            "two commits have one id",
            "a crash now would lead back",
            "Causality violation",
        ],
        two_writers(Weakness::NoWriterMutex),
    );
}

#[test]
fn successor_of_a_dead_writer_leaves_readers_their_pages() {
    for death in [
        Death::BeforeMeta,
        Death::WithinMeta,
        Death::BeforePublication,
    ] {
        let name = format!("two commits after a death {death:?}");
        holds(&name, succeeding(Weakness::None, death, 2));
    }
    fails(
        "a successor that does not publish what it found",
        &[
            "a page changed under its reader",
            "no meta page could be caught",
        ],
        succeeding(Weakness::SilentSuccessor, Death::BeforePublication, 1),
    );
}

#[test]
fn a_writer_takes_its_mark_away_before_the_next_comes() {
    holds("marks of writers", marking(false));
    fails(
        "a mark taken away too late",
        &["its mark is gone", "a predecessor is missed"],
        marking(true),
    );
}
