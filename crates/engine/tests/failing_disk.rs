//! A disk that fails at one step of a commit: what was committed before stays, and nobody builds on doubtful ground.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use fulgurite::{DiskObserver, DiskStep, Environment, Error, KeyOrder, Snapshot};

#[derive(Default)]
struct Failing(AtomicU8);

impl Failing {
    const fn code(step: DiskStep) -> u8 {
        match step {
            DiskStep::Pages => 1,
            DiskStep::Sync => 2,
            DiskStep::Meta => 3,
            DiskStep::Resize => 4,
        }
    }

    fn fail_at(&self, step: DiskStep) {
        self.0.store(Self::code(step), Ordering::SeqCst);
    }

    fn heal(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

impl DiskObserver for Failing {
    fn write(&self, _: u64, _: &[u8], _: bool) {}
    fn sync(&self) {}
    fn resize(&self, _: u64) {}
    fn permit(&self, step: DiskStep) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) == Self::code(step) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

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

fn environment() -> (tempfile::TempDir, Arc<Failing>, Environment) {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(Failing::default());
    let environment = Environment::options()
        .observer(disk.clone())
        .open(directory.path())
        .unwrap();
    put(&environment, b"before").unwrap();
    (directory, disk, environment)
}

#[test]
fn a_full_disk_loses_the_transaction_and_nothing_else() {
    for step in [DiskStep::Pages, DiskStep::Sync] {
        let (_directory, disk, environment) = environment();
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
    let (directory, disk, environment) = environment();
    disk.fail_at(DiskStep::Meta);
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
    let disk = Arc::new(Failing::default());
    let environment = Environment::options()
        .observer(disk.clone())
        .dirty_bytes_max(64 << 10)
        .open(directory.path())
        .unwrap();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Integer).unwrap();
    disk.fail_at(DiskStep::Pages);
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
