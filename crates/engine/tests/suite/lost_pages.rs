//! Files that are cut off while they are mapped: the operation gets an error, and the process
//! lives.
//!
//! Each case runs in a child, because an unhandled bus error would end the whole test program.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use fulgurite::{Database, Environment, Error, Move, Snapshot};
use fulgurite_testkit::{Ended, Scratch, run_bounded};

use crate::child;

const DIR: &str = "FULGURITE_TEST_DIR";
const CASE: &str = "FULGURITE_TEST_CASE";

type Run = fn(&Path);

const CASES: [(&str, Run); 7] = [
    ("get", get),
    ("scan", scan),
    ("write", write),
    ("writable map", writable_map),
    ("lock file", lock_file),
    ("big value", big_value),
    ("another environment", another_environment),
];

#[test]
fn a_file_that_is_cut_off_gives_errors() {
    for (name, _) in CASES {
        let scratch = Scratch::new("lost");
        let mut command = child::role("lost_pages");
        command.env(DIR, scratch.path()).env(CASE, name);
        let outcome = run_bounded(&mut command, Duration::from_secs(20));
        assert_eq!(outcome.ended, Ended::Exit(0), "{name}: {}", outcome.stderr);
    }
}

/// A process without the guard dies, as with any other mapped file. So the cases above test the
/// guard.
#[test]
fn without_the_guard_the_process_ends() {
    let scratch = Scratch::new("unguarded");
    let mut command = child::role("lost_pages");
    command.env(DIR, scratch.path()).env(CASE, "get");
    command.env("FULGURITE_TEST_UNGUARDED", "1");
    let outcome = run_bounded(&mut command, Duration::from_secs(20));
    assert_ne!(outcome.ended, Ended::Exit(0));
}

/// The child.
pub(crate) fn child() {
    let dir = std::env::var_os(DIR).expect("the directory");
    let case = std::env::var(CASE).expect("the case");
    if std::env::var_os("FULGURITE_TEST_UNGUARDED").is_some() {
        fulgurite::set_bus_guard(false);
    }
    let (_, run) = CASES
        .iter()
        .find(|(name, _)| *name == case)
        .expect("a known case");
    run(Path::new(&dir));
}

const KEYS: usize = 5_000;

fn key(number: usize) -> Vec<u8> {
    format!("key {number:08}").into_bytes()
}

fn filled(dir: &Path, write_map: bool) -> Environment {
    let environment = Environment::options()
        .write_map(write_map)
        .open(dir)
        .expect("open");
    let mut txn = environment.write().expect("the writer");
    for number in 0..KEYS {
        txn.put(Database::MAIN, &key(number), &[7; 200])
            .expect("put");
    }
    txn.commit().expect("commit");
    environment
}

fn cut(path: &Path, len: u64) {
    let file = OpenOptions::new().write(true).open(path).expect("open");
    file.set_len(len).expect("cut");
}

fn cut_data(dir: &Path) {
    cut(&dir.join("data.mdb"), 8192);
}

/// The environment is of no use any more, whatever one does with it.
fn assert_lost(environment: &Environment) {
    assert!(matches!(environment.read().err(), Some(Error::MapLost)));
    assert!(matches!(environment.write().err(), Some(Error::MapLost)));
    assert!(matches!(environment.sync(true).err(), Some(Error::MapLost)));
}

fn get(dir: &Path) {
    let environment = filled(dir, false);
    let txn = environment.read().expect("a reader");
    cut_data(dir);
    txn.get(Database::MAIN, &key(1)).expect_err("it is gone");
    let second = txn.get(Database::MAIN, &key(2));
    assert!(matches!(second, Err(Error::MapLost)), "{second:?}");
    drop(txn);
    assert_lost(&environment);
}

fn scan(dir: &Path) {
    let environment = filled(dir, false);
    let txn = environment.read().expect("a reader");
    let mut cursor = txn.cursor(Database::MAIN).expect("a cursor");
    for _ in 0..KEYS / 2 {
        cursor.go(Move::Next).expect("a step").expect("a record");
    }
    cut_data(dir);
    let rest = (0..KEYS).find_map(|_| cursor.go(Move::Next).err());
    assert!(rest.is_some(), "the scan met nothing");
    drop(cursor);
    drop(txn);
    assert_lost(&environment);
}

fn write(dir: &Path) {
    write_into(filled(dir, false), dir);
}

fn writable_map(dir: &Path) {
    write_into(filled(dir, true), dir);
}

fn write_into(environment: Environment, dir: &Path) {
    let mut txn = environment.write().expect("the writer");
    txn.put(Database::MAIN, &key(1), b"changed").expect("put");
    cut_data(dir);
    let failed = (0..KEYS)
        .find_map(|number| txn.put(Database::MAIN, &key(number), b"changed").err())
        .or_else(|| txn.commit().err());
    assert!(failed.is_some(), "it was committed");
    assert_lost(&environment);
}

/// Without a lock file that others see nothing is protected from anybody.
fn lock_file(dir: &Path) {
    let environment = filled(dir, false);
    cut(&dir.join("lock.mdb"), 0);
    let _ = environment.read().expect_err("a slot nobody sees");
    assert_lost(&environment);
}

/// A value is lent before it is looked at: it may turn to zeros, but then the transaction says so.
fn big_value(dir: &Path) {
    let environment = Environment::options().open(dir).expect("open");
    let mut txn = environment.write().expect("the writer");
    let len = 280 << 20;
    txn.reserve(Database::MAIN, b"big", len)
        .expect("room")
        .fill(9);
    txn.commit().expect("commit");
    let txn = environment.read().expect("a reader");
    let value = txn.get(Database::MAIN, b"big").expect("get").expect("it");
    cut_data(dir);
    // More pages are lost than a process may have mappings.
    assert_eq!(value.iter().map(|octet| u64::from(*octet)).sum::<u64>(), 0);
    let after = txn.get(Database::MAIN, b"big");
    assert!(matches!(after, Err(Error::MapLost)), "{after:?}");
}

/// One environment's loss is not another's.
fn another_environment(dir: &Path) {
    let (one, other) = (dir.join("one"), dir.join("other"));
    std::fs::create_dir(&one).expect("a directory");
    std::fs::create_dir(&other).expect("a directory");
    let lost = filled(&one, false);
    let kept = filled(&other, false);
    let txn = lost.read().expect("a reader");
    cut_data(&one);
    txn.get(Database::MAIN, &key(1)).expect_err("it is gone");
    drop(txn);
    assert_lost(&lost);
    let mut txn = kept.write().expect("the writer");
    txn.put(Database::MAIN, b"more", b"here").expect("put");
    txn.commit().expect("commit");
    let txn = kept.read().expect("a reader");
    assert_eq!(
        txn.get(Database::MAIN, b"more").expect("get"),
        Some(&b"here"[..])
    );
    // Opened again after it was put right, it works.
    drop(lost);
    File::create(one.join("data.mdb"))
        .and_then(|mut file| file.write_all(b""))
        .expect("empty it");
    let again = filled(&one, false);
    again.read().expect("a reader");
}
