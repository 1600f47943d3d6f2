//! Checkpoints: a power loss leads back to the last one, the end of the process does not.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fulgurite::check::check_file;
use fulgurite::{
    CheckpointProblem, Database, DiskObserver, Environment, Error, OpenError, OpenOptions,
    ReaderPolicy, Snapshot,
};
use fulgurite_os::seam::{self, Call, FileRole, Injector, Site, Verdict};

const FIRST_BOOT: &[u8] = b"first";
const NEXT_BOOT: &[u8] = b"next";

fn options(boot: &[u8]) -> OpenOptions {
    Environment::options().checkpoints(true).boot_id(boot)
}

fn open(path: &Path, boot: &[u8]) -> Environment {
    options(boot).open(path).unwrap()
}

/// Replaces the values of all keys by one with that number in it.
fn commit(environment: &Environment, number: u64) {
    let mut txn = environment.write().unwrap();
    for key in 0..200_u64 {
        let mut value = [0; 200];
        value[..8].copy_from_slice(&number.to_le_bytes());
        txn.put(Database::MAIN, &key.to_be_bytes(), &value).unwrap();
    }
    txn.commit().unwrap();
}

/// The number that all values have.
fn found(environment: &Environment) -> u64 {
    let txn = environment.read().unwrap();
    let mut numbers = Vec::new();
    for record in txn.range(Database::MAIN, ..).unwrap() {
        let (_, value) = record.unwrap();
        numbers.push(u64::from_le_bytes(*value.first_chunk().unwrap()));
    }
    assert_eq!(numbers.len(), 200);
    assert!(numbers.iter().all(|number| *number == numbers[0]));
    numbers[0]
}

fn check(path: &Path) {
    let report = check_file(&path.join("data.mdb")).unwrap();
    assert!(report.findings.is_empty(), "{report}");
}

fn problem(result: Result<Environment, OpenError>) -> CheckpointProblem {
    match result {
        Err(OpenError::Checkpoint { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_power_loss_leads_back_to_the_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let environment = open(path, FIRST_BOOT);
    commit(&environment, 1);
    let id = environment.checkpoint().unwrap();
    assert_eq!(environment.last_checkpoint(), Some(id));
    for number in 2..10 {
        commit(&environment, number);
    }
    environment.close_as_if_killed();
    let environment = open(path, FIRST_BOOT);
    assert_eq!(found(&environment), 9, "the process ended, and no more");
    // Opening has made a checkpoint.
    assert_eq!(environment.last_checkpoint().unwrap().0, id.0 + 8);
    commit(&environment, 10);
    commit(&environment, 11);
    environment.close_as_if_killed();
    let environment = open(path, NEXT_BOOT);
    assert_eq!(found(&environment), 9);
    check(path);
    commit(&environment, 12);
    environment.close_as_if_killed();
    assert_eq!(found(&open(path, NEXT_BOOT)), 12);
}

/// A backup may have the transactions that a power loss has taken.
#[test]
fn no_transaction_id_is_used_twice() {
    let directory = tempfile::tempdir().unwrap();
    let mut used = Vec::new();
    for boot in [FIRST_BOOT, NEXT_BOOT, FIRST_BOOT, NEXT_BOOT] {
        let environment = open(directory.path(), boot);
        used.push(environment.read().unwrap().id());
        for number in 0..10 {
            commit(&environment, number);
            used.push(environment.read().unwrap().id());
        }
        environment.close_as_if_killed();
    }
    assert!(
        used.is_sorted_by(|before, after| before < after),
        "{used:?}"
    );
    check(directory.path());
}

/// Without a boot id there is no telling, so the checkpoint counts.
#[test]
fn an_unknown_boot_is_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path(), b"");
    commit(&environment, 1);
    environment.checkpoint().unwrap();
    commit(&environment, 2);
    environment.close_as_if_killed();
    assert_eq!(found(&open(directory.path(), b"")), 1);
}

#[test]
fn an_environment_closed_in_order_is_like_any_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let environment = open(path, FIRST_BOOT);
    commit(&environment, 1);
    environment.checkpoint().unwrap();
    commit(&environment, 2);
    drop(environment);
    let plain = Environment::options()
        .boot_id(NEXT_BOOT)
        .open(path)
        .unwrap();
    assert_eq!((found(&plain), plain.last_checkpoint()), (2, None));
    commit(&plain, 3);
    drop(plain);
    let environment = open(path, NEXT_BOOT);
    assert_eq!(found(&environment), 3);
    assert!(environment.last_checkpoint().is_some());
}

/// An opening without the option leaves the mode, from the state that counts.
#[test]
fn opening_without_checkpoints_leaves_the_mode() {
    for (boot, wanted) in [(FIRST_BOOT, 2), (NEXT_BOOT, 1)] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let environment = open(path, FIRST_BOOT);
        commit(&environment, 1);
        environment.checkpoint().unwrap();
        commit(&environment, 2);
        environment.close_as_if_killed();
        let read_only = Environment::options().boot_id(boot).read_only(true);
        match boot {
            FIRST_BOOT => assert_eq!(found(&read_only.open(path).unwrap()), 2),
            _ => assert_eq!(problem(read_only.open(path)), CheckpointProblem::Behind),
        }
        let plain = Environment::options().boot_id(boot).open(path).unwrap();
        assert_eq!(found(&plain), wanted);
        commit(&plain, 5);
        drop(plain);
        let read_only = Environment::options().boot_id(b"third").read_only(true);
        assert_eq!(found(&read_only.open(path).unwrap()), 5);
        check(path);
    }
}

#[test]
fn handles_share_the_checkpoints() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let plain = Environment::options().open(path).unwrap();
    let again = options(FIRST_BOOT).open(path);
    assert_eq!(problem(again), CheckpointProblem::InUse);
    drop(plain);
    let environment = open(path, FIRST_BOOT);
    let other = Environment::options().open(path).unwrap();
    commit(&other, 1);
    let id = other.checkpoint().unwrap();
    assert_eq!(environment.last_checkpoint(), Some(id));
    drop(other);
    assert_eq!(found(&environment), 1);
    drop(environment);
    for unfit in [
        options(FIRST_BOOT).no_lock(true),
        options(FIRST_BOOT).write_map(true),
        options(FIRST_BOOT).previous_snapshot(true),
    ] {
        assert_eq!(problem(unfit.open(path)), CheckpointProblem::Options);
    }
    // A reader comes first, a writer without checkpoints joins it.
    open(path, FIRST_BOOT).close_as_if_killed();
    let reader = Environment::options().read_only(true).boot_id(FIRST_BOOT);
    let reader = reader.open(path).unwrap();
    let writer = Environment::options().boot_id(FIRST_BOOT).open(path);
    assert_eq!(problem(writer), CheckpointProblem::InUse);
    drop(reader);
    assert_eq!(found(&open(path, NEXT_BOOT)), 1);
}

/// Another program has reused pages of the checkpoint after this one ended.
#[test]
fn an_overwritten_checkpoint_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let environment = open(path, FIRST_BOOT);
    commit(&environment, 1);
    environment.checkpoint().unwrap();
    commit(&environment, 2);
    environment.close_as_if_killed();
    let description = std::fs::read(path.join("checkpoint.mdb")).unwrap();
    let plain = Environment::options()
        .boot_id(FIRST_BOOT)
        .open(path)
        .unwrap();
    for number in 3..6 {
        commit(&plain, number);
    }
    drop(plain);
    // The original library would not have changed it.
    std::fs::write(path.join("checkpoint.mdb"), description).unwrap();
    let refused = options(NEXT_BOOT).open(path);
    assert_eq!(problem(refused), CheckpointProblem::Overwritten);
    std::fs::write(path.join("checkpoint.mdb"), [7; 8192]).unwrap();
    let refused = options(FIRST_BOOT).open(path);
    assert_eq!(problem(refused), CheckpointProblem::Damaged);
}

/// Pages come back after the next checkpoint, so the file stops growing.
#[test]
fn the_file_grows_by_what_changes_between_checkpoints() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path(), FIRST_BOOT);
    let last = || environment.info().unwrap().last_page;
    let mut ends = Vec::new();
    for round in 0..20 {
        for number in 0..10 {
            commit(&environment, round * 10 + number);
        }
        environment.checkpoint().unwrap();
        ends.push(last());
    }
    // Two intervals' pages, and those of the free list.
    assert!(ends[19] <= ends[3], "{ends:?}");
    let before = last();
    for number in 0..50 {
        commit(&environment, number);
    }
    assert!(last() > before, "nothing is reused: {}", last());
    let changed = environment.bytes_since_checkpoint().unwrap();
    let grown = (last() - before) * 4096;
    assert!(changed >= grown && changed < 50 * 30 * 4096, "{changed}");
    environment.checkpoint().unwrap();
    assert_eq!(environment.bytes_since_checkpoint().unwrap(), 0);
    check(directory.path());
}

/// A policy for readers takes the checkpoint for none: it neither warns nor refuses.
#[test]
fn a_policy_for_readers_leaves_the_checkpoint_alone() {
    let directory = tempfile::tempdir().unwrap();
    let warned = Arc::new(AtomicUsize::new(0));
    let hook = Arc::clone(&warned);
    let policy = ReaderPolicy::new()
        .warn(move |_| {
            hook.fetch_add(1, Ordering::SeqCst);
        })
        .refuse_growth();
    let environment = options(FIRST_BOOT).reader_policy(policy);
    let environment = environment.open(directory.path()).unwrap();
    for number in 0..50 {
        commit(&environment, number);
    }
    assert_eq!(warned.load(Ordering::SeqCst), 0);
    let reader = environment.read().unwrap();
    environment.checkpoint().unwrap();
    let mut grown = Ok(());
    for number in 0..1000_u64 {
        let mut txn = environment.write().unwrap();
        grown = txn.put(Database::MAIN, &number.to_be_bytes(), &[1; 3000]);
        grown = grown.and_then(|()| txn.commit());
        if grown.is_err() {
            break;
        }
    }
    assert!(matches!(grown, Err(Error::HeldByReader(_))), "{grown:?}");
    drop(reader);
}

/// Flushes of one file fail.
struct Failing(FileRole);

impl Injector for Failing {
    fn verdict(&self, site: Site, _: usize) -> Verdict {
        match site.role == self.0 && site.call == Call::Sync {
            true => Verdict::Fail(5),
            false => Verdict::Go,
        }
    }
}

/// After a failed flush the newest pages may be lost, although the system runs on.
#[test]
fn a_failed_flush_leads_back_to_the_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path(), FIRST_BOOT);
    commit(&environment, 1);
    environment.checkpoint().unwrap();
    commit(&environment, 2);
    let failing = seam::install(Arc::new(Failing(FileRole::Data)));
    assert!(matches!(environment.checkpoint(), Err(Error::Io { .. })));
    drop(failing);
    assert!(matches!(environment.write(), Err(Error::FlushFailed)));
    assert_eq!(found(&environment), 2);
    drop(environment);
    let environment = open(directory.path(), FIRST_BOOT);
    assert_eq!(found(&environment), 1);
    // At the opening, too.
    commit(&environment, 3);
    environment.checkpoint().unwrap();
    commit(&environment, 4);
    environment.close_as_if_killed();
    let failing = seam::install(Arc::new(Failing(FileRole::Data)));
    assert!(options(FIRST_BOOT).open(directory.path()).is_err());
    drop(failing);
    assert_eq!(found(&open(directory.path(), FIRST_BOOT)), 3);
}

/// If the description fails, either checkpoint may be on the disk: the pages of both stay.
#[test]
fn a_failed_description_keeps_both_checkpoints() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path(), FIRST_BOOT);
    commit(&environment, 1);
    let first = environment.checkpoint().unwrap();
    commit(&environment, 2);
    let description = directory.path().join("checkpoint.mdb");
    let before = std::fs::read(&description).unwrap();
    let failing = seam::install(Arc::new(Failing(FileRole::Checkpoint)));
    assert!(matches!(environment.checkpoint(), Err(Error::Io { .. })));
    drop(failing);
    assert_eq!(environment.last_checkpoint(), Some(first));
    let after = std::fs::read(&description).unwrap();
    for number in 3..20 {
        commit(&environment, number);
    }
    environment.close_as_if_killed();
    let data = std::fs::read(directory.path().join("data.mdb")).unwrap();
    for (written, wanted) in [(before, 1), (after, 2)] {
        std::fs::write(&description, written).unwrap();
        std::fs::write(directory.path().join("data.mdb"), &data).unwrap();
        let environment = open(directory.path(), NEXT_BOOT);
        assert_eq!(found(&environment), wanted);
        check(directory.path());
        environment.close_as_if_killed();
    }
}

/// Says which flushes are made, and fails none.
#[derive(Default)]
struct Flushes {
    data: AtomicUsize,
    description: Arc<Described>,
    durable_metas: AtomicBool,
}

#[derive(Default)]
struct Described(AtomicUsize);

impl DiskObserver for Described {
    fn write(&self, _: u64, _: &[u8], _: bool) {}
    fn sync(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn resize(&self, _: u64) {}
}

impl DiskObserver for Flushes {
    fn write(&self, _: u64, _: &[u8], synchronous: bool) {
        self.durable_metas.fetch_or(synchronous, Ordering::SeqCst);
    }
    fn sync(&self) {
        self.data.fetch_add(1, Ordering::SeqCst);
    }
    fn resize(&self, _: u64) {}
    fn checkpoint(&self) -> Option<Arc<dyn DiskObserver>> {
        Some(Arc::clone(&self.description) as Arc<dyn DiskObserver>)
    }
}

#[test]
fn only_checkpoints_flush() {
    let directory = tempfile::tempdir().unwrap();
    let flushes = Arc::new(Flushes::default());
    let observer = Arc::clone(&flushes) as Arc<dyn DiskObserver>;
    let environment = options(FIRST_BOOT).observer(observer);
    let environment = environment.open(directory.path()).unwrap();
    let take = || {
        (
            flushes.data.swap(0, Ordering::SeqCst),
            flushes.description.0.swap(0, Ordering::SeqCst),
        )
    };
    take();
    for number in 0..5 {
        commit(&environment, number);
    }
    assert_eq!(take(), (0, 0));
    environment.checkpoint().unwrap();
    assert_eq!(take(), (1, 1));
    environment.checkpoint().unwrap();
    assert_eq!(take(), (0, 0), "nothing has changed since");
    commit(&environment, 9);
    environment.sync(true).unwrap();
    assert_eq!(take(), (1, 1), "a sync is a checkpoint");
    assert!(!flushes.durable_metas.load(Ordering::SeqCst));
}

/// Threads commit while others make checkpoints.
#[test]
fn checkpoints_are_made_while_others_commit() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path(), FIRST_BOOT);
    commit(&environment, 0);
    let is_over = AtomicBool::new(false);
    let made = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    environment.checkpoint().unwrap();
                    found(&environment);
                    made.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for number in 0..200 {
            commit(&environment, number);
        }
        while made.load(Ordering::SeqCst) < 10 {
            std::thread::yield_now();
        }
        is_over.store(true, Ordering::SeqCst);
    });
    environment.checkpoint().unwrap();
    environment.close_as_if_killed();
    assert_eq!(found(&open(directory.path(), NEXT_BOOT)), 199);
    check(directory.path());
}
