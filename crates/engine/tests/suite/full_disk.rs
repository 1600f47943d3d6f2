//! A disk that is really full: a small file system for the test, filled completely.
//!
//! Mounting one needs a privilege. Where a child lacks it, the tests report that they were skipped.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fulgurite::{Database, Environment, Error, Snapshot, WriteTxn};
use fulgurite_testkit::{Ended, Scratch, run_bounded};

use crate::child;
use crate::common::assert_sound;

const DIR: &str = "FULGURITE_TEST_DIR";
const WRITE_MAP: &str = "FULGURITE_TEST_WRITE_MAP";

#[test]
fn a_full_disk_refuses_puts_and_allows_deletions() {
    in_small_file_system(false);
}

#[test]
fn a_full_disk_below_a_writable_map_is_an_error_too() {
    in_small_file_system(true);
}

fn in_small_file_system(write_map: bool) {
    let scratch = Scratch::new("full");
    let program = child::role("full_disk");
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c"])
        .arg("mount -t tmpfs -o size=4m none \"$0\" || exit 77; exec \"$@\"")
        .arg(scratch.path())
        .arg(program.get_program())
        .args(program.get_args());
    for (name, value) in program.get_envs() {
        command.env(name, value.expect("a value"));
    }
    command.env(DIR, scratch.path());
    command.env(WRITE_MAP, if write_map { "1" } else { "0" });
    let outcome = run_bounded(&mut command, Duration::from_secs(60));
    match outcome.ended {
        Ended::Exit(0) => {}
        Ended::Exit(1 | 77 | 127) if !outcome.stdout.contains("begun") => {
            println!(
                "skipped: no file system may be mounted here: {}",
                outcome.stderr
            );
        }
        ended => panic!("{ended:?}: {}\n{}", outcome.stdout, outcome.stderr),
    }
}

/// The child: fills, and then empties.
pub(crate) fn child() {
    println!("begun");
    let dir = child::parameter(DIR);
    let dir = Path::new(&dir);
    let environment = Environment::options()
        .write_map(child::parameter(WRITE_MAP) == "1")
        .open(dir)
        .expect("open");
    let mut stored = 0;
    let full = loop {
        match store(&environment, stored) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 100_000, "the disk never gets full");
    };
    println!("full after {stored}: {full}");
    assert!(matches!(full, Error::Io { .. }), "{full:?}");
    // A big value does not fit either. Afterwards a small one still does not, so no attempt has
    // used up space.
    for _ in 0..50 {
        let mut txn = environment.write().expect("the writer");
        let refused = txn
            .put(Database::MAIN, b"big", &[1; 1 << 20])
            .and_then(|()| txn.commit());
        assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    }
    assert_stored(&environment, 0, stored);
    delete_beside_a_reader(&environment, stored);
    let first = delete_until_nothing_is_left(&environment, stored);
    for number in first..stored {
        change(&environment, |txn| {
            assert!(txn.delete(Database::MAIN, &key(number))?, "{number}");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("deleting {number} of {stored}: {error}"));
        if number % 100 == 0 {
            assert_stored(&environment, number + 1, stored);
        }
    }
    // There is room again.
    for number in 0..stored / 2 {
        store(&environment, number).expect("storing again");
    }
    assert_stored(&environment, 0, stored / 2);
    drop(environment);
    assert_sound(dir, "after all");
    delete_after_others_have_filled_the_disk(dir);
}

/// An environment without disk reserve that opens on a full disk keeps free pages as its reserve.
/// Stored records leave them alone, large values too.
fn delete_after_others_have_filled_the_disk(dir: &Path) {
    let mut others = std::fs::File::create(dir.join("others")).expect("a file");
    while std::io::Write::write_all(&mut others, &[1; 512]).is_ok() {}
    let environment = Environment::options().open(dir).expect("open");
    let mut stored = 0;
    // From large ones to small ones, so that nothing that anything fits into is left.
    let lens = (1..=40).rev().map(|pages| pages * 4096 - 16);
    for (kind, len) in lens.chain([1800, 700]).enumerate() {
        for number in 0.. {
            let name = format!("{:016x}-{kind}-{number}", mixed(number));
            let put = change(&environment, |txn| {
                txn.put(Database::MAIN, name.as_bytes(), &vec![kind as u8; len])
            });
            match put {
                Ok(()) => stored += 1,
                Err(Error::Io { .. }) => break,
                Err(error) => panic!("storing {len} octets on a full disk: {error}"),
            }
            assert!(number < 10_000, "the disk never gets full");
        }
    }
    assert!(stored > 10, "free pages inside the file are used: {stored}");
    let keys: Vec<Vec<u8>> = {
        let txn = environment.read().expect("a reader");
        let all = txn.range(Database::MAIN, ..).expect("all records");
        all.map(|record| record.expect("a record").0.to_vec())
            .collect()
    };
    // Four leaves at a time: more than what the last two transactions have freed.
    let quarter = keys.len() / 4;
    for round in 0..quarter {
        change(&environment, |txn| {
            for key in keys.iter().skip(round).step_by(quarter) {
                txn.delete(Database::MAIN, key)?;
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("deletion {round} of {quarter}: {error}"));
    }
    drop(environment);
    assert_sound(dir, "after others had filled the disk");
}

/// The reader keeps every page that is freed, so these deletions live on what was kept for them.
fn delete_beside_a_reader(environment: &Environment, stored: usize) {
    let reader = environment.read().expect("a reader");
    for number in 0..3 {
        change(environment, |txn| {
            txn.delete(Database::MAIN, &key(number)).map(drop)
        })
        .unwrap_or_else(|error| panic!("deleting {number} beside a reader: {error}"));
    }
    assert_eq!(
        reader.stat(Database::MAIN).expect("stat").entries,
        stored as u64
    );
}

/// The reserve runs out while a reader stays. Then there is an error, and nothing worse. Returns
/// what to delete next.
fn delete_until_nothing_is_left(environment: &Environment, stored: usize) -> usize {
    let _reader = environment.read().expect("a reader");
    for number in 3..stored {
        let deleted = change(environment, |txn| {
            txn.delete(Database::MAIN, &key(number)).map(drop)
        });
        match deleted {
            Ok(()) => {}
            Err(Error::Io { .. }) => return number,
            Err(error) => panic!("deleting {number} without room: {error}"),
        }
    }
    panic!("there is always room");
}

fn key(number: usize) -> Vec<u8> {
    format!("{:016x}", mixed(number)).into_bytes()
}

/// Spreads keys, so that each deletion changes a different leaf.
fn mixed(number: usize) -> u64 {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn change(
    environment: &Environment,
    work: impl FnOnce(&mut WriteTxn<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut txn = environment.write()?;
    work(&mut txn)?;
    txn.commit()
}

fn store(environment: &Environment, number: usize) -> Result<(), Error> {
    change(environment, |txn| {
        txn.put(Database::MAIN, &key(number), &[number as u8; 700])
    })
}

fn assert_stored(environment: &Environment, first: usize, end: usize) {
    let txn = environment.read().expect("a reader");
    assert_eq!(
        txn.stat(Database::MAIN).expect("stat").entries,
        (end - first) as u64
    );
    for number in first..end {
        let value = txn.get(Database::MAIN, &key(number)).expect("get");
        assert_eq!(value, Some(&[number as u8; 700][..]), "{number}");
    }
}

/// A file may claim pages far beyond its end. A store takes disk space for itself only, and not for
/// all those.
#[test]
fn a_claim_of_many_pages_takes_no_disk_space() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    const LAST_PAGE_AT: u64 = 136;
    let scratch = Scratch::new("claim");
    let data = scratch.path().join("data.mdb");
    let open = || Environment::options().open(scratch.path()).expect("open");
    store(&open(), 1).expect("store");
    let file = std::fs::File::options().write(true).open(&data);
    let file = file.expect("the data file");
    for page in 0..2 {
        let claim = (1_u64 << 20).to_le_bytes();
        file.write_all_at(&claim, page * 4096 + LAST_PAGE_AT)
            .expect("write");
    }
    for number in 2..20 {
        store(&open(), number).expect("store");
    }
    let taken = data.metadata().expect("metadata").blocks() * 512;
    assert!(taken < 80 << 20, "{taken} octets");
}

/// A growing file takes disk space in large steps, and the last user gives the rest of a step back.
/// A process in between takes nothing from the others.
#[test]
fn unneeded_disk_space_is_returned_by_the_last_user() {
    use std::os::unix::fs::MetadataExt;
    const RESERVE: u64 = 32 * 4096;
    let scratch = Scratch::new("back");
    let data = scratch.path().join("data.mdb");
    let room_behind = || {
        let found = data.metadata().expect("metadata");
        (found.blocks() * 512).saturating_sub(found.len())
    };
    let open = || Environment::options().open(scratch.path()).expect("open");
    let environment = open();
    for first in (0..20_000).step_by(1000) {
        change(&environment, |txn| {
            (first..first + 1000)
                .try_for_each(|number| txn.put(Database::MAIN, &key(number), &[number as u8; 700]))
        })
        .expect("store");
    }
    let second = open();
    drop(environment);
    let before = room_behind();
    drop(second);
    // File systems that cannot take room in advance have none to give back.
    assert!(before == 0 || room_behind() < before, "{before} octets");
    // A block or two are the file system's own.
    assert!(room_behind() <= RESERVE + (64 << 10), "{}", room_behind());
    let environment = open();
    assert_stored(&environment, 0, 20_000);
    store(&environment, 20_000).expect("store");
    drop(environment);
    assert_stored(&open(), 0, 20_001);
    // If the file has as many free pages, nothing is kept after its end. The next store takes disk
    // space again.
    let environment = open();
    for _ in 0..4 {
        change(&environment, |txn| {
            (0..2000)
                .try_for_each(|number| txn.put(Database::MAIN, &key(number), &[number as u8; 700]))
        })
        .expect("store");
    }
    drop(environment);
    assert!(room_behind() <= 64 << 10, "{}", room_behind());
    let environment = open();
    change(&environment, |txn| {
        txn.delete(Database::MAIN, &key(20_000)).map(drop)
    })
    .expect("delete");
    assert!(room_behind() <= 64 << 10, "{}", room_behind());
    store(&environment, 20_000).expect("store");
    assert!(before == 0 || room_behind() >= RESERVE);
    drop(environment);
    assert!(room_behind() <= 64 << 10, "{}", room_behind());
    assert_stored(&open(), 0, 20_001);
}
