//! Files made to mislead: each of these once led to a crash, or to work or memory without bound.

use std::fs;
use std::path::Path;

use fulgurite::{
    Database, DatabaseFlags, Durability, Environment, Error, Malformed, Move, Pgno, Snapshot,
};
use fulgurite_format::{Meta, Page, PageKind, PageMut, TreeRecord};
use fulgurite_testkit::{Random, Scratch};

use crate::common::open;

const PAGE: usize = 4096;
const KEYS: u32 = 60;

fn is_cycle(error: &Error) -> bool {
    let what = Malformed::Cycle;
    matches!(error, Error::Corrupted { what: found, .. } if *found == what)
}

/// A main database whose keys have several values: most have enough for a small tree, one for a
/// large one.
fn with_trees_of_values(dir: &Path) {
    let environment = open(dir);
    let mut txn = environment.write().expect("the writer");
    let flags = DatabaseFlags(DatabaseFlags::DUP_SORT);
    txn.add_main_flags(flags).expect("values");
    for key in 0..KEYS {
        let count: u32 = if key == 7 { 20_000 } else { 150 };
        for value in 0..count {
            let value = [&value.to_be_bytes()[..], b"of many"].concat();
            txn.put(Database::MAIN, &key.to_be_bytes(), &value)
                .expect("put");
        }
    }
    txn.commit().expect("commit");
}

/// Changes the tree records in the nodes of all leaves.
fn change_records(dir: &Path, change: impl Fn(&mut TreeRecord, &TreeRecord)) {
    let data = dir.join("data.mdb");
    let mut bytes = fs::read(&data).expect("the file");
    let records = |bytes: &[u8]| {
        let mut found = Vec::new();
        for (number, page) in bytes.chunks_exact(PAGE).enumerate() {
            let pgno = Pgno(number as u64);
            let Ok(leaf) = Page::parse(page, pgno, PageKind::Leaf) else {
                continue;
            };
            for index in 0..leaf.len() {
                let Ok(node) = leaf.leaf(index) else { continue };
                if node.flags.0 == 6 {
                    let record = TreeRecord::read(node.data).expect("a record");
                    found.push((pgno, index, record));
                }
            }
        }
        found
    };
    let all = records(&bytes);
    let largest = all.iter().max_by_key(|(_, _, record)| record.entries);
    let largest = largest.expect("a tree of values").2;
    for (pgno, index, mut record) in all {
        change(&mut record, &largest);
        let page = &mut bytes[pgno.0 as usize * PAGE..][..PAGE];
        let page = PageMut::parse(page, pgno, PageKind::Leaf).expect("a leaf");
        let data = page.into_data(index).expect("a record");
        data.copy_from_slice(&record.to_bytes());
    }
    fs::write(&data, bytes).expect("write the file");
}

#[test]
fn many_keys_that_share_one_value_tree_are_a_cycle() {
    let scratch = Scratch::new("shared");
    with_trees_of_values(scratch.path());
    change_records(scratch.path(), |record, largest| *record = *largest);
    let environment = open(scratch.path());
    let snapshot = environment.read().expect("a reader");
    let mut cursor = snapshot.cursor(Database::MAIN).expect("a cursor");
    for (begin, step) in [(Move::First, Move::Next), (Move::Last, Move::Prev)] {
        let mut record = cursor.go(begin).expect("an edge");
        let mut error = None;
        while record.is_some() && error.is_none() {
            (record, error) = match cursor.go(step) {
                Ok(record) => (record, None),
                Err(error) => (None, Some(error)),
            };
        }
        assert!(error.as_ref().is_some_and(is_cycle), "{begin:?}: {error:?}");
    }
    let all = || snapshot.range(Database::MAIN, ..).expect("all");
    let error = all().find_map(Result::err);
    assert!(error.as_ref().is_some_and(is_cycle), "{error:?}");
    let error = all().rev().find_map(Result::err);
    assert!(error.as_ref().is_some_and(is_cycle), "{error:?}");
    // By fixed blocks it is no different, and what copies or clears visits no page twice either.
    drop(snapshot);
    let copied = environment.copy_to(&mut std::io::sink(), true);
    assert!(
        copied.is_err(),
        "a compact copy would be many times as large"
    );
    let mut txn = environment.write().expect("the writer");
    let cleared = txn.clear_database(Database::MAIN);
    let ended = cleared.and_then(|()| txn.commit());
    assert!(ended.is_err(), "pages would be free twice");
}

/// The opposite: in a sound file no walk of a cursor counts as a cycle.
#[test]
fn random_walks_through_sound_value_trees_are_no_cycles() {
    let scratch = Scratch::new("walks");
    with_trees_of_values(scratch.path());
    let environment = open(scratch.path());
    let snapshot = environment.read().expect("a reader");
    let mut cursor = snapshot.cursor(Database::MAIN).expect("a cursor");
    let mut random = Random::new(3);
    let forwards = [
        Move::Next,
        Move::NextDup,
        Move::NextKey,
        Move::LastDup,
        Move::FirstDup,
    ];
    let backwards = [
        Move::Prev,
        Move::PrevDup,
        Move::PrevKey,
        Move::FirstDup,
        Move::LastDup,
    ];
    for _ in 0..4000 {
        let steps = if random.chance(60) {
            &forwards
        } else {
            &backwards
        };
        let step = *random.pick(steps);
        for _ in 0..*random.pick(&[1, 1, 3, 200]) {
            match cursor.go(step) {
                Ok(_) | Err(Error::CursorUnset) => {}
                Err(error) => panic!("{step:?}: {error}"),
            }
        }
    }
    // Through a tree of values again and again, and once more from the key before it.
    for _ in 0..300 {
        cursor.go(Move::Key(&7_u32.to_be_bytes())).expect("the key");
        for _ in 0..4 {
            cursor.go(Move::LastDup).expect("its last value");
            cursor.go(Move::Next).expect("the next key");
            cursor.go(Move::PrevKey).expect("back");
            cursor.go(Move::FirstDup).expect("its first value");
        }
    }
    let all = snapshot.range(Database::MAIN, ..).expect("all");
    let records = all.filter(|record| record.is_ok()).count();
    assert_eq!(records, 20_000 + 150 * (KEYS as usize - 1));
}

/// Overwrites part of both meta pages' main tree records, and the last page.
fn change_metas(dir: &Path, change: impl Fn(&mut Meta)) {
    let data = dir.join("data.mdb");
    let mut bytes = fs::read(&data).expect("the file");
    for page in bytes.chunks_exact_mut(PAGE).take(2) {
        let mut meta = Meta::read(page).expect("a meta page");
        change(&mut meta);
        let octets = meta.to_commit_bytes();
        page[Meta::COMMIT_AT..][..octets.len()].copy_from_slice(&octets);
    }
    fs::write(&data, bytes).expect("write the file");
}

/// Found by `torture corruption --seed 20261121` (1372).
#[test]
fn counts_that_cannot_grow_stay_as_they_are() {
    let scratch = Scratch::new("counts");
    {
        let environment = open(scratch.path());
        let mut txn = environment.write().expect("the writer");
        txn.put(Database::MAIN, b"key", &[7; 20_000]).expect("put");
        txn.commit().expect("commit");
    }
    change_metas(scratch.path(), |meta| {
        for record in [&mut meta.main, &mut meta.free] {
            record.branch_pages = u64::MAX;
            record.leaf_pages = u64::MAX;
            record.overflow_pages = u64::MAX;
            record.entries = u64::MAX;
        }
    });
    let environment = open(scratch.path());
    for round in 0..4_u32 {
        let mut txn = environment.write().expect("the writer");
        for key in 0..300_u32 {
            let value = vec![7; if key % 50 == 0 { 9000 } else { 60 }];
            txn.put(Database::MAIN, &(key * (round + 1)).to_be_bytes(), &value)
                .expect("put");
        }
        txn.delete(Database::MAIN, b"key").expect("delete");
        txn.commit().expect("commit");
    }
    let copied = environment.copy_to(&mut std::io::sink(), true);
    copied.expect("a compact copy counts for itself");
}

/// A meta page names the last page. Neither memory nor the work of a walk may follow from it.
#[test]
fn a_snapshot_that_claims_too_many_pages_gets_no_more_memory() {
    let scratch = Scratch::new("claims");
    {
        let options = Environment::options().durability(Durability::NoSync);
        let environment = options.open(scratch.path()).expect("open");
        let mut txn = environment.write().expect("the writer");
        txn.put(Database::MAIN, b"key", &[7; 20_000]).expect("put");
        txn.commit().expect("commit");
    }
    change_metas(scratch.path(), |meta| meta.last = Pgno(1 << 26));
    // The run's first page says that it is as long as such a file would allow.
    let data = scratch.join("data.mdb");
    let mut bytes = fs::read(&data).expect("the file");
    let mut runs = 0;
    for page in bytes.chunks_exact_mut(PAGE).skip(2) {
        if page[10..12] == [4, 0] && page[12..16] == [5, 0, 0, 0] {
            page[12..16].copy_from_slice(&(1_u32 << 25).to_le_bytes());
            runs += 1;
        }
    }
    assert_eq!(runs, 1, "the value has one run");
    fs::write(&data, bytes).expect("write the file");
    let environment = open(scratch.path());
    let mut txn = environment.write().expect("the writer");
    let deleted = txn.delete(Database::MAIN, b"key");
    assert!(
        matches!(deleted, Err(Error::Corrupted { .. })),
        "{deleted:?}"
    );
    txn.abort();
    let mut txn = environment.write().expect("the writer");
    let cleared = txn.clear_database(Database::MAIN);
    assert!(
        matches!(cleared, Err(Error::Corrupted { .. })),
        "{cleared:?}"
    );
    txn.abort();
    let copied = environment.copy_to(&mut std::io::sink(), true);
    assert!(copied.is_err(), "the run is not there");
}
