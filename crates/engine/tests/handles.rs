//! Several handles of one process on one environment. They share its files and have their own
//! options.

use std::sync::mpsc::channel;
use std::time::Duration;

use fulgurite::{
    Durability, Environment, Error, KeyOrder, OpenError, OpenOptions, SlotPolicy, Snapshot,
};

fn options() -> OpenOptions {
    Environment::options().durability(Durability::NoSync)
}

fn put(environment: &Environment, key: &[u8], value: &[u8]) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let things = txn.create_database("things", KeyOrder::Lexical)?;
    txn.put(things, key, value)?;
    txn.commit()
}

fn get(environment: &Environment, key: &[u8]) -> Option<Vec<u8>> {
    let txn = environment.read().unwrap();
    let things = txn.open_database(Some("things")).unwrap();
    txn.get(things, key).unwrap().map(<[u8]>::to_vec)
}

#[test]
fn handles_see_each_others_commits_and_outlive_each_other() {
    let directory = tempfile::tempdir().unwrap();
    let first = options().open(directory.path()).unwrap();
    put(&first, b"a", b"1").unwrap();
    let second = options().open(directory.path()).unwrap();
    assert_eq!(get(&second, b"a"), Some(b"1".to_vec()));
    put(&second, b"b", b"2").unwrap();
    assert_eq!(get(&first, b"b"), Some(b"2".to_vec()));
    let held = second.read().unwrap();
    drop(first);
    put(&second, b"b", b"3").unwrap();
    let things = held.open_database(Some("things")).unwrap();
    assert_eq!(held.get(things, b"b").unwrap(), Some(&b"2"[..]));
}

/// Names of databases belong to the handle: the first name of each has the first place.
#[test]
fn each_handle_has_its_own_databases() {
    let directory = tempfile::tempdir().unwrap();
    let first = options().open(directory.path()).unwrap();
    let second = options().open(directory.path()).unwrap();
    let mut txn = first.write().unwrap();
    let apples = txn.create_database("apples", KeyOrder::Lexical).unwrap();
    txn.put(apples, b"kind", b"apple").unwrap();
    let pears = txn.create_database("pears", KeyOrder::Lexical).unwrap();
    txn.put(pears, b"kind", b"pear").unwrap();
    txn.commit().unwrap();
    let txn = second.read().unwrap();
    let pears = txn.open_database(Some("pears")).unwrap();
    assert_eq!(txn.get(pears, b"kind").unwrap(), Some(&b"pear"[..]));
    let apples = txn.open_database(Some("apples")).unwrap();
    assert_eq!(txn.get(apples, b"kind").unwrap(), Some(&b"apple"[..]));
}

#[test]
fn all_handles_share_one_writer() {
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (
        options().open(directory.path()).unwrap(),
        options().open(directory.path()).unwrap(),
    );
    let txn = first.write().unwrap();
    assert!(matches!(second.write().map(drop), Err(Error::WriterBusy)));
    std::thread::scope(|scope| {
        let (started, waits) = channel();
        scope.spawn(move || {
            put(&second, b"late", b"").unwrap();
            started.send(()).unwrap();
        });
        assert!(waits.recv_timeout(Duration::from_millis(50)).is_err());
        txn.abort();
        waits.recv_timeout(Duration::from_secs(20)).unwrap();
    });
}

#[test]
fn a_read_only_handle_refuses_changes_and_another_handle_does_not() {
    let directory = tempfile::tempdir().unwrap();
    drop(options().open(directory.path()).unwrap());
    for write_map in [false, true] {
        let reader = options().read_only(true).open(directory.path()).unwrap();
        assert!(matches!(reader.write().map(drop), Err(Error::ReadOnly)));
        assert!(matches!(reader.sync(true), Err(Error::ReadOnly)));
        let writer = options()
            .write_map(write_map)
            .open(directory.path())
            .unwrap();
        let key = [u8::from(write_map)];
        put(&writer, &key, &[7; 5000]).unwrap();
        assert_eq!(get(&reader, &key), Some(vec![7; 5000]));
        assert!(matches!(reader.write().map(drop), Err(Error::ReadOnly)));
        drop(writer);
        assert_eq!(get(&reader, &key), Some(vec![7; 5000]));
    }
}

/// Another name of the same file is the same environment. Another file with the same lock file is
/// refused.
#[test]
fn environments_are_distinguished_by_their_files() {
    let directory = tempfile::tempdir().unwrap();
    let (data, moved) = (
        directory.path().join("data.mdb"),
        directory.path().join("moved"),
    );
    let first = options().open(directory.path()).unwrap();
    let linked = tempfile::tempdir().unwrap();
    std::fs::hard_link(&data, linked.path().join("data.mdb")).unwrap();
    let second = options().open(linked.path()).unwrap();
    put(&second, b"a", b"1").unwrap();
    assert_eq!(get(&first, b"a"), Some(b"1".to_vec()));
    assert!(!linked.path().join("lock.mdb").exists());

    std::fs::rename(&data, &moved).unwrap();
    let again = options().open(directory.path());
    assert!(matches!(again, Err(OpenError::AlreadyOpen(_))), "{again:?}");
    assert!(!data.exists());
    let third = options().no_subdir(true).open(&moved).unwrap();
    assert_eq!(get(&third, b"a"), Some(b"1".to_vec()));
    drop((first, second, third));
    drop(options().open(directory.path()).unwrap());
    assert!(data.exists());
}

#[test]
fn the_larger_map_size_counts_and_each_handle_has_its_own_durability() {
    let directory = tempfile::tempdir().unwrap();
    let first = options().map_size(1 << 20).open(directory.path()).unwrap();
    let second = options()
        .map_size(3 << 20)
        .durability(Durability::Full)
        .open(directory.path())
        .unwrap();
    let third = options().map_size(0).open(directory.path()).unwrap();
    for handle in [&first, &second, &third] {
        assert_eq!(handle.info().unwrap().map_size, 3 << 20);
    }
    assert_eq!(first.durability(), Durability::NoSync);
    assert_eq!(second.durability(), Durability::Full);
    second.set_durability(Durability::NoMetaSync);
    assert_eq!(second.durability(), Durability::NoMetaSync);
    assert_eq!(first.durability(), Durability::NoSync);
    put(&first, b"large", &[1; 2 << 20]).unwrap();
}

/// A slot kept in stock does not stand in the way of another handle that needs it.
#[test]
fn slots_kept_by_one_handle_serve_another() {
    let directory = tempfile::tempdir().unwrap();
    let stock = options().readers_max(2).open(directory.path()).unwrap();
    drop((stock.read().unwrap(), stock.read().unwrap()));
    let readers = stock.readers().unwrap();
    assert_eq!(readers.len(), 2);
    assert!(readers.iter().all(|reader| reader.snapshot.is_none()));
    let once = options()
        .slots(SlotPolicy::PerTransaction)
        .open(directory.path())
        .unwrap();
    let held = (once.read().unwrap(), once.read().unwrap());
    assert!(matches!(stock.read().map(drop), Err(Error::ReadersFull(2))));
    drop(held);
    assert!(once.readers().unwrap().is_empty());
}

/// Handles open and close in many threads at once, and threads end while others close. No call
/// fails, nothing is lost, and no lock is dropped.
#[test]
fn handles_come_and_go_in_many_threads() {
    let directory = tempfile::tempdir().unwrap();
    let keeps_open = |thread: u8, round: u8| thread == 0 && round.is_multiple_of(2);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let path = directory.path();
            scope.spawn(move || {
                let mut kept = None;
                for round in 0..60_u8 {
                    let policy = match (thread + round) % 3 {
                        0 => SlotPolicy::Stock,
                        1 => SlotPolicy::PerThread,
                        _ => SlotPolicy::PerTransaction,
                    };
                    let environment = options().slots(policy).open(path).unwrap();
                    put(&environment, &[thread, round], b"").unwrap();
                    std::thread::scope(|inner| {
                        inner.spawn(|| assert!(get(&environment, &[thread, round]).is_some()));
                    });
                    assert!(get(&environment, &[thread, round]).is_some());
                    if keeps_open(thread, round) {
                        kept = Some(environment);
                    }
                }
                drop(kept);
            });
        }
    });
    let environment = options().open(directory.path()).unwrap();
    assert_eq!(environment.info().unwrap().last_txnid, 4 * 60);
    let reader = environment.read().unwrap();
    let things = reader.open_database(Some("things")).unwrap();
    assert_eq!(reader.stat(things).unwrap().entries, 4 * 60);
    assert_eq!(environment.readers().unwrap().len(), 1);
}

#[test]
fn trying_to_write_does_not_wait() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options().open(directory.path()).unwrap();
    put(&environment, b"a", b"1").unwrap();
    let held = environment.write().unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| environment.try_write().unwrap().is_none());
        assert!(other.join().unwrap());
    });
    assert!(matches!(environment.try_write(), Err(Error::WriterBusy)));
    drop(held);
    let mut txn = environment
        .try_write()
        .unwrap()
        .expect("nobody else writes");
    let things = txn.open_database(Some("things")).unwrap();
    txn.put(things, b"b", b"2").unwrap();
    txn.commit().unwrap();
    assert_eq!(get(&environment, b"b"), Some(b"2".to_vec()));
}
