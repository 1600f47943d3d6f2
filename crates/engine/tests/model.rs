//! Random operations against an ordered map, with aborts, reopening and readers held open.

use std::collections::BTreeMap;
use std::path::Path;

use fulgurite::{Database, Environment, KeyOrder, Snapshot};
use fulgurite_format::{Meta, Pgno};

/// A small deterministic generator: tests must repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn octets(&mut self, len: u64) -> Vec<u8> {
        let len = usize::try_from(len).unwrap();
        (0..len).map(|_| self.next() as u8).collect()
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn contents(txn: &impl Snapshot, name: &str) -> Model {
    let database = txn.open_database(Some(name)).unwrap();
    let mut cursor = txn.cursor(database).unwrap();
    let mut found = Model::new();
    while let Some((key, value)) = cursor.next().unwrap() {
        found.insert(key.to_vec(), value.to_vec());
    }
    assert_eq!(txn.stat(database).unwrap().entries, found.len() as u64);
    let mut backwards = 0;
    let mut cursor = txn.cursor(database).unwrap();
    while cursor.prev().unwrap().is_some() {
        backwards += 1;
    }
    assert_eq!(backwards, found.len());
    found
}

/// Makes an empty environment with pages of a size that another system has.
fn make_with_pages_of(page_bytes: u32, directory: &Path) {
    drop(Environment::options().open(directory).unwrap());
    let file = directory.join("data.mdb");
    let mut meta = Meta::read(&std::fs::read(&file).unwrap()).unwrap();
    meta.free.pad = page_bytes;
    let pages = [0, 1].map(|number| meta.to_page(Pgno(number)));
    std::fs::write(&file, pages.concat()).unwrap();
}

/// Runs random operations in a store with pages of this size; in one with the system's for `None`.
fn run(seed: u64, rounds: u64, dirty: usize, write_map: bool, page_bytes: Option<u32>) {
    let directory = tempfile::tempdir().unwrap();
    if let Some(page_bytes) = page_bytes {
        make_with_pages_of(page_bytes, directory.path());
    }
    let mut random = Random(seed);
    let mut model = Model::new();
    let options = Environment::options()
        .dirty_bytes_max(dirty)
        .write_map(write_map);
    let mut environment = options.open(directory.path()).unwrap();
    if let Some(page_bytes) = page_bytes {
        let txn = environment.read().unwrap();
        assert_eq!(
            txn.stat(Database::MAIN).unwrap().page_size,
            page_bytes as usize
        );
    }
    for round in 0..rounds {
        if random.below(10) == 0 {
            drop(environment);
            environment = options.open(directory.path()).unwrap();
        }
        let held = environment.read().unwrap();
        let before = model.clone();
        let had = held.open_database(Some("things")).is_ok();
        let mut txn = environment.write().unwrap();
        let things = txn.create_database("things", KeyOrder::Lexical).unwrap();
        let mut next = model.clone();
        for _ in 0..random.below(400) {
            let len = 1 + random.below(12);
            let mut key = random.octets(len);
            if let Some(first) = key.first_mut() {
                *first %= 16;
            }
            if random.below(50) == 0 {
                key.resize(511, 7);
            }
            match random.below(10) {
                0..4 => {
                    let bound = if random.below(20) == 0 { 20_000 } else { 600 };
                    let len = random.below(bound);
                    let value = random.octets(len);
                    txn.put(things, &key, &value).unwrap();
                    next.insert(key, value);
                }
                4..8 => {
                    let key = next
                        .range(key.clone()..)
                        .next()
                        .map_or(key, |(key, _)| key.clone());
                    assert_eq!(
                        txn.delete(things, &key).unwrap(),
                        next.remove(&key).is_some()
                    );
                }
                8 => {
                    let fresh = !next.contains_key(&key);
                    assert_eq!(txn.insert(things, &key, b"inserted").unwrap(), fresh);
                    next.entry(key).or_insert_with(|| b"inserted".to_vec());
                }
                _ => assert_eq!(
                    txn.get(things, &key).unwrap(),
                    next.get(&key).map(Vec::as_slice)
                ),
            }
        }
        if random.below(40) == 0 {
            txn.clear_database(things).unwrap();
            next.clear();
        }
        assert_eq!(contents(&txn, "things"), next, "seed {seed} round {round}");
        if random.below(4) == 0 {
            txn.abort();
        } else {
            txn.commit().unwrap();
            model = next;
        }
        if had {
            assert_eq!(
                contents(&held, "things"),
                before,
                "seed {seed} round {round}: held snapshot"
            );
        }
        drop(held);
    }
    let txn = environment.read().unwrap();
    assert_eq!(contents(&txn, "things"), model);
    if let Ok(keep) = std::env::var("KEEP_DATA_FILE") {
        std::fs::copy(directory.path().join("data.mdb"), keep).unwrap();
    }
}

#[test]
fn behaves_like_an_ordered_map() {
    run(0x5eed, 150, 256 << 20, false, None);
}

#[test]
fn behaves_like_an_ordered_map_when_pages_spill() {
    run(0xf00d, 100, 64 << 10, false, None);
}

#[test]
fn behaves_like_an_ordered_map_through_a_writable_map() {
    run(0xbeef, 100, 256 << 20, true, None);
}

/// Systems have pages of 16 or 64 KiB too. The format's largest page has 32, which LMDB uses there.
#[test]
fn behaves_like_an_ordered_map_with_pages_of_other_systems() {
    for page_bytes in [1 << 11, 1 << 14, 1 << 15] {
        run(0xcafe, 60, 256 << 20, false, Some(page_bytes));
        run(0xface, 40, 256 << 10, false, Some(page_bytes));
    }
}

/// Map pages that are larger than those of the system can be written through the map, too.
#[test]
fn behaves_like_an_ordered_map_through_a_writable_map_with_large_pages() {
    for page_bytes in [1 << 14, 1 << 15] {
        run(0xbabe, 40, 256 << 20, true, Some(page_bytes));
    }
}
