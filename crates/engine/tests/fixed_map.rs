//! Maps at the address the file stores, and what a new file says of the options it was made with.

use std::path::Path;

use fulgurite::{Database, Durability, Environment, OpenError, OpenOptions, Snapshot};

fn options() -> OpenOptions {
    Environment::options()
        .durability(Durability::NoSync)
        .map_size(1 << 22)
}

/// The options word and the address of both meta pages.
fn stored(file: &Path) -> [(u16, u64); 2] {
    let bytes = std::fs::read(file).unwrap();
    [0, 4096].map(|page: usize| {
        let at = |at: usize| &bytes[page + at..];
        (
            u16::from_le_bytes(*at(44).first_chunk().unwrap()),
            u64::from_le_bytes(*at(24).first_chunk().unwrap()),
        )
    })
}

/// Returns the address of a value in memory.
fn address_of_value(environment: &Environment) -> usize {
    let reader = environment.read().unwrap();
    let value = reader.get(Database::MAIN, b"key").unwrap().unwrap();
    value.as_ptr().addr()
}

#[test]
fn a_file_is_mapped_where_it_was_first() {
    let directory = tempfile::tempdir().unwrap();
    let open = |fixed| options().fixed_map(fixed).open(directory.path());
    let environment = open(true).unwrap();
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, b"key", &[1; 10_000]).unwrap();
    txn.commit().unwrap();
    let address = environment.info().unwrap().map_address;
    assert_ne!(address, 0);
    let first = address_of_value(&environment);
    assert!((address..address + (1 << 22)).contains(&(first as u64)));
    drop(environment);
    assert_eq!(
        stored(&directory.path().join("data.mdb")),
        [(0x09, address); 2]
    );

    for _ in 0..3 {
        let environment = open(true).unwrap();
        assert_eq!(address_of_value(&environment), first);
        // Another handle on it has the same map.
        assert_eq!(address_of_value(&open(true).unwrap()), first);
    }
    // Without asking for it, a process gets any address and changes nothing about the stored one.
    let environment = open(false).unwrap();
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, b"more", b"").unwrap();
    txn.commit().unwrap();
    assert_eq!(environment.info().unwrap().map_address, address);
}

#[test]
fn a_taken_address_is_refused() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let open = |at: usize| options().fixed_map(true).open(directories[at].path());
    drop(open(0).unwrap());
    let copied = |from: usize, to: usize| {
        let file = |at: usize| directories[at].path().join("data.mdb");
        std::fs::copy(file(from), file(to)).unwrap();
    };
    copied(0, 1);
    let environment = open(0).unwrap();
    let address = environment.info().unwrap().map_address;
    match open(1) {
        Err(OpenError::AddressInUse { address: found, .. }) => assert_eq!(found, address),
        other => panic!("{other:?}"),
    }
    drop(environment);
    open(1).unwrap();
}

#[test]
fn a_new_file_records_its_address() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    drop(options().no_subdir(true).open(&file).unwrap());
    assert_eq!(stored(&file), [(0x4008, 0); 2]);
    drop(options().open(directory.path()).unwrap());
    assert_eq!(stored(&directory.path().join("data.mdb")), [(0x08, 0); 2]);
    // A file without an address has none to be mapped at.
    drop(options().fixed_map(true).open(directory.path()).unwrap());
    assert_eq!(stored(&directory.path().join("data.mdb")), [(0x08, 0); 2]);
}
