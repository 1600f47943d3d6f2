//! Flushes by commits and on request, with each handle's current durability.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fulgurite::{Database, DiskObserver, Durability, Environment, Error};

/// Counts flushes, and durable writes of meta pages.
#[derive(Default)]
struct Counts {
    flushes: AtomicUsize,
    durable_metas: AtomicUsize,
}

impl DiskObserver for Counts {
    fn write(&self, _: u64, _: &[u8], synchronous: bool) {
        self.durable_metas
            .fetch_add(usize::from(synchronous), Ordering::SeqCst);
    }
    fn sync(&self) {
        self.flushes.fetch_add(1, Ordering::SeqCst);
    }
    fn resize(&self, _: u64) {}
}

impl Counts {
    /// Flushes and durable meta pages since the last call.
    fn take(&self) -> (usize, usize) {
        (
            self.flushes.swap(0, Ordering::SeqCst),
            self.durable_metas.swap(0, Ordering::SeqCst),
        )
    }
}

fn commit(environment: &Environment) {
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, b"key", b"value").unwrap();
    txn.commit().unwrap();
}

#[test]
fn durability_is_changed_while_the_environment_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let counts = Arc::new(Counts::default());
    let environment = Environment::options()
        .observer(counts.clone())
        .open(directory.path())
        .unwrap();
    counts.take();
    commit(&environment);
    assert_eq!(counts.take(), (1, 1));
    environment.set_durability(Durability::NoMetaSync);
    commit(&environment);
    assert_eq!(counts.take(), (1, 0));
    environment.set_durability(Durability::NoSync);
    commit(&environment);
    assert_eq!(counts.take(), (0, 0));
    // Another handle commits as it was opened.
    let other = Environment::options().open(directory.path()).unwrap();
    commit(&other);
    assert_eq!(counts.take(), (1, 1));
}

#[test]
fn a_flush_is_forced_or_left_to_the_durability() {
    let directory = tempfile::tempdir().unwrap();
    let counts = Arc::new(Counts::default());
    let environment = Environment::options()
        .observer(counts.clone())
        .durability(Durability::NoSync)
        .open(directory.path())
        .unwrap();
    counts.take();
    environment.sync(false).unwrap();
    assert_eq!(counts.take(), (0, 0));
    environment.sync(true).unwrap();
    assert_eq!(counts.take(), (1, 0));
    environment.set_durability(Durability::Full);
    environment.sync(false).unwrap();
    assert_eq!(counts.take(), (1, 0));
    let reader = Environment::options()
        .read_only(true)
        .open(directory.path())
        .unwrap();
    assert!(matches!(reader.sync(true), Err(Error::ReadOnly)));
}
