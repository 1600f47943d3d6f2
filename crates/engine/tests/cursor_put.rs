//! A cursor stores records in ascending order. Each goes behind the last one, and the cursor is on
//! it then.

use fulgurite::check::{CheckOptions, check_environment};
use fulgurite::{Durability, Environment, Error, KeyOrder, PutFlags, Snapshot};
use fulgurite_testkit::Scratch;

/// Enough for several leaves.
const RECORDS: u32 = 1000;

fn environment(scratch: &Scratch) -> Environment {
    Environment::options()
        .durability(Durability::NoSync)
        .open(scratch.path())
        .unwrap()
}

fn key(number: u32) -> [u8; 4] {
    (2 * number).to_be_bytes()
}

/// Another cursor is none, closed, on the first record, or nowhere.
#[test]
fn a_cursor_is_on_each_record_that_it_appends() {
    let scratch = Scratch::new("cursor-put-append");
    let environment = environment(&scratch);
    for other in 0..4 {
        let mut txn = environment.write().unwrap();
        let db = txn.create_database("records", KeyOrder::Lexical).unwrap();
        txn.clear_database(db).unwrap();
        txn.put(db, &key(0), b"first").unwrap();
        let first = (other > 0).then(|| txn.open_cursor(db).unwrap());
        let id = txn.open_cursor(db).unwrap();
        if let Some(first) = first {
            match other {
                1 => txn.close_cursor(first),
                2 => assert!(txn.at(first).unwrap().first().unwrap().is_some()),
                _ => {}
            }
        }
        for number in 1..RECORDS {
            let value = vec![number as u8; 20 + number as usize % 90];
            let mut cursor = txn.at(id).unwrap();
            cursor.put(&key(number), &value).unwrap();
            let record = (&key(number)[..], &value[..]);
            assert_eq!(cursor.current().unwrap(), Some(record));
            assert_eq!(cursor.next().unwrap(), None);
            if number % 7 == 0 {
                let before = cursor.prev().unwrap().unwrap().0;
                assert_eq!(before, key(number - 1));
            }
            if number % 11 == 0 {
                // Not behind the last one.
                let between = (2 * number - 1).to_be_bytes();
                cursor.put(&between, b"").unwrap();
                assert_eq!(cursor.next().unwrap().unwrap().0, key(number));
                drop(cursor);
                assert!(txn.delete(db, &between).unwrap());
            }
        }
        assert_eq!(txn.stat(db).unwrap().entries, u64::from(RECORDS));
        if other == 2 {
            let first = first.unwrap();
            let found = txn.at(first).unwrap().current().unwrap().unwrap().0 == key(0);
            assert!(found, "the other cursor stays");
        }
        txn.commit().unwrap();
        let options = CheckOptions::default();
        let checked = check_environment(scratch.path(), &options, &mut |_, _| ()).unwrap();
        assert!(checked.report.is_sound(), "{}", checked.report);
    }
}

#[test]
fn a_closed_cursor_appends_nothing() {
    let scratch = Scratch::new("cursor-put-closed");
    let environment = environment(&scratch);
    let mut txn = environment.write().unwrap();
    let db = txn.create_database("records", KeyOrder::Lexical).unwrap();
    let closed = txn.open_cursor(db).unwrap();
    txn.close_cursor(closed);
    let open = txn.open_cursor(db).unwrap();
    for number in 0..3 {
        txn.at(open).unwrap().put(&key(number), b"").unwrap();
        let put = txn.put_at(closed, &key(number + 1), b"", PutFlags::NONE);
        assert!(matches!(put, Err(Error::CursorClosed)));
    }
    assert_eq!(txn.stat(db).unwrap().entries, 3);
}
