//! Space: a file under steady changes stops growing, and a reader costs no more than the pages it
//! pins.

use fulgurite::{Environment, Snapshot};
use fulgurite_testkit::{Random, Scratch};

use crate::common::{assert_sound, data_bytes, open};

const RECORDS: usize = 4000;
const PAGE: u64 = 4096;

fn key(i: usize) -> [u8; 8] {
    (i as u64).to_be_bytes()
}

fn load(environment: &Environment) {
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(None).expect("the main database");
    for i in 0..RECORDS {
        txn.put(db, &key(i), &[i as u8; 100]).expect("put");
    }
    txn.commit().expect("commit");
}

/// Overwrites, deletes and puts back `changes` records; the number of records stays the same.
fn churn(environment: &Environment, random: &mut Random, changes: usize) {
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(None).expect("the main database");
    for _ in 0..changes {
        let i = random.below(RECORDS);
        if random.chance(30) {
            txn.delete(db, &key(i)).expect("delete");
        }
        let bytes = if i.is_multiple_of(50) { 9000 } else { 100 };
        txn.put(db, &key(i), &vec![random.bits() as u8; bytes])
            .expect("put");
    }
    txn.commit().expect("commit");
}

#[test]
fn the_file_stops_growing_under_steady_churn() {
    for changes in [1, 30, 1500] {
        let scratch = Scratch::new("churn");
        let mut random = Random::new(5);
        let environment = open(scratch.path());
        load(&environment);
        for _ in 0..8 {
            churn(&environment, &mut random, RECORDS);
        }
        for _ in 0..100 {
            churn(&environment, &mut random, changes);
        }
        let settled = data_bytes(scratch.path());
        for _ in 0..400 {
            churn(&environment, &mut random, changes);
        }
        let grown = data_bytes(scratch.path()) - settled;
        assert!(
            grown <= settled / 10,
            "with {changes} changes each: {settled} bytes, then {grown} more"
        );
        drop(environment);
        assert_sound(scratch.path(), "after churning");
    }
}

#[test]
fn a_reader_costs_the_pages_it_pins_and_no_more() {
    let scratch = Scratch::new("held");
    let mut random = Random::new(6);
    let environment = open(scratch.path());
    load(&environment);
    for _ in 0..60 {
        churn(&environment, &mut random, 200);
    }
    let before = data_bytes(scratch.path());
    let reader = environment.read().expect("a reader");
    // While the snapshot is pinned, later freed pages cannot be reused. So n transactions grow the
    // file by the pages that n transactions write.
    let written_before = environment.info().expect("facts").last_page;
    for _ in 0..50 {
        churn(&environment, &mut random, 20);
    }
    let pinned = environment
        .info()
        .expect("facts")
        .last_page
        .saturating_sub(written_before);
    // 20 changes touch at most 20 leaves with 1 or 3 pages of value, two levels of branches, and
    // the free list.
    let bound = 50 * (20 * (1 + 3) + 20);
    assert!(
        pinned <= bound,
        "{pinned} pages more under a held reader; {bound} are explained"
    );
    drop(reader);
    let released = data_bytes(scratch.path());
    for _ in 0..200 {
        churn(&environment, &mut random, 20);
    }
    assert_eq!(
        data_bytes(scratch.path()),
        released,
        "pages the reader pinned are used again; {before} bytes at first"
    );
    drop(environment);
    assert_sound(scratch.path(), "after releasing");
}

/// A reader that is refreshed after every commit pins no more than a reader that is not there.
#[test]
fn a_refreshed_reader_pins_nothing_lasting() {
    let scratch = Scratch::new("refreshed");
    let mut random = Random::new(7);
    let environment = open(scratch.path());
    load(&environment);
    let mut reader = environment.read().expect("a reader");
    for _ in 0..100 {
        churn(&environment, &mut random, 200);
        reader.refresh().expect("refresh");
    }
    let settled = data_bytes(scratch.path());
    for _ in 0..100 {
        churn(&environment, &mut random, 200);
        reader.refresh().expect("refresh");
    }
    let grown = data_bytes(scratch.path()) - settled;
    assert!(grown <= settled / 10, "{grown} bytes more than {settled}");
    let db = reader.open_database(None).expect("the main database");
    assert_eq!(reader.stat(db).expect("stat").entries, RECORDS as u64);
}

/// Deleting everything leaves the pages to be used again.
#[test]
fn an_emptied_environment_is_filled_again_in_the_same_space() {
    let scratch = Scratch::new("emptied");
    let environment = open(scratch.path());
    let mut settled = 0;
    for round in 0..12 {
        load(&environment);
        let mut txn = environment.write().expect("the writer");
        let db = txn.open_database(None).expect("the main database");
        txn.clear_database(db).expect("clear");
        txn.commit().expect("commit");
        if round == 3 {
            settled = data_bytes(scratch.path());
        }
    }
    let end = data_bytes(scratch.path());
    assert!(
        end <= settled + 8 * PAGE,
        "{end} bytes after twelve rounds, {settled} after four"
    );
    drop(environment);
    assert_sound(scratch.path(), "after emptying");
}
