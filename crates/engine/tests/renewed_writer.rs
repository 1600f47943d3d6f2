//! A write transaction that begins again in its memory equals a new one, whatever happened before.

use fulgurite::check::{CheckOptions, check_environment};
use fulgurite::{
    CustomOrder, Database, DatabaseFlags, Environment, Error, KeyOrder, PutFlags, Snapshot,
    WriteTxn,
};

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

fn assert_sound(directory: &std::path::Path) {
    let checked = check_environment(directory, &CheckOptions::default(), &mut |_, _| ()).unwrap();
    assert!(checked.report.is_sound(), "{}", checked.report);
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

/// Everything that a writer can do, each as the only thing it does.
const DEEDS: &[fn(&mut WriteTxn<'_>)] = &[
    |txn| txn.put(Database::MAIN, b"a", b"2").unwrap(),
    |txn| assert!(txn.delete(Database::MAIN, b"a").unwrap()),
    |txn| assert!(!txn.delete(Database::MAIN, b"b").unwrap()),
    |txn| assert!(txn.delete(Database::MAIN, b"large").unwrap()),
    |txn| txn.clear_database(Database::MAIN).unwrap(),
    |txn| {
        txn.add_main_flags(DatabaseFlags(DatabaseFlags::REVERSE_KEY))
            .unwrap()
    },
    |txn| {
        txn.create_database("new", KeyOrder::Lexical).unwrap();
    },
    |txn| {
        txn.reserve(Database::MAIN, b"b", 9000).unwrap();
    },
    |txn| {
        let flags = PutFlags::NO_OVERWRITE;
        txn.put_with(Database::MAIN, b"a", b"2", flags).unwrap();
    },
    |txn| {
        let mut cursor = txn.cursor_mut(Database::MAIN).unwrap();
        cursor.first().unwrap();
        assert!(cursor.delete().unwrap());
    },
    |txn| {
        txn.open_cursor(Database::MAIN).unwrap();
    },
    |txn| assert!(txn.get(Database::MAIN, b"a").unwrap().is_some()),
    |txn| txn.use_reserve(),
    |txn| txn.mark_failed(),
    |txn| txn.begin_nested().unwrap(),
    |txn| txn.nested().unwrap().commit().unwrap(),
    |txn| {
        let mut nested = txn.nested().unwrap();
        nested.put(Database::MAIN, b"b", b"2").unwrap();
    },
];

#[test]
fn a_renewed_writer_equals_a_new_one_whatever_was_done_before() {
    let directory = tempfile::tempdir().unwrap();
    let environment = open(directory.path());
    for (round, deed) in DEEDS.iter().enumerate() {
        let value = [round as u8];
        put(&environment, b"a", &value);
        put(&environment, b"large", &[7; 9000]);
        let mut txn = environment.write().unwrap();
        for is_first in [true, false] {
            if !is_first {
                idle(&mut txn);
                txn.renew().unwrap();
            }
            deed(&mut txn);
            while txn.nesting() > 0 {
                txn.abort_nested();
            }
            txn.release();
            txn.renew().unwrap();
            let new = environment.info().unwrap().last_txnid + 1;
            assert_eq!(txn.id().0, new, "deed {round}");
            assert_eq!(txn.get(Database::MAIN, b"a").unwrap(), Some(&value[..]));
            assert_eq!(txn.get(Database::MAIN, b"b").unwrap(), None);
            assert_eq!(txn.stat(Database::MAIN).unwrap().entries, 2);
            assert_eq!(txn.flags(Database::MAIN).unwrap(), DatabaseFlags(0));
            txn.release();
        }
        txn.renew().unwrap();
        txn.put(Database::MAIN, b"a", b"last").unwrap();
        txn.commit_and_release().unwrap();
        assert_sound(directory.path());
    }
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
