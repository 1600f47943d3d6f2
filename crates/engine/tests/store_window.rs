//! Writers without flushes store pages through a window. Afterwards the file has exactly the stored
//! contents.

use std::collections::BTreeMap;
use std::fs;

use fulgurite::check::{CheckOptions, check_environment};
use fulgurite::{CompactStep, Compaction, Database, Durability, Environment, Snapshot};

const MAIN: Database = Database::MAIN;
type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Returns true if this process can write to the file through one of its maps.
fn has_window(directory: &std::path::Path) -> bool {
    let data = directory.join("data.mdb").canonicalize().unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let of_data = |line: &&str| line.ends_with(data.to_str().unwrap());
    maps.lines()
        .filter(of_data)
        .any(|line| line.contains(" rw-s "))
}

fn churn(environment: &Environment, model: &mut Model, rounds: std::ops::Range<u64>) {
    let mut number = rounds.start * 7919 + 1;
    let mut next = || {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        number >> 33
    };
    for round in rounds {
        let mut txn = environment.write().unwrap();
        for _ in 0..40 {
            let key = format!("{:05}", next() % 4000).into_bytes();
            // A value of several pages now and then.
            let len = if next() % 40 == 0 { 20_000 } else { 90 };
            let value = vec![next() as u8; len];
            if next() % 8 == 0 {
                assert_eq!(
                    txn.delete(MAIN, &key).unwrap(),
                    model.remove(&key).is_some()
                );
            } else {
                txn.put(MAIN, &key, &value).unwrap();
                model.insert(key, value);
            }
        }
        if round % 9 == 8 {
            // Pages written early and undone leave nothing behind.
            let mut undone = txn.nested().unwrap();
            undone.put(MAIN, b"undone", &[1; 50_000]).unwrap();
            undone.abort();
        }
        txn.commit().unwrap();
    }
}

fn assert_same(environment: &Environment, model: &Model) {
    let txn = environment.read().unwrap();
    let mut expected = model.iter();
    for record in txn.range(MAIN, ..).unwrap() {
        let (key, value) = record.unwrap();
        assert_eq!(
            Some((key, value)),
            expected.next().map(|(k, v)| (&k[..], &v[..]))
        );
    }
    assert_eq!(expected.next(), None);
    let checked = check_environment(environment.path(), &CheckOptions::default(), &mut |_, _| ());
    let report = checked.unwrap().report;
    assert!(report.is_sound(), "{report}");
}

#[test]
fn pages_stored_through_the_window_are_in_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let options = Environment::options().durability(Durability::NoSync);
    let environment = options.clone().open(directory.path()).unwrap();
    let mut model = Model::new();
    churn(&environment, &mut model, 0..1);
    assert!(
        !has_window(directory.path()),
        "so little is written by calls"
    );
    churn(&environment, &mut model, 1..300);
    assert!(has_window(directory.path()));
    assert_same(&environment, &model);
    drop(environment);
    assert!(!has_window(directory.path()));
    let environment = options.open(directory.path()).unwrap();
    assert_same(&environment, &model);
}

#[test]
fn flushed_pages_are_written_by_calls() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(directory.path())
        .unwrap();
    let mut model = Model::new();
    environment.set_durability(Durability::NoMetaSync);
    churn(&environment, &mut model, 0..100);
    assert!(!has_window(directory.path()));
    environment.set_durability(Durability::NoSync);
    churn(&environment, &mut model, 100..200);
    assert!(has_window(directory.path()));
    environment.sync(true).unwrap();
    assert_same(&environment, &model);
}

#[test]
fn a_window_does_not_keep_a_file_from_being_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(directory.path())
        .unwrap();
    let mut model = Model::new();
    churn(&environment, &mut model, 0..300);
    assert!(has_window(directory.path()));
    let mut txn = environment.write().unwrap();
    for key in model.keys().skip(100) {
        assert!(txn.delete(MAIN, key).unwrap());
    }
    txn.commit().unwrap();
    let few: Model = model.into_iter().take(100).collect();
    let len = || {
        fs::metadata(directory.path().join("data.mdb"))
            .unwrap()
            .len()
    };
    let before = len();
    let mut compaction = Compaction::default();
    while environment.compact_step(&mut compaction).unwrap() != CompactStep::Done {}
    assert_eq!(compaction.report().kept_length, None);
    assert!(len() < before / 2, "{} of {before}", len());
    assert_same(&environment, &few);
    let mut model = few;
    churn(&environment, &mut model, 300..500);
    assert_same(&environment, &model);
}

/// Writers of one process share their buffers. A page that has free space is written from a buffer
/// that another environment filled.
#[test]
fn free_space_never_carries_another_files_contents() {
    const SECRET: &[u8] = b"of the other file";
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |path: &std::path::Path, durability| {
        let options = Environment::options().durability(durability);
        options.open(path).unwrap()
    };
    let other = open(first.path(), Durability::NoSync);
    for durability in [Durability::NoMetaSync, Durability::NoSync] {
        let environment = open(second.path(), durability);
        for round in 0..120_u64 {
            // The other writer leaves buffers full of its records.
            let mut txn = other.write().unwrap();
            for key in 0..200_u64 {
                txn.put(MAIN, &key.to_be_bytes(), &SECRET.repeat(9))
                    .unwrap();
            }
            txn.commit().unwrap();
            let mut txn = environment.write().unwrap();
            for key in 0..20_u64 {
                let key = (round * 20 + key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                txn.put(MAIN, &key.to_be_bytes(), &[7; 90]).unwrap();
            }
            txn.commit().unwrap();
        }
        if durability == Durability::NoSync {
            assert!(has_window(second.path()));
        }
        let file = fs::read(second.path().join("data.mdb")).unwrap();
        let leaked = file.windows(SECRET.len()).any(|bytes| bytes == SECRET);
        assert!(!leaked, "{durability:?}");
    }
}
