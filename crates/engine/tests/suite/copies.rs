//! Copies, compared with those of the real `mdb_copy`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fulgurite::{DatabaseFlags, Environment, Error, KeyOrder, Snapshot};
use fulgurite_testkit::{
    Random, Scratch, corrupt_cases, fixture, require_tool, seed, sound_fixtures,
};

use crate::common::{assert_sound, open};

#[test]
fn copies_of_all_fixtures_are_those_of_the_original() {
    let scratch = Scratch::new("copies");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        let environment = open(&dir);
        for compact in [false, true] {
            let ours = copy(&environment, compact);
            let theirs = real_copy(&dir, compact);
            assert!(ours == theirs, "{} compact {compact}", fixture.name);
            if !compact {
                assert!(
                    ours == fs::read(dir.join("data.mdb")).expect("read"),
                    "{}",
                    fixture.name
                );
            }
        }
    }
}

#[test]
fn copies_larger_than_the_buffers_are_those_of_the_original() {
    let scratch = Scratch::new("large-copy");
    let environment = open(scratch.path());
    fill(&environment, 6000);
    let ours = copy(&environment, true);
    assert!(ours.len() > 5 << 20, "{} octets", ours.len());
    assert!(ours == real_copy(scratch.path(), true));
    assert!(copy(&environment, false) == real_copy(scratch.path(), false));
}

#[test]
fn plain_copies_are_the_same_whatever_they_go_to() {
    let scratch = Scratch::new("copies-anywhere");
    let dir = scratch.join("from");
    fs::create_dir(&dir).expect("make a directory");
    fill(&open(&dir), 6000);
    let data = dir.join("data.mdb");
    for cut in [0, 20_000, 3 << 20] {
        // Pages that the file has lost are not in the copy either.
        let environment = open(&dir);
        let file = fs::OpenOptions::new().write(true).open(&data);
        let len = fs::metadata(&data).expect("look").len() - cut;
        file.and_then(|file| file.set_len(len)).expect("cut off");
        let through_a_buffer = copy(&environment, false);
        assert!(through_a_buffer == fs::read(&data).expect("read"));
        let random = Environment::options().no_read_ahead(true);
        drop(environment);
        for (number, options) in [Environment::options(), random].iter().enumerate() {
            let environment = options.open(&dir).expect("open");
            let target = scratch.join(&format!("file-{cut}-{number}"));
            let mut told = Vec::new();
            let copied = environment.copy_to_file(&target, false, &mut |so_far| {
                told.push(so_far);
                Ok(())
            });
            copied.expect("copy");
            assert!(fs::read(&target).expect("read") == through_a_buffer);
            assert!(told.is_sorted() && told.len() as u64 >= len >> 20);
            let target = scratch.join(&format!("descriptor-{cut}-{number}"));
            let file = fs::File::create(&target).expect("make a file");
            environment.copy_to_fd(file.as_fd(), false).expect("copy");
            assert!(fs::read(&target).expect("read") == through_a_buffer);
        }
    }
}

#[test]
fn copies_of_duplicates_of_our_own_are_those_of_the_original() {
    let scratch = Scratch::new("dup-copy");
    let environment = open(scratch.path());
    let mut random = Random::new(seed("duplicate copies", 11));
    let sorted = DatabaseFlags::DUP_SORT;
    let fixed = sorted | DatabaseFlags::DUP_FIXED;
    let mut txn = environment.write().expect("write");
    for (name, flags, len) in [
        ("long", sorted, None),
        ("reverse", sorted | DatabaseFlags::REVERSE_DUP, None),
        ("fixed-3", fixed, Some(3)),
        ("fixed-8", fixed | DatabaseFlags::INTEGER_DUP, Some(8)),
    ] {
        let flags = DatabaseFlags(flags);
        let database = txn.create_named(name.as_bytes(), flags).expect("create");
        for key in 0..40u32 {
            for _ in 0..random.below(400) {
                let len = len.unwrap_or(1 + random.below(300));
                let value: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
                txn.put(database, &key.to_be_bytes(), &value).expect("put");
            }
        }
    }
    txn.commit().expect("commit");
    for compact in [false, true] {
        assert!(copy(&environment, compact) == real_copy(scratch.path(), compact));
    }
    let target = scratch.join("target");
    fs::create_dir(&target).expect("make a directory");
    environment.copy_to_path(&target, true).expect("copy");
    assert_sound(&target, "a compact copy with duplicates");
}

#[test]
fn leaked_pages_are_left_behind() {
    let scratch = Scratch::new("leaked");
    let dir = fixture("churn").copy_to(&scratch);
    let whole = real_copy(&dir, true);
    // Both meta pages forget the free list: depth 0, nothing counted, no root.
    let mut bytes = fs::read(dir.join("data.mdb")).expect("read");
    for meta in [0, 4096] {
        bytes[meta + 46..meta + 80].fill(0);
        bytes[meta + 80..meta + 88].fill(0xff);
    }
    fs::write(dir.join("data.mdb"), bytes).expect("write");
    let environment = open(&dir);
    assert!(copy(&environment, true) == whole);
}

#[test]
fn an_existing_target_is_reported_and_left_alone() {
    let scratch = Scratch::new("in-the-way");
    let dir = fixture("named").copy_to(&scratch);
    let environment = open(&dir);
    let target = scratch.join("target");

    let kind = |result: Result<(), Error>| match result {
        Err(Error::Io { source, .. }) => source.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        kind(environment.copy_to_path(&target, true)),
        io::ErrorKind::NotFound
    );
    fs::create_dir(&target).expect("make a directory");
    environment.copy_to_path(&target, true).expect("copy");
    assert_sound(&target, "the copy");
    assert!(!target.join("lock.mdb").exists());
    for compact in [false, true] {
        let there = kind(environment.copy_to_path(&target, compact));
        assert_eq!(there, io::ErrorKind::AlreadyExists);
    }
    assert_sound(&target, "the copy, still");

    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let broken = kind(environment.copy_to_fd(writer.as_fd(), false));
    assert_eq!(broken, io::ErrorKind::BrokenPipe);
}

#[test]
fn a_pipe_gets_the_same_bytes() {
    let scratch = Scratch::new("pipe");
    let dir = fixture("overflow").copy_to(&scratch);
    let environment = open(&dir);
    for compact in [false, true] {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let received = thread::scope(|scope| {
            let receiver = scope.spawn(move || {
                let mut octets = Vec::new();
                reader.read_to_end(&mut octets).map(|_| octets)
            });
            environment
                .copy_to_fd(writer.as_fd(), compact)
                .expect("copy");
            drop(writer);
            receiver.join().expect("the receiver")
        });
        assert!(received.expect("read the pipe") == copy(&environment, compact));
    }
}

#[test]
fn the_previous_snapshot_is_copied_as_the_only_one() {
    let scratch = Scratch::new("previous-copy");
    let dir = fixture("churn").copy_to(&scratch);
    let newest = copy(&open(&dir), true);
    let environment = Environment::options()
        .previous_snapshot(true)
        .read_only(true)
        .open(&dir)
        .expect("open");
    let listed = [false, true].map(|compact| {
        let target = scratch.join(&format!("target-{compact}"));
        fs::create_dir(&target).expect("make a directory");
        environment.copy_to_path(&target, compact).expect("copy");
        assert_sound(&target, "a copy of the previous snapshot");
        assert!(real_copy(&target, true) != newest);
        crate::real_tools::run("mdb_dump", &["-a"], &target)
    });
    assert_eq!(listed[0], listed[1]);
}

#[test]
fn a_failed_copy_leaves_no_file() {
    let (cases, _) = corrupt_cases();
    let (mut refused, mut copied) = (0, 0);
    for case in cases {
        let scratch = Scratch::new("damaged-copy");
        let dir = case.copy_to(&scratch);
        let Ok(environment) = Environment::options().read_only(true).open(&dir) else {
            continue;
        };
        let target = scratch.join("target");
        fs::create_dir(&target).expect("make a directory");
        let result = environment.copy_to_path(&target, true);
        assert_eq!(
            result.is_ok(),
            target.join("data.mdb").exists(),
            "{}",
            case.name
        );
        if result.is_ok() {
            copied += 1;
        } else {
            refused += 1;
        }
    }
    assert!(
        refused > 20 && copied > 0,
        "{refused} refused, {copied} copied"
    );
}

#[test]
fn copies_are_whole_while_a_writer_runs() {
    let scratch = Scratch::new("busy-copy");
    let environment = open(scratch.path());
    fill(&environment, 300);
    /// Ends the writer, also when a copy is found to be wrong.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let _over = Over(&over);
        scope.spawn(|| {
            let mut round = 0u32;
            while !over.load(Ordering::Relaxed) {
                let mut txn = environment.write().expect("write");
                let names = txn
                    .create_database("round", KeyOrder::Lexical)
                    .expect("create");
                // Each round replaces all, so half a transaction would show.
                for key in 0..200u32 {
                    let value = round.to_le_bytes().repeat(20);
                    txn.put(names, &key.to_be_bytes(), &value).expect("put");
                }
                txn.commit().expect("commit");
                round += 1;
            }
        });
        for attempt in 0..20 {
            let target = scratch.join(&format!("copy-{attempt}"));
            fs::create_dir(&target).expect("make a directory");
            environment
                .copy_to_path(&target, attempt % 2 == 0)
                .expect("copy");
            assert_sound(&target, "a copy of a busy environment");
            assert_one_round(&target);
        }
    });
}

/// All records of the copy were written by one transaction.
fn assert_one_round(dir: &Path) {
    let copy = open(dir);
    let txn = copy.read().expect("read");
    let Ok(rounds) = txn.open_database(Some("round")) else {
        return;
    };
    let mut cursor = txn.cursor(rounds).expect("a cursor");
    let mut values = BTreeSet::new();
    while let Some((_, value)) = cursor.next().expect("next") {
        values.insert(value.to_vec());
    }
    assert_eq!(values.len(), 1);
}

/// Databases with short, long and very long values; every tenth record is gone again.
fn fill(environment: &Environment, records: usize) {
    let mut random = Random::new(seed("copies", 7));
    for name in ["one", "two"] {
        let mut txn = environment.write().expect("write");
        let database = txn
            .create_database(name, KeyOrder::Lexical)
            .expect("create");
        let mut keys = Vec::new();
        for record in 0..records {
            let len = match random.below(60) {
                0 => 4000 + random.below(30_000),
                1..=5 => random.below(4000),
                _ => random.below(200),
            };
            let key = random.bits().to_be_bytes();
            txn.put(database, &key, &vec![record as u8; len])
                .expect("put");
            keys.push(key);
        }
        txn.commit().expect("commit");
        let mut txn = environment.write().expect("write");
        for key in keys.iter().step_by(10) {
            assert!(txn.delete(database, key).expect("delete"));
        }
        txn.commit().expect("commit");
    }
}

fn copy(environment: &Environment, compact: bool) -> Vec<u8> {
    let mut octets = Vec::new();
    environment.copy_to(&mut octets, compact).expect("copy");
    octets
}

fn real_copy(dir: &Path, compact: bool) -> Vec<u8> {
    require_tool("mdb_copy", "-V", "lmdb-utils");
    let mut command = Command::new("mdb_copy");
    if compact {
        command.arg("-c");
    }
    let output = command
        .arg(dir)
        .stderr(Stdio::inherit())
        .output()
        .expect("run mdb_copy");
    assert!(output.status.success(), "{}", dir.display());
    output.stdout
}
