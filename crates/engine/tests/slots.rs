//! Reader slots by policy: shared ones, private ones, and when they become free.

use std::cmp::Ordering;
use std::sync::mpsc::channel;
use std::thread;

use fulgurite::{
    CustomOrder, Database, Environment, Error, OpenOptions, ReadTxn, SlotPolicy, Snapshot,
};

fn options(policy: SlotPolicy) -> OpenOptions {
    Environment::options().readers_max(3).slots(policy)
}

/// The snapshots in the table, `None` for idle slots.
fn table(environment: &Environment) -> Vec<Option<u64>> {
    let readers = environment.readers().unwrap();
    assert!(
        readers
            .iter()
            .all(|reader| reader.pid == std::process::id())
    );
    readers
        .iter()
        .map(|reader| reader.snapshot.map(|id| id.0))
        .collect()
}

fn commit(environment: &Environment, value: &[u8]) {
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, b"key", value).unwrap();
    txn.commit().unwrap();
}

#[test]
fn a_thread_has_one_reader_at_a_time_and_keeps_its_slot() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::PerThread)
        .open(directory.path())
        .unwrap();
    commit(&environment, b"1");
    let mut reader = environment.read().unwrap();
    assert_eq!(table(&environment), [Some(1)]);
    assert!(matches!(
        environment.read().map(drop),
        Err(Error::ReaderBusy)
    ));
    commit(&environment, b"2");

    reader.reset();
    assert_eq!(table(&environment), [None]);
    assert_eq!(reader.id().0, 1, "to be asked for still");
    assert!(reader.is_reset());
    assert!(matches!(
        reader.get(Database::MAIN, b"key"),
        Err(Error::TransactionFailed)
    ));
    let other = environment.read().unwrap();
    assert!(matches!(reader.renew(), Err(Error::ReaderBusy)));
    assert_eq!(other.get(Database::MAIN, b"key").unwrap(), Some(&b"2"[..]));
    drop(other);
    reader.reset();
    reader.renew().unwrap();
    assert_eq!(reader.get(Database::MAIN, b"key").unwrap(), Some(&b"2"[..]));
    drop(reader);
    assert_eq!(table(&environment), [None]);
    assert_eq!(environment.info().unwrap().readers_used, 1);
}

#[test]
fn threads_one_after_the_other_use_one_slot() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::PerThread)
        .open(directory.path())
        .unwrap();
    for _ in 0..5 {
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                drop(environment.read().unwrap());
                assert_eq!(table(&environment), [None]);
            });
            reader.join().unwrap();
            assert_eq!(table(&environment), []);
        });
    }
    assert_eq!(environment.info().unwrap().readers_used, 1);
}

#[test]
fn concurrent_threads_have_a_slot_each_until_none_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::PerThread)
        .open(directory.path())
        .unwrap();
    thread::scope(|scope| {
        let mut ends = Vec::new();
        for _ in 0..3 {
            let (end, ended) = channel::<()>();
            let (begin, begun) = channel();
            let environment = &environment;
            scope.spawn(move || {
                drop(environment.read().unwrap());
                begin.send(()).unwrap();
                let _ = ended.recv();
            });
            begun.recv().unwrap();
            ends.push(end);
        }
        assert_eq!(table(&environment), [None; 3]);
        assert!(matches!(
            environment.read().map(drop),
            Err(Error::ReadersFull(3))
        ));
        drop(ends);
    });
    drop(environment.read().unwrap());
}

/// The slot of a thread that ends during its transaction pins the snapshot until that ends too.
#[test]
fn a_reader_may_outlive_its_thread() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::PerThread)
        .open(directory.path())
        .unwrap();
    commit(&environment, b"1");
    let reader = thread::scope(|scope| scope.spawn(|| environment.read().unwrap()).join().unwrap());
    for _ in 0..5 {
        commit(&environment, &[7; 3000]);
    }
    assert_eq!(table(&environment), [Some(1)]);
    assert_eq!(reader.get(Database::MAIN, b"key").unwrap(), Some(&b"1"[..]));
    drop(reader);
    assert_eq!(table(&environment), []);
}

/// A thread's slots in several environments are independent, and so are those of several handles.
/// Environments may be closed and opened again while the thread lives.
#[test]
fn a_thread_has_a_slot_in_each_environment_and_handle() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let open = |at: usize| {
        options(SlotPolicy::PerThread)
            .open(directories[at].path())
            .unwrap()
    };
    for _ in 0..3 {
        let (first, second, again) = (open(0), open(1), open(0));
        let held = (
            first.read().unwrap(),
            second.read().unwrap(),
            again.read().unwrap(),
        );
        assert_eq!(table(&first).len(), 2);
        assert_eq!(table(&second).len(), 1);
        assert!(matches!(again.read().map(drop), Err(Error::ReaderBusy)));
        drop(held);
        drop(again);
        assert_eq!(table(&first), [None], "closing a handle frees its slots");
    }
    let environment = open(0);
    thread::spawn(move || {
        drop(environment.read().unwrap());
        drop(environment);
    })
    .join()
    .unwrap();
    assert_eq!(table(&open(0)), []);
}

#[test]
fn a_transaction_has_its_slot_to_itself_and_frees_it() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::PerTransaction)
        .open(directory.path())
        .unwrap();
    commit(&environment, b"1");
    let mut first = environment.read().unwrap();
    let (second, third) = (environment.read().unwrap(), environment.read().unwrap());
    assert_eq!(table(&environment), [Some(1); 3]);
    assert!(matches!(
        environment.read().map(drop),
        Err(Error::ReadersFull(3))
    ));
    thread::scope(|scope| scope.spawn(|| drop(second)).join().unwrap());
    assert_eq!(table(&environment), [Some(1); 2]);
    first.reset();
    assert_eq!(
        table(&environment),
        [None, Some(1)],
        "a reset one keeps its slot"
    );
    first.renew().unwrap();
    first.release();
    assert_eq!(table(&environment), [Some(1)], "a released one does not");
    assert!(first.is_reset());
    commit(&environment, b"2");
    first.renew().unwrap();
    assert_eq!(table(&environment), [Some(2), Some(1)]);
    assert_eq!(first.get(Database::MAIN, b"key").unwrap(), Some(&b"2"[..]));
    drop((first, third));
    assert_eq!(table(&environment), []);
    assert_eq!(environment.info().unwrap().readers_used, 3);
}

#[test]
fn without_locking_there_are_no_slots_and_no_limit() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::PerThread)
        .no_lock(true)
        .open(directory.path())
        .unwrap();
    commit(&environment, b"1");
    let readers: Vec<_> = (0..50).map(|_| environment.read().unwrap()).collect();
    assert!(environment.readers().is_none());
    assert_eq!(environment.info().unwrap().readers_used, 0);
    assert_eq!(environment.clear_stale_readers().unwrap(), 0);
    assert_eq!(
        readers[49].get(Database::MAIN, b"key").unwrap(),
        Some(&b"1"[..])
    );
}

/// A reader renewed on the same snapshot keeps its cache, but not for orders that were set
/// meanwhile.
#[test]
fn a_renewed_reader_keeps_its_snapshot_and_uses_current_orders() {
    fn backwards(_: usize, a: &[u8], b: &[u8]) -> Ordering {
        b.cmp(a)
    }
    let directory = tempfile::tempdir().unwrap();
    let environment = options(SlotPolicy::Stock).open(directory.path()).unwrap();
    commit(&environment, b"1");
    let mut reader = environment.read().unwrap();
    let compare = |reader: &ReadTxn<'_>| reader.compare_keys(Database::MAIN, b"a", b"b").unwrap();
    assert_eq!(compare(&reader), Ordering::Less);
    reader.reset();
    let custom = CustomOrder {
        call: backwards,
        context: 0,
    };
    let mut other = environment.read().unwrap();
    other.set_key_order(Database::MAIN, Some(custom));
    reader.renew().unwrap();
    assert_eq!(compare(&reader), Ordering::Greater);
    other.set_key_order(Database::MAIN, None);
    reader.reset();
    reader.renew().unwrap();
    assert_eq!(compare(&reader), Ordering::Less);
    reader.reset();
    commit(&environment, b"2");
    reader.renew().unwrap();
    assert_eq!(reader.get(Database::MAIN, b"key").unwrap(), Some(&b"2"[..]));
    assert_eq!(reader.id().0, 2);
}
