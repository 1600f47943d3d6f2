//! Going back to the snapshot before the last commit.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite::{
    Database, Durability, Environment, Error, OpenError, OpenOptions, Snapshot, check,
};
use fulgurite_os::seam::{self, Call, Injector, Site, Verdict};

const VALUE_LEN: usize = 3000;
/// The error number of a full disk.
const STORAGE_FULL: i32 = 28;

fn options() -> OpenOptions {
    Environment::options().durability(Durability::NoSync)
}

fn put_all(environment: &Environment, value: u8) -> Result<(), Error> {
    let mut txn = environment.write()?;
    for key in 0..30_u8 {
        txn.put(Database::MAIN, &[key], &[value; VALUE_LEN])?;
    }
    txn.commit()
}

fn commit(environment: &Environment, value: u8) {
    put_all(environment, value).unwrap();
}

/// The value that all keys have.
fn value(snapshot: &impl Snapshot) -> u8 {
    let first = snapshot.get(Database::MAIN, &[0]).unwrap().unwrap()[0];
    for key in 0..30_u8 {
        let found = snapshot.get(Database::MAIN, &[key]).unwrap().unwrap();
        assert_eq!(found, [first; VALUE_LEN]);
    }
    first
}

fn value_of(environment: &Environment) -> u8 {
    value(&environment.read().unwrap())
}

fn with_commits(count: u8) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let environment = options().open(directory.path()).unwrap();
    (1..=count).for_each(|value| commit(&environment, value));
    directory
}

fn assert_sound(path: &Path) {
    let report = check::check_file(&path.join("data.mdb")).unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn a_writer_goes_back_and_its_first_commit_counts() {
    for write_map in [false, true] {
        for commits in 2..5 {
            let directory = with_commits(commits);
            let open = |back: bool| {
                options()
                    .write_map(write_map)
                    .previous_snapshot(back)
                    .open(directory.path())
                    .unwrap()
            };
            // Looking, and a transaction that changes nothing, abandon nothing.
            let environment = open(true);
            assert_eq!(value_of(&environment), commits - 1);
            assert_eq!(
                environment.info().unwrap().last_txnid,
                u64::from(commits) - 1
            );
            environment.write().unwrap().commit().unwrap();
            drop(environment);
            assert_eq!(value_of(&open(false)), commits);

            let environment = open(true);
            let before = environment.read().unwrap();
            commit(&environment, 100);
            assert_eq!(value(&before), commits - 1);
            assert_eq!(value_of(&environment), 100);
            assert_eq!(environment.info().unwrap().last_txnid, u64::from(commits));
            commit(&environment, 101);
            assert_eq!(value_of(&environment), 101);
            drop(before);
            drop(environment);
            assert_eq!(value_of(&open(false)), 101);
            assert_eq!(value_of(&open(true)), 100);
            assert_sound(directory.path());
        }
    }
}

/// Before the first commit there was nothing.
#[test]
fn the_first_commit_can_be_gone_back_from() {
    let directory = with_commits(1);
    let environment = options()
        .previous_snapshot(true)
        .open(directory.path())
        .unwrap();
    let nothing = |environment: &Environment| {
        let reader = environment.read().unwrap();
        assert_eq!(reader.get(Database::MAIN, &[0]).unwrap(), None);
    };
    nothing(&environment);
    commit(&environment, 9);
    assert_eq!(value_of(&environment), 9);
    drop(environment);
    assert_eq!(value_of(&options().open(directory.path()).unwrap()), 9);
    let fresh = tempfile::tempdir().unwrap();
    let environment = options()
        .previous_snapshot(true)
        .open(fresh.path())
        .unwrap();
    nothing(&environment);
    commit(&environment, 1);
    assert_eq!(value_of(&environment), 1);
}

#[test]
fn going_back_is_refused_while_others_have_it_open() {
    let directory = with_commits(3);
    let back = options().previous_snapshot(true);
    let environment = options().open(directory.path()).unwrap();
    assert!(matches!(
        back.open(directory.path()),
        Err(OpenError::Busy(_))
    ));
    drop(environment);
    let environment = back.open(directory.path()).unwrap();
    assert!(matches!(
        back.open(directory.path()),
        Err(OpenError::Busy(_))
    ));
    // A later process reads the snapshot that the first has gone back to.
    let second = options().open(directory.path()).unwrap();
    assert_eq!(value_of(&second), 2);
    commit(&second, 50);
    assert_eq!(value_of(&environment), 50);
}

/// A read-only handle may use the snapshot before the newest while others write. The pinned
/// snapshot stays as it is.
#[test]
fn readers_use_the_previous_snapshot_while_a_writer_works() {
    let directory = with_commits(3);
    let environment = options().open(directory.path()).unwrap();
    let looks_back = options()
        .previous_snapshot(true)
        .read_only(true)
        .open(directory.path())
        .unwrap();
    for last in 3..20 {
        assert_eq!(value_of(&environment), last);
        let mut reader = looks_back.read().unwrap();
        assert_eq!(value(&reader), last - 1);
        assert_eq!(reader.id().0, environment.info().unwrap().last_txnid - 1);
        commit(&environment, last + 1);
        assert_eq!(value(&reader), last - 1);
        if last % 3 == 0 {
            reader.refresh().unwrap();
            assert_eq!(value(&reader), last);
        }
        if last % 5 == 0 {
            for extra in 0..4 {
                let mut txn = environment.write().unwrap();
                txn.put(Database::MAIN, b"extra", &[extra; 9000]).unwrap();
                txn.commit().unwrap();
                assert_eq!(value(&reader), if last % 3 == 0 { last } else { last - 1 });
            }
            commit(&environment, last);
            commit(&environment, last + 1);
        }
    }
    drop((environment, looks_back));
    assert_sound(directory.path());
}

/// A disk that goes away before a meta page is written.
#[derive(Default)]
struct MetaError(AtomicBool);

impl Injector for MetaError {
    fn verdict(&self, site: Site, _: usize) -> Verdict {
        if site.call == Call::WriteMeta && self.0.load(Ordering::SeqCst) {
            Verdict::Fail(STORAGE_FULL)
        } else {
            Verdict::Go
        }
    }
}

/// Pages of the abandoned snapshot are overwritten before the new one is durable. A crash in
/// between must not bring the abandoned one back.
#[test]
fn a_crash_between_pages_and_meta_page_leaves_the_snapshot_that_was_gone_back_to() {
    let directory = with_commits(6);
    let disk = Arc::new(MetaError::default());
    let _installed = seam::install(disk.clone());
    let environment = options()
        .previous_snapshot(true)
        .dirty_bytes_max(0)
        .open(directory.path())
        .unwrap();
    let mut txn = environment.write().unwrap();
    for key in 0..20_u8 {
        txn.put(Database::MAIN, &[key], &[77; VALUE_LEN]).unwrap();
    }
    // Spilled by now, and no commit comes.
    let crashed = tempfile::tempdir().unwrap();
    let copy = crashed.path().join("data.mdb");
    fs::copy(directory.path().join("data.mdb"), &copy).unwrap();
    assert_sound(crashed.path());
    assert_eq!(value_of(&options().open(crashed.path()).unwrap()), 5);
    txn.abort();
    assert_eq!(value_of(&environment), 5);

    // And if it cannot be made to disappear, nothing is overwritten.
    let directory = with_commits(6);
    let environment = options()
        .previous_snapshot(true)
        .open(directory.path())
        .unwrap();
    disk.0.store(true, Ordering::SeqCst);
    assert!(put_all(&environment, 88).is_err());
    drop(environment);
    assert_sound(directory.path());
    assert_eq!(value_of(&options().open(directory.path()).unwrap()), 6);
}
