//! The checker while writers work: the checked snapshot stays as it is.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use fulgurite::check::{Access, CheckOptions, PreviousSnapshot, check_environment};
use fulgurite::{Database, Durability, Environment};
use fulgurite_testkit::{Random, Scratch, c_peer, quick_or_long};

/// Ends the writer when it is dropped, also by a failed check.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Changes records all the time, so that pages are freed and used again at once.
fn write_until(environment: &Environment, stop: &AtomicBool, commits: &AtomicU64) {
    let mut random = Random::new(3);
    while !stop.load(Ordering::Relaxed) {
        let mut txn = environment.write().expect("write");
        for _ in 0..20 {
            let key = format!("key {:04}", random.below(3000));
            let bytes = *random.clone().pick(&[20, 300, 6000]);
            let value = random.bytes(bytes);
            txn.put(Database::MAIN, key.as_bytes(), &value)
                .expect("put");
        }
        txn.commit().expect("commit");
        commits.fetch_add(1, Ordering::Relaxed);
    }
}

fn assert_sound(path: &Path, context: &str) {
    let checked = check_environment(path, &CheckOptions::default(), &mut |_, _| ())
        .unwrap_or_else(|e| panic!("{context}: {e}"));
    assert_eq!(checked.access, Access::Pinned, "{context}");
    assert!(checked.report.is_sound(), "{context}: {}", checked.report);
    let previous = &checked.report.previous;
    assert!(
        matches!(previous, PreviousSnapshot::Usable { .. }),
        "{context}: {previous:?}"
    );
}

#[test]
fn a_check_succeeds_while_this_process_writes() {
    let scratch = Scratch::new("check-live");
    let options = Environment::options().durability(Durability::NoSync);
    let environment = options.open(scratch.path()).expect("open");
    let mut txn = environment.write().expect("write");
    for n in 0..3000 {
        let key = format!("key {n:04}");
        txn.put(Database::MAIN, key.as_bytes(), &[7; 200])
            .expect("put");
    }
    txn.commit().expect("commit");
    let (stop, commits) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_until(&environment, &stop, &commits));
        let until_dropped = Stop(&stop);
        let rounds = quick_or_long(30, 2000);
        let mut round = 0;
        while round < rounds || (commits.load(Ordering::Relaxed) < 30 && !writer.is_finished()) {
            assert_sound(scratch.path(), &format!("round {round}"));
            round += 1;
        }
        drop(until_dropped);
        writer.join().expect("the writer");
    });
}

#[test]
fn a_check_succeeds_while_the_original_writes() {
    let scratch = Scratch::new("check-original");
    let mut peer = c_peer();
    // Room for all that a slow check holds back: the original's map does not grow.
    let path = scratch.path().display();
    peer.must(&format!("open {path} nosync mapsize=67108864"));
    peer.must("write");
    peer.must("create things lexical");
    peer.must("fill things 0 3000 60 1");
    peer.must("commit");
    for round in 0..quick_or_long(20, 500) {
        // The peer works through these while the file is looked at.
        let commands = [
            "write".to_owned(),
            format!("fill things 0 3000 {} 2", 40 + round % 50),
            "commit".to_owned(),
        ];
        let times = 6;
        for command in commands.iter().cycle().take(commands.len() * times) {
            peer.send(command);
        }
        for _ in 0..3 {
            assert_sound(scratch.path(), &format!("round {round}"));
        }
        for _ in 0..commands.len() * times {
            peer.answer(std::time::Duration::from_secs(30))
                .expect("an answer");
        }
    }
    assert_sound(scratch.path(), "at the end");
}
