//! Misuse that types cannot rule out is an error. The documentation of the crate has the misuse
//! that types rule out.

use fulgurite::check::{CheckOptions, check_environment};
use fulgurite::{
    Database, DatabaseFlags, Environment, Error, KeyOrder, Move, PutFlags, ReadTxn, Snapshot,
};
use tempfile::TempDir;

fn environment() -> (TempDir, Environment) {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    (directory, environment)
}

fn with_database(environment: &Environment, name: &str) -> Database {
    let mut txn = environment.write().unwrap();
    let database = txn.create_database(name, KeyOrder::Lexical).unwrap();
    txn.put(database, b"key", name.as_bytes()).unwrap();
    txn.commit().unwrap();
    database
}

fn is_foreign<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::ForeignDatabase))
}

#[test]
fn a_database_of_another_environment_is_an_error() {
    let (directory, here) = environment();
    let (_other_directory, there) = environment();
    // The same place in each environment's list, under the same name.
    let (ours, theirs) = (with_database(&here, "a"), with_database(&there, "a"));
    assert_ne!(ours, theirs);
    // Another handle on the same files has its own, too.
    let again = Environment::options().open(directory.path()).unwrap();
    let same = again.read().unwrap().open_database(Some("a")).unwrap();
    for foreign in [theirs, same] {
        let txn = here.read().unwrap();
        assert!(is_foreign(txn.get(foreign, b"key")));
        assert!(is_foreign(txn.stat(foreign)));
        assert!(is_foreign(txn.range(foreign, ..)));
        assert!(is_foreign(txn.cursor(foreign)));
        assert!(is_foreign(txn.count_range(foreign, ..)));
        assert!(is_foreign(txn.flags(foreign)));
        let mut values = Vec::new();
        assert!(is_foreign(txn.get_many(foreign, &[b"key"], &mut values)));
        drop(txn);
        let mut txn = here.write().unwrap();
        assert!(is_foreign(txn.put(foreign, b"key", b"v")));
        assert!(is_foreign(
            txn.put_with(foreign, b"key", b"v", PutFlags::APPEND)
                .map(drop)
        ));
        assert!(is_foreign(txn.reserve(foreign, b"key", 3).map(drop)));
        assert!(is_foreign(txn.delete(foreign, b"key")));
        assert!(is_foreign(txn.delete_pair(foreign, b"key", b"v")));
        assert!(is_foreign(txn.clear_database(foreign)));
        assert!(is_foreign(txn.drop_database(foreign)));
        assert!(is_foreign(txn.cursor_mut(foreign).map(drop)));
        // The error is about the argument: the transaction goes on.
        txn.put(ours, b"more", b"v").unwrap();
        assert!(txn.nested().is_ok());
        txn.commit().unwrap();
    }
    let txn = here.read().unwrap();
    assert_eq!(txn.get(ours, b"key").unwrap(), Some(&b"a"[..]));
    // These are the same everywhere.
    assert!(txn.stat(Database::MAIN).is_ok() && txn.stat(Database::FREE_LIST).is_ok());
}

#[test]
fn a_named_database_is_not_deleted_as_a_key() {
    let (directory, environment) = environment();
    let mut named = None;
    // The main tree has branches.
    for number in 0..100 {
        named = Some(with_database(
            &environment,
            &format!("database {number:03}"),
        ));
    }
    let named = named.unwrap();
    for has_cursor in [false, true] {
        let mut txn = environment.write().unwrap();
        if has_cursor {
            txn.open_cursor(Database::MAIN).unwrap();
        }
        let refused = txn.delete(Database::MAIN, b"database 042");
        assert!(matches!(refused, Err(Error::WrongKind(_))), "{refused:?}");
        // The transaction goes on, with all its pages in use.
        assert!(!txn.is_failed());
        txn.put(Database::MAIN, b"plain", b"v").unwrap();
        assert!(txn.delete(Database::MAIN, b"plain").unwrap());
        txn.put(named, b"more", b"v").unwrap();
        txn.commit().unwrap();
        let checked =
            check_environment(directory.path(), &CheckOptions::default(), &mut |_, _| ()).unwrap();
        assert!(checked.report.is_sound(), "{}", checked.report);
    }
    // A refused deletion alone leaves a sound file, too.
    let mut txn = environment.write().unwrap();
    assert!(txn.delete(Database::MAIN, b"database 000").is_err());
    txn.commit().unwrap();
    let checked =
        check_environment(directory.path(), &CheckOptions::default(), &mut |_, _| ()).unwrap();
    assert!(checked.report.is_sound(), "{}", checked.report);
    let txn = environment.read().unwrap();
    assert_eq!(txn.get(named, b"more").unwrap(), Some(&b"v"[..]));
}

#[test]
fn a_cursor_of_another_transaction_is_an_error() {
    let (_directory, here) = environment();
    let database = with_database(&here, "a");
    let mut txn = here.write().unwrap();
    let stale = txn.open_cursor(database).unwrap();
    txn.commit().unwrap();
    let mut txn = here.write().unwrap();
    let own = txn.open_cursor(database).unwrap();
    assert_ne!(own, stale);
    let went = txn
        .at(stale)
        .and_then(|mut cursor| cursor.go(Move::First).map(drop));
    assert!(matches!(went, Err(Error::CursorClosed)));
    txn.close_cursor(stale);
    let mut cursor = txn.at(own).unwrap();
    assert!(cursor.first().unwrap().is_some());
}

#[test]
fn a_thread_has_one_writer_and_can_end_it() {
    let (_directory, here) = environment();
    let txn = here.write().unwrap();
    assert!(matches!(here.write(), Err(Error::WriterBusy)));
    assert!(!here.writer_is_gone());
    drop(txn);
    here.write().unwrap().commit().unwrap();
}

#[test]
fn a_reset_reader_shows_nothing() {
    let (_directory, here) = environment();
    let database = with_database(&here, "a");
    let mut txn: ReadTxn<'_> = here.read().unwrap();
    txn.reset();
    assert!(matches!(
        txn.get(database, b"key"),
        Err(Error::TransactionFailed)
    ));
    txn.renew().unwrap();
    assert!(txn.get(database, b"key").unwrap().is_some());
    assert_eq!(txn.flags(database).unwrap(), DatabaseFlags(0));
}
