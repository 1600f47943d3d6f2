//! The file under load: it stops growing, keeps exactly the pages that readers need, and reuses
//! large runs.

use fulgurite::{Database, Environment, KeyOrder, Snapshot};

fn open(directory: &tempfile::TempDir) -> Environment {
    Environment::options()
        .durability(fulgurite::Durability::NoSync)
        .open(directory.path())
        .unwrap()
}

fn things(environment: &Environment) -> Database {
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Integer).unwrap();
    txn.commit().unwrap();
    things
}

fn assert_sound(directory: &tempfile::TempDir) {
    let report = fulgurite::check::check_file(&directory.path().join("data.mdb")).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

fn last_page(environment: &Environment) -> u64 {
    environment.info().unwrap().last_page
}

/// Replaces `count` records by values of `len` bytes in one transaction.
fn churn(environment: &Environment, things: Database, round: u64, count: u64, len: usize) {
    let mut txn = environment.write().unwrap();
    for index in 0..count {
        let key = (index * 7 + round) % 5000;
        txn.put(things, &key.to_ne_bytes(), &vec![round as u8; len])
            .unwrap();
    }
    txn.commit().unwrap();
}

#[test]
fn the_file_stops_growing_under_steady_churn() {
    for (count, len) in [(1, 100), (50, 300), (20, 9000)] {
        let directory = tempfile::tempdir().unwrap();
        let environment = open(&directory);
        let things = things(&environment);
        for round in 0..300 {
            churn(&environment, things, round * 13, count.max(20), len);
        }
        for key in 0..5000_u64 {
            let mut txn = environment.write().unwrap();
            if key % 500 == 0 {
                txn.put(things, &key.to_ne_bytes(), &vec![1; len]).unwrap();
            }
            txn.commit().unwrap();
        }
        for round in 0..300 {
            churn(&environment, things, round * 13, count, len);
        }
        let before = last_page(&environment);
        for round in 300..1200 {
            churn(&environment, things, round * 13 % 3900, count, len);
        }
        let after = last_page(&environment);
        assert!(
            after <= before + before / 20 + 16,
            "{count} values of {len} octets: {before} pages became {after}"
        );
        assert_sound(&directory);
    }
}

/// Transactions that free so much that their record takes a run. Later ones find the run among the
/// free pages, and the file does not grow by one each time.
#[test]
fn the_runs_of_long_records_are_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let things = things(&environment);
    let mut state = 7_u64;
    let mut transaction = |puts: u64| {
        let mut txn = environment.write().unwrap();
        for _ in 0..puts {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let key = (state >> 33) % 60_000;
            txn.put(things, &key.to_ne_bytes(), &[1; 400]).unwrap();
        }
        txn.commit().unwrap();
        last_page(&environment)
    };
    for _ in 0..100 {
        transaction(3000);
    }
    let before = transaction(700);
    let after = (0..150).map(|_| transaction(700)).last().unwrap();
    assert!(after < before + 20, "{} pages more", after - before);
    drop(environment);
    assert_sound(&directory);
}

#[test]
fn a_held_reader_pins_its_pages_and_their_end_frees_them() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let things = things(&environment);
    for round in 0..200 {
        churn(&environment, things, round, 100, 200);
    }
    let start = last_page(&environment);
    let held = environment.read().unwrap();
    let seen = held.stat(things).unwrap();
    for round in 0..200 {
        churn(&environment, things, round, 1, 200);
    }
    let pinned = last_page(&environment);
    assert_eq!(held.stat(things).unwrap(), seen);
    let mut cursor = held.cursor(things).unwrap();
    let mut count = 0;
    while cursor.next().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, seen.entries);
    drop(held);
    for round in 0..200 {
        churn(&environment, things, round, 1, 200);
    }
    let later = last_page(&environment);
    assert!(pinned > start, "a commit under a reader takes new pages");
    assert!(later <= pinned + 4, "{start} -> {pinned} -> {later}");
}

#[test]
fn a_large_value_overwritten_many_times_in_one_transaction_takes_little() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let things = things(&environment);
    let mut txn = environment.write().unwrap();
    for round in 0..200_usize {
        txn.put(
            things,
            &1_u64.to_ne_bytes(),
            &vec![round as u8; 100_000 + round % 7],
        )
        .unwrap();
    }
    txn.commit().unwrap();
    assert!(last_page(&environment) < 120, "{}", last_page(&environment));
    let txn = environment.read().unwrap();
    assert_eq!(
        txn.get(things, &1_u64.to_ne_bytes()).unwrap(),
        Some(&vec![199; 100_000 + 199 % 7][..])
    );
}

/// A free list of many thousand pages in one record is split once and then taken in pieces.
#[test]
fn a_huge_free_list_is_used_up_again() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let things = things(&environment);
    for _ in 0..60 {
        churn(&environment, things, 0, 1, 10);
    }
    let mut txn = environment.write().unwrap();
    for key in 0..5000_u64 {
        txn.append(things, &key.to_ne_bytes(), &[3; 5000])
            .unwrap_or_else(|_| {
                txn.put(things, &key.to_ne_bytes(), &[3; 5000]).unwrap();
            });
    }
    txn.commit().unwrap();
    let full = last_page(&environment);
    let mut txn = environment.write().unwrap();
    txn.clear_database(things).unwrap();
    txn.commit().unwrap();
    // The freed pages still belong to the snapshot that the other meta page describes.
    churn(&environment, things, 0, 1, 10);
    for round in 0..100 {
        churn(&environment, things, round * 13, 50, 9000);
    }
    assert!(
        last_page(&environment) <= full + 40,
        "{full} -> {}",
        last_page(&environment)
    );
    assert_sound(&directory);
}

/// Pages pinned by a reader are in long records. Taking one means writing its rest back. So small
/// transactions leave them, as long as the last ones freed enough.
#[test]
fn small_transactions_leave_long_records_alone() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let things = things(&environment);
    churn(&environment, things, 0, 5000, 500);
    let held = environment.read().unwrap();
    for round in 0..3 {
        churn(&environment, things, round, 5000, 500);
    }
    drop(held);
    for round in 0..30 {
        churn(&environment, things, round, 1, 500);
    }
    let long = || {
        let free = environment.read().unwrap().free_pages().unwrap();
        let mut records = free.records().to_vec();
        records.retain(|(_, pages)| *pages > 100);
        records
    };
    let before = long();
    assert!(before.len() >= 2, "{before:?}");
    let last = last_page(&environment);
    for round in 30..300 {
        churn(&environment, things, round, 1, 500);
    }
    assert_eq!(long(), before);
    assert_eq!(last_page(&environment), last);
    assert_sound(&directory);
}

/// Pages written early because memory is bounded are read back and changed again.
#[test]
fn spilled_pages_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .dirty_bytes_max(16 << 12)
        .open(directory.path())
        .unwrap();
    let things = things(&environment);
    let mut txn = environment.write().unwrap();
    for key in (0..20_000_u64).map(|key| key * 7919 % 20_011) {
        txn.put(things, &key.to_ne_bytes(), &key.to_be_bytes())
            .unwrap();
    }
    for key in (0..20_011_u64).step_by(2) {
        txn.delete(things, &key.to_ne_bytes()).unwrap();
    }
    txn.commit().unwrap();
    let txn = environment.read().unwrap();
    let mut cursor = txn.cursor(things).unwrap();
    while let Some((key, value)) = cursor.next().unwrap() {
        let key = u64::from_ne_bytes(key.try_into().unwrap());
        assert_eq!((key % 2, value), (1, &key.to_be_bytes()[..]));
    }
}

/// Small, large, nested and aborted transactions, while readers come and go. However the free list
/// is saved, each page is in use or listed once. Small transactions leave few and short records.
#[test]
fn free_lists_saved_in_one_step_or_several_lose_no_page() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(&directory);
    let things = things(&environment);
    churn(&environment, things, 0, 2000, 200);
    let mut state = 5_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut reader = None;
    for round in 0..400 {
        match random(12) {
            0 => reader = Some(environment.read().unwrap()),
            1 | 2 => reader = None,
            3 => {
                let count = random(900);
                churn(&environment, things, round, count, 150);
            }
            4 => {
                let mut txn = environment.write().unwrap();
                for _ in 0..random(300) {
                    let key = random(5000).to_ne_bytes();
                    txn.delete(things, &key).unwrap();
                }
                txn.commit().unwrap();
            }
            5 => {
                let mut txn = environment.write().unwrap();
                txn.put(things, &random(5000).to_ne_bytes(), &[1; 3000])
                    .unwrap();
                txn.begin_nested().unwrap();
                txn.put(things, &random(5000).to_ne_bytes(), &[2; 30_000])
                    .unwrap();
                if random(2) == 0 {
                    txn.abort_nested();
                } else {
                    txn.commit_nested().unwrap();
                }
                txn.commit().unwrap();
            }
            _ => churn(&environment, things, round * 31, 1 + random(3), 200),
        }
        if round % 8 == 0 {
            assert_sound(&directory);
        }
    }
    drop(reader);
    for round in 0..200 {
        churn(&environment, things, round * 7, 1, 150);
        assert_sound(&directory);
    }
    let free = environment.read().unwrap().free_pages().unwrap();
    let mut newest = free.records().iter().rev().take(2);
    assert!(newest.all(|(_, pages)| *pages <= 16), "{free:?}");
}
