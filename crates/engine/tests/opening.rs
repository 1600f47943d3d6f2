//! Opening: the refusals and their error numbers. A failed attempt loses nothing and leaves nothing
//! behind.

use std::path::Path;

use fulgurite::{Environment, Error, KeyOrder, OpenError, Snapshot};

const ENOENT: i32 = 2;
const ENOTDIR: i32 = 20;
const EISDIR: i32 = 21;

fn system_code(opened: Result<Environment, OpenError>) -> Option<i32> {
    match opened {
        Err(OpenError::File { source, .. }) => source.raw_os_error(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was opened"),
    }
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_systems_refusals_are_passed_on_and_leave_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let plain = Environment::options();
    let reader = Environment::options().read_only(true);
    let file = Environment::options().no_subdir(true);
    std::fs::create_dir(path.join("empty")).unwrap();
    std::fs::write(path.join("file"), b"").unwrap();
    assert_eq!(system_code(plain.open(path.join("missing"))), Some(ENOENT));
    assert_eq!(system_code(reader.open(path.join("missing"))), Some(ENOENT));
    assert_eq!(system_code(reader.open(path.join("empty"))), Some(ENOENT));
    assert_eq!(system_code(plain.open(path.join("file"))), Some(ENOTDIR));
    assert_eq!(system_code(file.open(path.join("empty"))), Some(EISDIR));
    assert_eq!(
        system_code(file.read_only(true).open(path.join("empty"))),
        Some(EISDIR)
    );
    assert_eq!(names(path), ["empty", "file"]);
    assert!(names(&path.join("empty")).is_empty());
}

fn put_and_get(environment: &Environment) {
    let mut txn = environment.write().unwrap();
    let things = txn.create_database("things", KeyOrder::Lexical).unwrap();
    txn.put(things, b"key", b"value").unwrap();
    txn.commit().unwrap();
    let txn = environment.read().unwrap();
    let things = txn.open_database(Some("things")).unwrap();
    assert_eq!(txn.get(things, b"key").unwrap(), Some(&b"value"[..]));
}

/// A failed attempt keeps neither the lock nor anything else: once the file is right, it opens.
#[test]
fn a_failed_attempt_can_be_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data.mdb");
    // Only files in this directory count, because other tests run at the same time.
    let descriptors = || {
        std::fs::read_dir("/proc/self/fd")
            .unwrap()
            .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
            .filter(|file| file.starts_with(directory.path()))
            .count()
    };
    let open = |read_only| {
        Environment::options()
            .read_only(read_only)
            .open(directory.path())
    };
    let mut versioned = vec![0; 8192];
    versioned[10] = 8;
    versioned[16..24].copy_from_slice(&[0xde, 0xc0, 0xef, 0xbe, 3, 0, 0, 0]);
    for read_only in [true, false] {
        for contents in [&b""[..], b"no database", &[0; 8192], &versioned] {
            let is_unmade = contents.iter().all(|octet| *octet == 0);
            if is_unmade && !read_only {
                continue;
            }
            std::fs::write(&data, contents).unwrap();
            match open(read_only) {
                Err(OpenError::NotADataFile(_)) => assert_ne!(contents, versioned),
                Err(OpenError::DataVersion { found: 3, .. }) => assert_eq!(contents, versioned),
                other => panic!("{other:?}"),
            }
        }
    }
    // The remains of a file after a power loss are replaced. More zeros than that are another file.
    std::fs::write(&data, [0; 8193]).unwrap();
    assert!(matches!(open(false), Err(OpenError::NotADataFile(_))));
    std::fs::write(&data, [0; 8192]).unwrap();
    put_and_get(&open(false).unwrap());
    std::fs::remove_file(&data).unwrap();
    assert_eq!(descriptors(), 0);
    drop(open(false).unwrap());
    assert_eq!(descriptors(), 0);
    let environment = open(true).unwrap();
    assert!(descriptors() > 0);
    drop(environment);
}

#[test]
fn a_path_without_directory_is_the_data_file() {
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
fn readers_can_be_refreshed_and_reset() {
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
