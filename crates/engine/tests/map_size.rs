//! Map sizes that are set, as LMDB's are, and maps that are outgrown while they are read.

use fulgurite::{Database, Durability, Environment, Error, OpenOptions, Snapshot};

fn options(map_size: u64) -> OpenOptions {
    Environment::options()
        .durability(Durability::NoSync)
        .map_size(map_size)
}

fn size(environment: &Environment) -> u64 {
    environment.info().unwrap().map_size
}

/// Puts values of one page each until there is no room; returns how many fitted.
fn fill(environment: &Environment) -> u32 {
    let mut count = 0_u32;
    loop {
        let mut txn = environment.write().unwrap();
        let result = txn
            .put(Database::MAIN, &count.to_be_bytes(), &[7; 4000])
            .and_then(|()| txn.commit());
        match result {
            Ok(()) => count += 1,
            Err(Error::MapFull(_)) => return count,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_set_size_holds_to_the_page() {
    for (asked, pages) in [(1_234_567, 301), (200 * 4096, 200), (200 * 4096 - 1, 199)] {
        for write_map in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let environment = options(asked)
                .write_map(write_map)
                .open(directory.path())
                .unwrap();
            assert_eq!(size(&environment), asked);
            let fitted = fill(&environment);
            let info = environment.info().unwrap();
            assert_eq!(info.map_size, asked);
            assert!(info.last_page < pages, "{info:?}");
            assert!(
                info.last_page + 8 > pages && u64::from(fitted) > pages - 15,
                "{fitted} values, {info:?}"
            );
        }
    }
}

#[test]
fn the_recorded_size_counts_unless_another_is_set() {
    let directory = tempfile::tempdir().unwrap();
    let open = |asked| options(asked).open(directory.path()).unwrap();
    assert_eq!(size(&open(0)), 1 << 20, "a new file");
    let stored_by = |asked| {
        let environment = open(asked);
        let found = size(&environment);
        let mut txn = environment.write().unwrap();
        txn.put(Database::MAIN, b"key", b"value").unwrap();
        txn.commit().unwrap();
        found
    };
    assert_eq!(stored_by(5_000_000), 5_000_000);
    assert_eq!(size(&open(0)), 5_000_000);
    // A smaller one holds for the handle, and does not lower what is stored.
    assert_eq!(stored_by(100_000), 100_000);
    assert_eq!(size(&open(0)), 5_000_000);
    // A larger one that nobody commits with is not stored.
    assert_eq!(size(&open(9_000_000)), 9_000_000);
    assert_eq!(size(&open(0)), 5_000_000);
    // The map covers all pages in use, whatever size was set.
    let used = (open(0).info().unwrap().last_page + 1) * 4096;
    assert_eq!(size(&open(1)), used);
    let environment = open(0);
    environment.set_map_size(1).unwrap();
    assert_eq!(size(&environment), used);
    environment.set_map_size(0).unwrap();
    assert_eq!(size(&environment), 5_000_000);
}

#[test]
fn a_full_map_goes_on_once_it_is_larger() {
    let directory = tempfile::tempdir().unwrap();
    let environment = options(0).open(directory.path()).unwrap();
    let fitted = fill(&environment);
    assert!((200..256).contains(&fitted), "{fitted} values");
    let txn = environment.write().unwrap();
    assert!(matches!(
        environment.set_map_size(2 << 20),
        Err(Error::MapSizeBusy)
    ));
    assert_eq!(size(&environment), 1 << 20);
    txn.abort();
    environment.set_map_size(2 << 20).unwrap();
    let mut txn = environment.write().unwrap();
    txn.put(Database::MAIN, b"more", &[1; 900_000]).unwrap();
    txn.commit().unwrap();
    assert_eq!(size(&environment), 2 << 20);
}

/// Values lent to a reader stay in place, however often the environment outgrows its address space.
#[test]
fn readers_keep_their_pages_while_the_map_is_outgrown() {
    for write_map in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let environment = options(0)
            .write_map(write_map)
            .open(directory.path())
            .unwrap();
        let mut readers = Vec::new();
        for round in 0..4_u8 {
            let mut txn = environment.write().unwrap();
            for value in 0..50_u8 {
                txn.put(Database::MAIN, &[value], &[round; 3000]).unwrap();
            }
            txn.commit().unwrap();
            let reader = environment.read().unwrap();
            readers.push((round, reader));
            // Far beyond any reservation, by steps that no reservation foresees.
            environment.set_map_size(1 << (33 + 2 * round)).unwrap();
            if write_map {
                break;
            }
        }
        let lent: Vec<&[u8]> = readers
            .iter()
            .map(|(_, reader)| reader.get(Database::MAIN, &[9]).unwrap().unwrap())
            .collect();
        if !write_map {
            environment.set_map_size(1 << 42).unwrap();
        }
        for ((round, reader), lent) in readers.iter().zip(lent) {
            assert_eq!(lent, [*round; 3000]);
            let mut cursor = reader.cursor(Database::MAIN).unwrap();
            let mut count = 0;
            let mut record = cursor.first().unwrap();
            while let Some((_, value)) = record {
                assert_eq!(value, [*round; 3000]);
                count += 1;
                record = cursor.next().unwrap();
            }
            assert_eq!(count, 50);
        }
    }
}

/// A growing environment takes a set size as a hint, and a bound that is too low as raised.
#[test]
fn a_growing_map_takes_a_size_as_a_step() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .map_bytes_max(2 << 20)
        .open(directory.path())
        .unwrap();
    assert_eq!(size(&environment), 1 << 20);
    environment.set_map_size(5 << 20).unwrap();
    assert_eq!(size(&environment), 5 << 20);
    environment.set_map_size(4096).unwrap();
    assert_eq!(size(&environment), 5 << 20);
    let fitted = fill(&environment);
    assert!(
        (1000..1280).contains(&fitted),
        "{fitted} values of a page each"
    );
}

/// Deletes all that [`fill`] has put, one record in each transaction.
fn delete_all(environment: &Environment, count: u32) -> Result<(), Error> {
    (0..count).try_for_each(|number| {
        let mut txn = environment.write()?;
        assert!(txn.delete(Database::MAIN, &number.to_be_bytes())?);
        txn.commit()
    })
}

/// Records can go from a file that is full, or larger than its bound.
#[test]
fn a_full_file_keeps_room_for_deletions() {
    let open = |directory: &tempfile::TempDir, bytes| {
        let options = Environment::options().durability(Durability::NoSync);
        options.map_bytes_max(bytes).open(directory.path()).unwrap()
    };
    for way in ["full", "bound", "opened"] {
        let directory = tempfile::tempdir().unwrap();
        let mut environment = open(&directory, 4 << 20);
        let count = fill(&environment);
        let used = environment.info().unwrap().last_page * 4096;
        match way {
            "bound" => environment.limit_growth(1 << 20),
            "opened" => {
                drop(environment);
                environment = open(&directory, 1 << 20);
            }
            _ => {}
        }
        let bound = environment.map_bytes_max();
        assert!((used..used + (1 << 19)).contains(&bound), "{way}: {bound}");
        delete_all(&environment, count).expect(way);
        // The deletions have not used up what later ones need.
        let count = fill(&environment);
        assert!(count > 500, "{way}: {count}");
        delete_all(&environment, count).expect(way);
        let bytes = environment.info().unwrap().last_page * 4096;
        assert!(bytes <= bound, "{way}: {bytes} of {bound}");
    }
}

/// A transaction that puts a record to delete many uses the room that is kept for deletions.
#[test]
fn the_reserve_is_for_transactions_that_ask_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let options = Environment::options().durability(Durability::NoSync);
    let options = options.map_bytes_max(2 << 20);
    let environment = options.open(directory.path()).unwrap();
    fill(&environment);
    // One in each transaction, without a page that comes free in between.
    let put = |key: u8, uses_reserve: bool| {
        let mut txn = environment.write().unwrap();
        if uses_reserve {
            txn.use_reserve();
        }
        txn.put(Database::MAIN, &[9, key], &[1; 9000])?;
        txn.commit()
    };
    let mut key = 0;
    while put(key, false).is_ok() {
        key += 1;
    }
    assert!(matches!(put(200, false), Err(Error::MapFull(_))));
    put(200, true).unwrap();
    put(201, true).unwrap();
    assert!(matches!(put(202, false), Err(Error::MapFull(_))));
}

/// A set bound of growth holds, whatever the size of the map and later openings say.
#[test]
fn a_bound_of_growth_holds() {
    let directory = tempfile::tempdir().unwrap();
    let open = |bytes| {
        let options = Environment::options().durability(Durability::NoSync);
        options.map_bytes_max(bytes).open(directory.path()).unwrap()
    };
    let used = |environment: &Environment| (environment.info().unwrap().last_page + 1) * 4096;
    let environment = open(1 << 30);
    // The map is larger than the bound, the file is not.
    environment.set_map_size(8 << 20).unwrap();
    environment.limit_growth(2 << 20);
    fill(&environment);
    assert!(used(&environment) <= 2 << 20, "{}", used(&environment));
    // A second handle of the process wishes for more.
    let other = open(1 << 30);
    environment.limit_growth(12 << 20);
    let third = open(1 << 30);
    fill(&third);
    let bytes = used(&other);
    assert!((11 << 20..=12 << 20).contains(&bytes), "{bytes}");
    assert_eq!(environment.info().unwrap().map_bytes_max, 12 << 20);
}
