//! A disk that fails at one step of a commit: what was committed before stays, and nobody builds on doubtful ground.

use std::sync::{Arc, Mutex};

use fulgurite::{Environment, Error, KeyOrder, Snapshot};
use fulgurite_os::seam::{self, Call, FileRole, Injector, Installed, Site, Verdict};

/// The error number of a full disk.
const STORAGE_FULL: i32 = 28;

/// Calls of one kind on the data file fail.
#[derive(Default)]
struct Failing(Mutex<Option<&'static [Call]>>);

impl Failing {
    fn fail_at(&self, calls: &'static [Call]) {
        *self.0.lock().unwrap() = Some(calls);
    }

    fn heal(&self) {
        *self.0.lock().unwrap() = None;
    }
}

impl Injector for Failing {
    fn verdict(&self, site: Site, _: usize) -> Verdict {
        let is_data = matches!(site.role, FileRole::Data | FileRole::Meta);
        match *self.0.lock().unwrap() {
            Some(calls) if is_data && calls.contains(&site.call) => Verdict::Fail(STORAGE_FULL),
            _ => Verdict::Go,
        }
    }
}

const PAGES: &[Call] = &[Call::Write, Call::WriteVectored];
const SYNC: &[Call] = &[Call::Sync];
const META: &[Call] = &[Call::WriteMeta];

fn put(environment: &Environment, key: &[u8]) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let things = txn.create_database("things", KeyOrder::Lexical)?;
    txn.put(things, key, &[1; 10_000])?;
    txn.commit()
}

fn has(environment: &Environment, key: &[u8]) -> bool {
    let txn = environment.read().unwrap();
    let things = txn.open_database(Some("things")).unwrap();
    txn.get(things, key).unwrap().is_some()
}

fn disk() -> (Arc<Failing>, Installed) {
    let disk = Arc::new(Failing::default());
    let installed = seam::install(disk.clone());
    (disk, installed)
}

fn environment() -> (tempfile::TempDir, Environment) {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    put(&environment, b"before").unwrap();
    (directory, environment)
}

#[test]
fn a_full_disk_loses_the_transaction_and_nothing_else() {
    for step in [PAGES, SYNC] {
        let (disk, _installed) = disk();
        let (_directory, environment) = environment();
        disk.fail_at(step);
        assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
        assert!(has(&environment, b"before") && !has(&environment, b"lost"));
        disk.heal();
        put(&environment, b"after").unwrap();
        assert!(has(&environment, b"before") && has(&environment, b"after"));
        assert!(!has(&environment, b"lost"));
    }
}

#[test]
fn after_a_failed_meta_page_the_environment_must_be_reopened() {
    let (disk, _installed) = disk();
    let (directory, environment) = environment();
    disk.fail_at(META);
    assert!(matches!(put(&environment, b"lost"), Err(Error::Io { .. })));
    disk.heal();
    assert!(matches!(
        put(&environment, b"later"),
        Err(Error::EnvironmentFailed)
    ));
    assert!(matches!(
        environment.read().map(drop),
        Err(Error::EnvironmentFailed)
    ));
    drop(environment);
    let environment = Environment::options().open(directory.path()).unwrap();
    assert!(has(&environment, b"before") && !has(&environment, b"lost"));
    put(&environment, b"later").unwrap();
    assert!(has(&environment, b"later"));
}

#[test]
fn an_error_in_a_transaction_leaves_only_the_abort() {
    let directory = tempfile::tempdir().unwrap();
    let (disk, _installed) = disk();
    let environment = Environment::options()
        .dirty_bytes_max(64 << 10)
        .open(directory.path())
        .unwrap();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Integer).unwrap();
    disk.fail_at(PAGES);
    let failed =
        (0..10_000_u64).find_map(|key| txn.put(things, &key.to_ne_bytes(), &[0; 500]).err());
    assert!(matches!(failed, Some(Error::Io { .. })));
    disk.heal();
    let again = txn.put(things, &1_u64.to_ne_bytes(), b"");
    assert!(matches!(again, Err(Error::TransactionFailed)));
    assert!(matches!(txn.commit(), Err(Error::TransactionFailed)));
    put(&environment, b"after").unwrap();
}

#[test]
fn a_thread_does_not_wait_for_itself() {
    for no_lock in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let environment = Environment::options()
            .no_lock(no_lock)
            .open(directory.path())
            .unwrap();
        let txn = environment.write().unwrap();
        assert!(matches!(
            environment.write().map(drop),
            Err(Error::WriterBusy)
        ));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| environment.write().unwrap().id());
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!other.is_finished(), "two writers at a time");
            txn.abort();
            other.join().unwrap();
        });
    }
}
