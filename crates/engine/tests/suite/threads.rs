//! Readers in several threads while a writer works: every snapshot is one moment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fulgurite::check::{CheckError, check_snapshot};
use fulgurite::{Database, Environment, Snapshot};
use fulgurite_testkit::{Random, Scratch, quick_or_long};

use crate::common::{assert_sound, open};

const ACCOUNTS: usize = 300;
const SUM: u64 = 1_000 * ACCOUNTS as u64;

fn key(i: usize) -> [u8; 4] {
    (i as u32).to_be_bytes()
}

/// Every value begins with an amount; all amounts add up to the same at every moment.
fn value(amount: u64, random: &mut Random) -> Vec<u8> {
    let mut value = amount.to_le_bytes().to_vec();
    // Most values are small. Some change between inline and overflow, so pages of every kind are
    // reused.
    value.resize(
        if random.chance(10) {
            random.between(2_000, 9_000)
        } else {
            random.between(8, 60)
        },
        0,
    );
    value
}

fn amount(value: &[u8]) -> u64 {
    u64::from_le_bytes(value[..8].try_into().expect("eight bytes"))
}

fn setup(environment: &Environment) -> Database {
    let mut random = Random::new(1);
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(None).expect("the main database");
    for i in 0..ACCOUNTS {
        txn.put(db, &key(i), &value(1_000, &mut random))
            .expect("put");
    }
    txn.commit().expect("commit");
    db
}

fn transfer(environment: &Environment, db: Database, random: &mut Random) {
    let mut txn = environment.write().expect("the writer");
    for _ in 0..random.between(1, 10) {
        let (from, to) = (random.below(ACCOUNTS), random.below(ACCOUNTS));
        if from == to {
            continue;
        }
        let have = amount(txn.get(db, &key(from)).expect("get").expect("an account"));
        let other = amount(txn.get(db, &key(to)).expect("get").expect("an account"));
        let sum = random.below(have as usize + 1) as u64;
        txn.put(db, &key(from), &value(have - sum, random))
            .expect("put");
        txn.put(db, &key(to), &value(other + sum, random))
            .expect("put");
    }
    txn.commit().expect("commit");
}

fn sum(snapshot: &impl Snapshot, db: Database) -> u64 {
    let mut cursor = snapshot.cursor(db).expect("a cursor");
    let mut total = 0;
    let mut records = 0;
    let mut record = cursor.first().expect("first");
    while let Some((_, value)) = record {
        total += amount(value);
        records += 1;
        record = cursor.next().expect("next");
    }
    assert_eq!(records, ACCOUNTS);
    total
}

#[test]
fn every_snapshot_is_one_moment() {
    let scratch = Scratch::new("threads");
    let environment = open(scratch.path());
    let db = setup(&environment);
    let stop = AtomicBool::new(false);
    let (scans, commits) = (AtomicU64::new(0), AtomicU64::new(0));
    let mut checks = 0;
    let until = Instant::now() + Duration::from_secs(quick_or_long(4, 120));
    std::thread::scope(|scope| {
        for thread in 0..5_u64 {
            let (environment, stop, scans) = (&environment, &stop, &scans);
            scope.spawn(move || reader_loop(environment, db, thread, stop, scans));
        }
        for thread in 0..2_u64 {
            let (environment, stop, commits) = (&environment, &stop, &commits);
            scope.spawn(move || {
                let mut random = Random::new(100 + thread);
                while !stop.load(Ordering::Relaxed) {
                    transfer(environment, db, &mut random);
                    commits.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // A slow machine goes on until there is enough to mean something.
        let enough =
            || scans.load(Ordering::Relaxed) > 100 && commits.load(Ordering::Relaxed) > 100;
        let last = until + Duration::from_secs(120);
        while Instant::now() < until || (Instant::now() < last && !enough()) {
            // The checker looks at the live file; a reader keeps its snapshot there meanwhile.
            let held = environment.read().expect("a reader");
            let report = check_snapshot(&scratch.join("data.mdb"), held.id().0);
            // Two commits later the meta page of the snapshot is gone, the snapshot itself is not.
            match report {
                Ok(report) => {
                    checks += 1;
                    assert!(report.is_sound(), "{report}");
                }
                Err(CheckError::SnapshotGone { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(sum(&environment.read().expect("a reader"), db), SUM);
    let (scans, commits) = (scans.into_inner(), commits.into_inner());
    println!("{scans} scans and {checks} checks beside {commits} commits");
    assert!(checks > 0, "no check came in time");
    assert!(
        scans > 100 && commits > 100,
        "{scans} scans, {commits} commits: too few to mean anything"
    );
    drop(environment);
    assert_sound(scratch.path(), "after the threads");
}

/// Fresh readers, refreshed ones, and parked ones by turns.
fn reader_loop(
    environment: &Environment,
    db: Database,
    seed: u64,
    stop: &AtomicBool,
    scans: &AtomicU64,
) {
    let mut random = Random::new(seed);
    let mut txn = environment.read().expect("a reader");
    let mut newest = txn.id();
    while !stop.load(Ordering::Relaxed) {
        match random.below(3) {
            0 => txn.refresh().expect("refresh"),
            1 => txn = txn.park().resume().expect("resume"),
            _ => {
                drop(txn);
                txn = environment.read().expect("a reader");
            }
        }
        assert!(txn.id() >= newest, "time went backwards");
        newest = txn.id();
        assert_eq!(sum(&txn, db), SUM, "snapshot {newest:?}");
        // Held for a while and read again, it must be the same.
        std::thread::sleep(Duration::from_micros(random.below(3_000) as u64));
        assert_eq!(sum(&txn, db), SUM, "snapshot {newest:?}, read again");
        scans.fetch_add(2, Ordering::Relaxed);
    }
}
