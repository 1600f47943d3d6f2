//! Opening: what is refused, and that nothing is lost by the attempt.

use fulgurite::{Environment, Error, KeyOrder, OpenError, Snapshot};

#[test]
fn a_process_opens_an_environment_once() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    let again = Environment::options().open(directory.path());
    assert!(matches!(again, Err(OpenError::AlreadyOpen(_))));

    // Another name of the same file, and another file beside the same lock file, are no way round.
    let linked = tempfile::tempdir().unwrap();
    std::fs::hard_link(
        directory.path().join("data.mdb"),
        linked.path().join("data.mdb"),
    )
    .unwrap();
    let again = Environment::options().open(linked.path());
    assert!(matches!(again, Err(OpenError::AlreadyOpen(_))));
    std::fs::rename(
        directory.path().join("data.mdb"),
        directory.path().join("moved"),
    )
    .unwrap();
    let again = Environment::options().open(directory.path());
    assert!(matches!(again, Err(OpenError::AlreadyOpen(_))));

    drop(environment);
    Environment::options().open(linked.path()).unwrap();
}

#[test]
fn what_is_missing_or_no_database_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path| Environment::options().read_only(true).open(path);
    assert!(matches!(
        open(directory.path()),
        Err(OpenError::File { .. })
    ));
    assert!(!directory.path().join("lock.mdb").exists());
    let missing = directory.path().join("missing");
    let opened = Environment::options().open(&missing);
    assert!(matches!(opened, Err(OpenError::File { .. })));
    for contents in [&b""[..], b"no database", &[0; 8192]] {
        std::fs::write(directory.path().join("data.mdb"), contents).unwrap();
        assert!(matches!(
            open(directory.path()),
            Err(OpenError::NotADataFile(_))
        ));
    }
}

#[test]
fn without_a_directory_the_path_is_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let environment = Environment::options().no_subdir(true).open(&path).unwrap();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Reverse).unwrap();
    txn.put(things, b"key", b"value").unwrap();
    txn.commit().unwrap();
    assert!(path.is_file() && directory.path().join("store-lock").is_file());
    drop(environment);

    let environment = Environment::options()
        .no_subdir(true)
        .read_only(true)
        .open(&path)
        .unwrap();
    let txn = environment.read().unwrap();
    let things = txn.open_database(Some("things")).unwrap();
    assert_eq!(txn.get(things, b"key").unwrap(), Some(&b"value"[..]));
    assert!(matches!(
        environment.write().map(drop),
        Err(Error::ReadOnly)
    ));
}

#[test]
fn the_bound_is_kept_and_leaves_the_environment_usable() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .map_bytes_max(2 << 20)
        .open(directory.path())
        .unwrap();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Integer).unwrap();
    let full =
        (0..10_000_u64).find_map(|key| txn.append(things, &key.to_ne_bytes(), &[0; 1000]).err());
    assert!(matches!(full, Some(Error::MapFull(_))), "{full:?}");
    txn.abort();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Integer).unwrap();
    txn.put(things, &1_u64.to_ne_bytes(), b"small").unwrap();
    txn.commit().unwrap();
}

/// A snapshot taken anew shows what was committed; a parked reader pins nothing.
#[test]
fn readers_are_refreshed_and_parked() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options().open(directory.path()).unwrap();
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Lexical).unwrap();
    txn.commit().unwrap();
    let mut reader = environment.read().unwrap();
    for round in 0..5_u8 {
        assert_eq!(reader.stat(things).unwrap().entries, u64::from(round));
        let mut txn = environment.write().unwrap();
        txn.put(things, &[round], b"").unwrap();
        txn.commit().unwrap();
        assert_eq!(reader.stat(things).unwrap().entries, u64::from(round));
        if round % 2 == 0 {
            reader.refresh().unwrap();
            reader.refresh().unwrap();
        } else {
            reader = reader.park().resume().unwrap();
        }
    }
    assert_eq!(environment.info().unwrap().readers_used, 1);
}
