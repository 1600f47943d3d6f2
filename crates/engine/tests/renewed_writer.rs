//! A write transaction that begins again in its memory equals a new one, whatever happened before.

use fulgurite::{CustomOrder, Database, Environment, Error, Snapshot, WriteTxn};

const MAP_BYTES: u64 = 1 << 20;

fn open(directory: &std::path::Path) -> Environment {
    Environment::options()
        .map_size(MAP_BYTES)
        .open(directory)
        .unwrap()
}

fn put(environment: &Environment, key: &[u8], value: &[u8]) {
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, key, value).unwrap();
    txn.commit().unwrap();
}

/// Begins and ends without having done anything, so that there is nothing to forget.
fn idle(txn: &mut WriteTxn<'_>) {
    txn.release();
    txn.renew().unwrap();
    txn.release();
}

#[test]
fn an_idle_writer_renews_from_the_newest_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path());
    let mut txn = environment.write().unwrap();
    idle(&mut txn);
    for round in 1..5_u64 {
        txn.renew().unwrap();
        assert!(matches!(txn.renew(), Err(Error::WriterBusy)));
        assert_eq!(txn.id().0, round);
        txn.release();
        assert!(matches!(
            txn.put(Database::MAIN, b"a", b"late"),
            Err(Error::TransactionFailed)
        ));
        put(&environment, b"a", &round.to_le_bytes());
        txn.renew().unwrap();
        assert_eq!(txn.id().0, round + 1);
        let value = txn.get(Database::MAIN, b"a").unwrap();
        assert_eq!(value, Some(&round.to_le_bytes()[..]));
        idle(&mut txn);
    }
}

#[test]
fn undone_changes_do_not_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path());
    put(&environment, b"a", b"1");
    let mut txn = environment.write().unwrap();
    idle(&mut txn);
    for _ in 0..3 {
        txn.renew().unwrap();
        txn.put(Database::MAIN, b"a", b"2").unwrap();
        txn.begin_nested().unwrap();
        txn.put(Database::MAIN, b"b", &[3; 9000]).unwrap();
        txn.abort_nested();
        txn.release();
        txn.renew().unwrap();
        assert_eq!(txn.get(Database::MAIN, b"a").unwrap(), Some(&b"1"[..]));
        assert_eq!(txn.get(Database::MAIN, b"b").unwrap(), None);
        idle(&mut txn);
    }
    txn.renew().unwrap();
    txn.put(Database::MAIN, b"a", b"4").unwrap();
    txn.commit_and_release().unwrap();
    txn.renew().unwrap();
    assert_eq!(txn.get(Database::MAIN, b"a").unwrap(), Some(&b"4"[..]));
    txn.release();
}

#[test]
fn an_order_set_meanwhile_is_used() {
    const BACKWARDS: CustomOrder = CustomOrder {
        call: |_, a, b| b.cmp(a),
        context: 0,
    };
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path());
    let mut txn = environment.write().unwrap();
    idle(&mut txn);
    let mut other = environment.write().unwrap();
    other.set_key_order(Database::MAIN, Some(BACKWARDS));
    other.abort();
    txn.renew().unwrap();
    let order = txn.compare_keys(Database::MAIN, b"a", b"b").unwrap();
    assert_eq!(order, std::cmp::Ordering::Greater);
}

#[test]
fn a_grown_map_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path());
    put(&environment, b"a", b"1");
    let mut txn = environment.write().unwrap();
    idle(&mut txn);
    // More than is reserved for an exact size, so that another mapping takes over.
    environment.set_map_size(3 << 30).unwrap();
    txn.renew().unwrap();
    let large = vec![7; 4 * MAP_BYTES as usize];
    txn.put(Database::MAIN, b"b", &large).unwrap();
    assert_eq!(txn.get(Database::MAIN, b"a").unwrap(), Some(&b"1"[..]));
    txn.commit_and_release().unwrap();
    let reader = environment.read().unwrap();
    assert_eq!(reader.get(Database::MAIN, b"b").unwrap(), Some(&large[..]));
}

#[test]
fn the_writer_lock_is_released_each_time() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path());
    let mut txn = environment.write().unwrap();
    idle(&mut txn);
    for round in 0..3 {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| put(&environment, b"a", &[round]));
            other.join().unwrap();
        });
        txn.renew().unwrap();
        assert!(matches!(
            environment.try_write().map(|txn| txn.is_none()),
            Err(Error::WriterBusy)
        ));
        let is_busy = std::thread::scope(|scope| {
            let other = scope.spawn(|| environment.try_write().unwrap().is_none());
            other.join().unwrap()
        });
        assert!(is_busy);
        txn.release();
    }
}
