//! A reader pins and reads while writers commit.

use loom::sync::Arc;
use loom::thread;

use super::machine::{fails, holds};
use super::weakness::Weakness;
use super::world::{FIRST, MetaWrite, World};
use super::{SlotOwner, SlotTable};

/// Texts of the checker: two threads use one page without synchronisation.
pub(super) const RACE: [&str; 2] = ["Causality violation", "a page changed under its reader"];
const TORN: [&str; 2] = ["a page changed under its reader", "Causality violation"];

/// One transaction on the newest snapshot, while that many commits are made.
fn reading(weakness: Weakness, meta_write: MetaWrite, commits: u64) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(1, weakness, meta_write));
        let slot = world.enter(1, SlotOwner::Stock);
        let writer = Arc::clone(&world);
        let writer = thread::spawn(move || {
            for _ in 0..commits {
                writer.commit();
            }
        });
        let id = world.read(slot);
        writer.join().unwrap();
        assert!((FIRST..=FIRST + commits).contains(&id));
        assert_eq!(world.last_txnid().0, FIRST + commits);
    }
}

/// A transaction that had a snapshot and begins again, perhaps on the same, while commits are made.
fn reading_again(weakness: Weakness, commits: u64) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(1, weakness, MetaWrite::Map));
        let slot = world.enter(1, SlotOwner::Stock);
        let (id, root) = world.begin_read(slot);
        world.end_read(slot);
        let writer = Arc::clone(&world);
        let writer = thread::spawn(move || {
            for _ in 0..commits {
                writer.commit();
            }
        });
        world.read_again(slot, id, root);
        writer.join().unwrap();
    }
}

/// A transaction on the snapshot before the newest.
fn reading_the_previous(weakness: Weakness, commits: u64) -> impl Fn() {
    move || {
        let world = Arc::new(World::new(1, weakness, MetaWrite::Map));
        let slot = world.enter(1, SlotOwner::Stock);
        let writer = Arc::clone(&world);
        let writer = thread::spawn(move || {
            for _ in 0..commits {
                writer.commit();
            }
        });
        world.read_previous(slot);
        writer.join().unwrap();
    }
}

#[test]
fn no_page_changes_under_a_reader() {
    for meta_write in [MetaWrite::Map, MetaWrite::File] {
        let name = format!("a read beside three commits, meta page by {meta_write:?}");
        holds(&name, reading(Weakness::None, meta_write, 3));
    }
    holds(
        "a read again beside three commits",
        reading_again(Weakness::None, 3),
    );
    holds(
        "a read of the snapshot before beside three commits",
        reading_the_previous(Weakness::None, 3),
    );
}

/// A program with another library publishes with a plain store. The fence before the writer looks
/// at the slots makes up for that.
#[test]
fn a_plain_publication_is_made_up_for_by_the_fence_before_the_scan() {
    holds(
        "a read again, published plainly",
        reading_again(Weakness::PlainPublication, 3),
    );
    fails(
        "a read again, published plainly, scanned without a fence",
        &RACE,
        reading_again(Weakness::PlainPublicationAndScan, 3),
    );
}

#[test]
fn an_id_stored_without_a_fence_is_overlooked() {
    fails(
        "a read with a relaxed store of the id",
        &RACE,
        reading_again(Weakness::SlotStoreRelaxed, 3),
    );
}

#[test]
fn a_pin_without_a_second_look_is_overlooked() {
    fails(
        "a read again without a second look",
        &RACE,
        reading_again(Weakness::NoSecondLook, 3),
    );
    fails(
        "a read with no look at all",
        &RACE,
        reading(Weakness::NoLookAtAll, MetaWrite::Map, 3),
    );
}

#[test]
fn a_meta_page_that_is_being_written_is_half_of_each() {
    fails(
        "a meta page believed at once",
        &TORN,
        reading(Weakness::Unsettled, MetaWrite::Map, 2),
    );
    fails(
        "the meta page of the snapshot before read beside a writer",
        &TORN,
        reading_the_previous(Weakness::PreviousBesideWriter, 3),
    );
}

#[test]
fn releasing_a_snapshot_orders_earlier_reads() {
    fails(
        "letting go with a relaxed store",
        &RACE,
        reading(Weakness::UnpinRelaxed, MetaWrite::Map, 3),
    );
}

/// The reserve: pages freed by the last commit but one are those that its meta page still leads to.
#[test]
fn pages_that_the_other_meta_page_leads_to_are_left_alone() {
    fails(
        "reuse one transaction too early",
        &["a crash now would lead back"],
        reading(Weakness::ReuseOffByOne, MetaWrite::Map, 1),
    );
    fails(
        "reuse two transactions too early",
        &["a crash now would lead back"],
        reading(Weakness::ReuseOffByTwo, MetaWrite::Map, 1),
    );
}

#[test]
fn a_commit_is_published_after_its_meta_page() {
    fails(
        "published before the meta page",
        &["no meta page could be caught"],
        reading(Weakness::PublishedTooSoon, MetaWrite::Map, 2),
    );
}
