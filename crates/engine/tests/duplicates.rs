//! Databases with several values to a key, compared with an ordered set of pairs.
//!
//! The tests use every kind of value, sub-pages that become trees, and cursors next to other
//! cursors' changes. The real library's tools check the files.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use fulgurite::{
    CursorId, Database, DatabaseFlags, Durability, Environment, Move, Put, PutFlags, Reservation,
    Snapshot, WriteTxn,
};
use fulgurite_testkit::{Random, Scratch, quick_or_long, run_bounded, seed};

/// A kind of database and what its values are like.
#[derive(Clone, Copy, Debug)]
struct Kind {
    flags: u16,
    /// Octets of a value; 0 for any number.
    value_len: usize,
}

const SORT: u16 = DatabaseFlags::DUP_SORT;
const FIXED: u16 = SORT | DatabaseFlags::DUP_FIXED;
const INTEGER: u16 = DatabaseFlags::INTEGER_DUP;

const KINDS: [Kind; 13] = [
    kind(SORT, 0),
    kind(SORT | DatabaseFlags::REVERSE_DUP, 0),
    kind(FIXED, 1),
    kind(FIXED, 2),
    kind(FIXED, 5),
    kind(FIXED, 16),
    kind(FIXED, 300),
    kind(FIXED | INTEGER, 4),
    kind(FIXED | INTEGER, 8),
    kind(FIXED | INTEGER, 3),
    kind(FIXED | INTEGER, 12),
    kind(SORT | INTEGER, 6),
    kind(SORT | INTEGER, 8),
];

const fn kind(flags: u16, value_len: usize) -> Kind {
    Kind { flags, value_len }
}

impl Kind {
    fn value(self, random: &mut Random) -> Vec<u8> {
        let len = match self.value_len {
            0 => match random.below(20) {
                0 => 511,
                1..4 => 100 + random.below(300),
                _ => 1 + random.below(30),
            },
            len => len,
        };
        let mut value: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
        if self.flags & INTEGER != 0 && random.below(3) > 0 {
            value.iter_mut().skip(2).for_each(|octet| *octet = 0);
        }
        if self.has_leading_integer() {
            // Values with the same integer are the same in the model too.
            value.copy_within(..4, 4);
            value.truncate(8);
            value.resize(len, value[0]);
        }
        value
    }

    /// Returns true if the first four octets of a value decide its place.
    fn has_leading_integer(self) -> bool {
        self.flags & (FIXED | INTEGER) == FIXED | INTEGER && self.value_len > 8
    }

    /// Returns a value so that comparing bytes gives the database's order. Of such a value it
    /// returns the original.
    fn sortable(self, value: &[u8]) -> Vec<u8> {
        let mut sortable = value.to_vec();
        if self.has_leading_integer() {
            sortable[..4].reverse();
        } else if self.flags & (INTEGER | DatabaseFlags::REVERSE_DUP) != 0 {
            sortable.reverse();
        }
        sortable
    }
}

type Model = BTreeSet<(Vec<u8>, Vec<u8>)>;

/// Nested transactions go so deep.
const DEPTH_MAX: usize = 3;

/// A cursor with its expected record; `None` where the model has none.
#[derive(Clone)]
struct Watched {
    id: CursorId,
    on: Option<(Vec<u8>, Vec<u8>)>,
}

struct Run<'a> {
    kind: Kind,
    random: &'a mut Random,
    model: Model,
    watched: Vec<Watched>,
}

impl Run<'_> {
    fn key(&mut self) -> Vec<u8> {
        let len = 1 + self.random.below(3);
        let many = if self.random.below(2) == 0 { 3 } else { 40 };
        vec![b'a' + self.random.below(many) as u8; len]
    }

    fn pair(&mut self) -> (Vec<u8>, Vec<u8>) {
        (self.key(), self.kind.value(self.random))
    }

    /// A pair that is there, mostly.
    fn known(&mut self) -> (Vec<u8>, Vec<u8>) {
        if self.model.is_empty() || self.random.below(8) == 0 {
            return self.pair();
        }
        let skip = self.random.below(self.model.len());
        let (key, sortable) = self.model.iter().nth(skip).unwrap();
        (key.clone(), self.kind.sortable(sortable))
    }

    fn contains(&self, key: &[u8], value: &[u8]) -> bool {
        self.model
            .contains(&(key.to_vec(), self.kind.sortable(value)))
    }

    fn has_key(&self, key: &[u8]) -> bool {
        self.model.iter().any(|(known, _)| known == key)
    }

    fn step(&mut self, txn: &mut WriteTxn<'_>, db: Database) {
        match self.random.below(20) {
            0..9 => self.put(txn, db),
            9..13 => self.delete_pair(txn, db),
            13 => {
                let (key, _) = self.known();
                let had = self.has_key(&key);
                assert_eq!(txn.delete(db, &key).unwrap(), had);
                self.forget(|(known, _)| *known == key);
            }
            14..16 => self.place_cursor(txn, db),
            16 => self.delete_through_cursor(txn),
            17 => self.put_through_cursor(txn, db),
            18 => {
                let (key, value) = self.known();
                let mut cursor = txn.cursor_mut(db).unwrap();
                let found = cursor.go(Move::Pair(&key, &value)).unwrap();
                assert_eq!(found.is_some(), self.contains(&key, &value));
            }
            _ => self.check_cursors(txn),
        }
    }

    /// Steps in a transaction and in nested ones. Aborting a nested one restores everything,
    /// cursors included.
    fn work(&mut self, txn: &mut WriteTxn<'_>, db: Database, depth: usize) {
        for _ in 0..self.random.below(600 >> (2 * depth)) {
            self.step(txn, db);
            if depth == DEPTH_MAX || self.random.below(30) > 0 {
                continue;
            }
            let model = self.model.clone();
            let watched = self.watched.clone();
            let mut child = txn.nested().unwrap();
            self.work(&mut child, db, depth + 1);
            if self.random.below(2) == 0 {
                child.commit().unwrap();
            } else {
                child.abort();
                self.model = model;
                // Those that were closed meanwhile stay closed.
                let open: Vec<CursorId> = self.watched.iter().map(|watched| watched.id).collect();
                self.watched = watched;
                self.watched.retain(|watched| open.contains(&watched.id));
                if self.random.below(3) == 0 {
                    self.check_contents(txn, db);
                }
            }
            self.check_cursors(txn);
        }
    }

    fn put(&mut self, txn: &mut WriteTxn<'_>, db: Database) {
        let (key, value) = self.pair();
        let flags = match self.random.below(6) {
            0 => PutFlags::NO_DUP_DATA,
            1 => PutFlags::NO_OVERWRITE,
            _ => PutFlags::NONE,
        };
        let refused = (flags == PutFlags::NO_DUP_DATA && self.contains(&key, &value))
            || (flags == PutFlags::NO_OVERWRITE && self.has_key(&key));
        let put = txn.put_with(db, &key, &value, flags).unwrap();
        assert_eq!(put != Put::Stored, refused);
        if !refused {
            self.model.insert((key, self.kind.sortable(&value)));
        }
    }

    fn put_through_cursor(&mut self, txn: &mut WriteTxn<'_>, db: Database) {
        let (key, value) = self.pair();
        let mut cursor = txn.cursor_mut(db).unwrap();
        cursor.put(&key, &value).unwrap();
        self.model.insert((key.clone(), self.kind.sortable(&value)));
        let count = self.model.iter().filter(|(known, _)| *known == key).count();
        assert_eq!(cursor.count().unwrap(), Some(count as u64));
        let on = cursor.current().unwrap();
        assert_eq!(on, Some((&key[..], &value[..])));
    }

    fn delete_pair(&mut self, txn: &mut WriteTxn<'_>, db: Database) {
        let (key, value) = self.known();
        let had = self.contains(&key, &value);
        assert_eq!(txn.delete_pair(db, &key, &value).unwrap(), had);
        let gone = (key, self.kind.sortable(&value));
        self.forget(|pair| *pair == gone);
    }

    fn place_cursor(&mut self, txn: &mut WriteTxn<'_>, db: Database) {
        let (key, value) = self.known();
        if self.watched.len() > 4 {
            let last = self.watched.remove(0);
            txn.close_cursor(last.id);
        }
        let id = txn.open_cursor(db).unwrap();
        let mut cursor = txn.at(id).unwrap();
        let found = cursor.go(Move::Pair(&key, &value)).unwrap();
        let on = found.map(|_| (key.clone(), self.kind.sortable(&value)));
        self.watched.push(Watched { id, on });
    }

    fn delete_through_cursor(&mut self, txn: &mut WriteTxn<'_>) {
        let Some(Watched { id, on: Some(on) }) = self.watched.pop() else {
            return;
        };
        let mut cursor = txn.at(id).unwrap();
        assert!(cursor.delete().unwrap());
        let next = self.model.range(on.clone()..).nth(1).cloned();
        let expected = next.map(|(key, sortable)| (key, self.kind.sortable(&sortable)));
        let found = cursor.next().unwrap();
        let found = found.map(|(key, value)| (key.to_vec(), value.to_vec()));
        assert_eq!(found, expected);
        drop(cursor);
        txn.close_cursor(id);
        self.forget(|pair| *pair == on);
    }

    /// Takes pairs out of the model; the cursors on them stand elsewhere now.
    fn forget(&mut self, gone: impl Fn(&(Vec<u8>, Vec<u8>)) -> bool) {
        self.model.retain(|pair| !gone(pair));
        for watched in &mut self.watched {
            watched.on.take_if(|on| gone(on));
        }
    }

    fn check_cursors(&mut self, txn: &mut WriteTxn<'_>) {
        for watched in &self.watched {
            let Some((key, sortable)) = &watched.on else {
                continue;
            };
            let value = self.kind.sortable(sortable);
            let mut cursor = txn.at(watched.id).unwrap();
            let count = self.model.iter().filter(|(known, _)| known == key).count();
            assert_eq!(cursor.count().unwrap(), Some(count as u64));
            let found = cursor.current().unwrap();
            assert_eq!(found, Some((&key[..], &value[..])));
        }
    }

    fn check_contents(&self, txn: &impl Snapshot, db: Database) {
        let expected: Vec<_> = self
            .model
            .iter()
            .map(|(key, sortable)| (key.clone(), self.kind.sortable(sortable)))
            .collect();
        assert_eq!(walk(txn, db, Move::First, Move::Next), expected);
        let mut backwards = walk(txn, db, Move::Last, Move::Prev);
        backwards.reverse();
        assert_eq!(backwards, expected);
        assert_eq!(txn.stat(db).unwrap().entries, expected.len() as u64);
        for (key, value) in &expected {
            let mut cursor = txn.cursor(db).unwrap();
            assert!(cursor.go(Move::Pair(key, value)).unwrap().is_some());
        }
    }
}

fn walk(
    txn: &impl Snapshot,
    db: Database,
    first: Move<'_>,
    next: Move<'_>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cursor = txn.cursor(db).unwrap();
    let mut found = Vec::new();
    let mut record = cursor.go(first).unwrap();
    while let Some((key, value)) = record {
        found.push((key.to_vec(), value.to_vec()));
        record = cursor.go(next).unwrap();
    }
    found
}

fn run(kind: Kind, seed: u64, rounds: usize) {
    let scratch = Scratch::new("duplicates");
    let mut random = Random::new(seed);
    let mut run = Run {
        kind,
        random: &mut random,
        model: Model::new(),
        watched: Vec::new(),
    };
    let environment = Environment::options()
        .durability(Durability::NoSync)
        // So little that pages are written early.
        .dirty_bytes_max(64 << 10)
        .open(scratch.path())
        .unwrap();
    for _ in 0..rounds {
        let mut txn = environment.write().unwrap();
        let db = txn
            .create_named(b"pairs", DatabaseFlags(kind.flags))
            .unwrap();
        let before = run.model.clone();
        run.work(&mut txn, db, 0);
        run.check_cursors(&mut txn);
        run.check_contents(&txn, db);
        run.watched.clear();
        match run.random.below(8) {
            0 => {
                txn.abort();
                run.model = before;
            }
            1 => {
                txn.clear_database(db).unwrap();
                txn.commit().unwrap();
                run.model.clear();
            }
            _ => txn.commit().unwrap(),
        }
        let snapshot = environment.read().unwrap();
        if let Ok(db) = snapshot.open_database(Some("pairs")) {
            run.check_contents(&snapshot, db);
        }
    }
    let snapshot = environment.read().unwrap();
    let stat = snapshot
        .open_database(Some("pairs"))
        .and_then(|db| snapshot.stat(db))
        .unwrap();
    drop(snapshot);
    drop(environment);
    let report = fulgurite::check::check_file(&scratch.path().join("data.mdb"));
    let report = report.unwrap();
    assert!(report.is_sound(), "{kind:?}: {report:?}");
    let seen = report.databases.iter().find(|seen| seen.name == "pairs");
    assert_eq!(
        seen.map(|seen| (seen.branch_pages, seen.leaf_pages)),
        Some((stat.branch_pages, stat.leaf_pages)),
        "{kind:?}: pages of inner trees count"
    );
    let dumped = run_bounded(
        Command::new("mdb_dump")
            .args(["-s", "pairs"])
            .arg(scratch.path()),
        Duration::from_secs(60),
    );
    assert!(dumped.success(), "{kind:?}: {dumped:?}");
    let lines = dumped.stdout.lines().filter(|line| line.starts_with(' '));
    assert_eq!(lines.count(), 2 * run.model.len(), "{kind:?}");
}

#[test]
fn every_kind_of_duplicates_agrees_with_a_set_of_pairs() {
    let seed = seed("duplicates", 20_261_121);
    for (index, kind) in KINDS.into_iter().enumerate() {
        for round in 0..quick_or_long(2, 40) {
            let seed = seed.wrapping_add(1000 * round + index as u64);
            println!("{kind:?}, seed {seed}");
            run(kind, seed, quick_or_long(12, 40));
        }
    }
}

/// Room that a cursor reserves is where its key belongs, at the borders of leaves too.
#[test]
fn cursors_reserve_room_in_order() {
    let scratch = Scratch::new("reserved");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(scratch.path())
        .unwrap();
    let mut random = Random::new(seed("reserved", 3));
    let mut txn = environment.write().unwrap();
    let mut model = std::collections::BTreeMap::new();
    for _ in 0..3000 {
        let key = (random.below(100_000) as u32).to_be_bytes();
        let len = random.between(1, 300);
        let mut cursor = txn.cursor_mut(Database::MAIN).unwrap();
        match cursor.reserve_with(&key, len, PutFlags::NONE).unwrap() {
            Reservation::Empty(room) => room.fill(7),
            Reservation::Exists(_) => panic!("nothing forbids to overwrite"),
        }
        model.insert(key, len);
        let expected = model.range(key..).nth(1).map(|(key, _)| key.to_vec());
        let next = cursor.next().unwrap().map(|(key, _)| key.to_vec());
        assert_eq!(next, expected);
    }
    txn.commit().unwrap();
    let report = fulgurite::check::check_file(&scratch.path().join("data.mdb")).unwrap();
    assert!(report.is_sound(), "{report}");
}
