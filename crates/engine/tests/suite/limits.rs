//! Limits and wrong uses: each has its error, and the environment goes on working afterwards.

use fulgurite::{DatabaseFlags, Durability, Environment, Error, Move, PutFlags, Snapshot};
use fulgurite_testkit::{Model, Order, Scratch};

use crate::common::{assert_model, assert_sound, open};

#[test]
fn a_full_map_ends_the_transaction_and_nothing_else() {
    let scratch = Scratch::new("full");
    let options = Environment::options()
        .map_bytes_max(1 << 20)
        .durability(Durability::NoSync);
    let environment = options.open(scratch.path()).expect("open");
    let mut model = Model::new(Order::Lexical);
    let mut full = 0;
    for round in 0..40_u32 {
        let mut txn = environment.write().expect("the writer");
        let db = txn.open_database(None).expect("the main database");
        let mut next = model.clone();
        let outcome = (0..60_u32).try_for_each(|i| {
            let key = (round * 60 + i).to_be_bytes();
            next.put(&key, &[7; 900]);
            txn.put(db, &key, &[7; 900])
        });
        match outcome.and_then(|()| txn.commit()) {
            Ok(()) => model = next,
            Err(Error::MapFull(_)) => full += 1,
            Err(error) => panic!("{error}"),
        }
        let snapshot = environment.read().expect("a reader");
        assert_model(
            &snapshot,
            db,
            &model,
            "after a transaction that may have failed",
        );
    }
    assert!(
        full > 0 && model.len() > 300,
        "{full} times full with {} records",
        model.len()
    );
    // There is room again as soon as something is deleted.
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(None).expect("the main database");
    txn.clear_database(db).expect("clear");
    txn.commit().expect("commit");
    drop(environment);
    assert_sound(scratch.path(), "after being full");
}

#[test]
fn a_second_handle_leaves_the_locks_of_the_first_alone() {
    let scratch = Scratch::new("twice");
    let environment = open(scratch.path());
    let reader = environment.read().expect("a reader");
    let again = Environment::options().read_only(true).open(scratch.path());
    drop(again.expect("a second handle"));
    // Neither its opening nor its closing has touched the locks of the first. Another process still
    // sees a live file.
    let mut peer = fulgurite_testkit::c_peer();
    peer.must(&format!("open {}", scratch.path().display()));
    assert_eq!(peer.must("check"), "0", "our reader is alive");
    peer.must("write");
    peer.must("put - 61 62");
    peer.must("commit");
    drop(peer);
    drop(reader);
    drop(environment);
    let environment = open(scratch.path());
    let snapshot = environment.read().expect("a reader");
    let db = snapshot.open_database(None).expect("the main database");
    assert_eq!(snapshot.get(db, b"a").expect("get"), Some(&b"b"[..]));
}

#[test]
fn readers_beyond_the_slots_are_refused_until_one_ends() {
    let scratch = Scratch::new("slots");
    let options = Environment::options().readers_max(3);
    let environment = options.open(scratch.path()).expect("open");
    let mut readers: Vec<_> = std::iter::repeat_with(|| environment.read())
        .map_while(Result::ok)
        .take(1000)
        .collect();
    // The lock file may round the number up.
    assert!(
        (3..200).contains(&readers.len()),
        "{} readers",
        readers.len()
    );
    assert!(matches!(environment.read(), Err(Error::ReadersFull(_))));
    readers.pop();
    environment.read().expect("the slot of the one that ended");
}

#[test]
fn a_missing_environment_is_not_created_for_reading() {
    let scratch = Scratch::new("nothing");
    assert!(
        Environment::options()
            .read_only(true)
            .open(scratch.path())
            .is_err()
    );
    assert!(
        Environment::options()
            .open(scratch.join("no/such/directory"))
            .is_err()
    );
    drop(open(scratch.path()));
    let environment = Environment::options()
        .read_only(true)
        .open(scratch.path())
        .expect("open");
    assert!(matches!(environment.write(), Err(Error::ReadOnly)));
    let snapshot = environment.read().expect("a reader");
    assert!(matches!(
        snapshot.open_database(Some("none")),
        Err(Error::NoDatabase(_))
    ));
}

/// Found by `torture corruption --seed 11` (218, 2657, 11320): the refused value's leaf had become
/// dirty. The committed tree led to the page it had been copied from, which was on the free list.
#[test]
fn a_value_of_another_size_is_refused_and_changes_nothing() {
    let flags = DatabaseFlags(DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED);
    let wrong_size = |outcome: Result<(), Error>| {
        assert!(
            matches!(outcome, Err(Error::FixedSize { .. })),
            "{outcome:?}"
        );
    };
    for values in [1, 2, 500_u32] {
        let scratch = Scratch::new("sizes");
        let environment = open(scratch.path());
        let mut txn = environment.write().expect("the writer");
        let db = txn.create_named(b"fixed", flags).expect("create");
        for value in 0..values {
            txn.put(db, b"key", &value.to_be_bytes()).expect("put");
        }
        txn.commit().expect("commit");
        let mut txn = environment.write().expect("the writer");
        wrong_size(txn.put(db, b"key", b"other size"));
        let mut cursor = txn.cursor_mut(db).expect("a cursor");
        cursor.go(Move::Key(b"key")).expect("the key");
        if values > 1 {
            wrong_size(
                cursor
                    .put_with(b"key", b"other size", PutFlags::CURRENT)
                    .map(|_| ()),
            );
        }
        drop(cursor);
        assert!(!txn.is_failed(), "nothing has been changed");
        txn.put(db, b"another", b"of any size").expect("put");
        txn.commit().expect("commit");
        let snapshot = environment.read().expect("a reader");
        let found = snapshot.values(db, b"key").expect("values").count();
        assert_eq!(found, values as usize);
        drop(snapshot);
        drop(environment);
        assert_sound(scratch.path(), &format!("{values} values of one size"));
    }
}
