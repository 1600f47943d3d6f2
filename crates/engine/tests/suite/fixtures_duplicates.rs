//! Duplicates in every file of the real library, changed and looked at by the real tools.

use std::collections::BTreeSet;

use fulgurite::{Database, Environment, Snapshot, WriteTxn};
use fulgurite_testkit::{DatabaseLines, Fixture, Random, Scratch, list_line, sound_fixtures};

use crate::common::{assert_same, assert_sound, list, list_backwards, open};
use crate::real_tools;

type Pair = (Vec<u8>, Vec<u8>);

const SAME_SIZE: u16 = 0x10 | 0x20;

#[test]
fn duplicates_of_every_fixture_can_be_changed() {
    let scratch = Scratch::new("fixtures-duplicates");
    let mut changed = 0;
    for fixture in sound_fixtures() {
        let databases = fixture.databases();
        if databases.iter().any(DatabaseLines::has_duplicates) {
            changed += change_fixture(&fixture, &databases, &scratch);
        }
    }
    assert!(changed >= 25, "{changed} databases with duplicates");
}

fn change_fixture(fixture: &Fixture, databases: &[DatabaseLines], scratch: &Scratch) -> usize {
    let dir = fixture.copy_to(scratch);
    let environment = open(&dir);
    let mut random = Random::new(5);
    let mut changed = 0;
    for database in databases.iter().filter(|db| db.has_duplicates()) {
        // The names of such databases are short, so that a dump spells them out.
        let name = database
            .name
            .as_ref()
            .map(|word| String::from_utf8(fulgurite_testkit::unhex(word)).expect("a name"));
        let context = format!("{}, database {name:?}", fixture.name);
        let mut random = Random::new(random.bits());
        change_database(
            &environment,
            name.as_deref(),
            database.flags,
            &mut random,
            &context,
        );
        let snapshot = environment.read().expect("a reader");
        let db = snapshot
            .open_database(name.as_deref())
            .expect("the database");
        let listed = list(&snapshot, db).expect("list");
        assert_same(
            &list_backwards(&snapshot, db).expect("list"),
            &listed,
            &context,
        );
        assert_same(&real_tools::dump(&dir, name.as_deref()), &listed, &context);
        changed += 1;
    }
    drop(environment);
    assert_sound(&dir, &fixture.name);
    real_tools::accept(&dir);
    changed
}

fn change_database(
    environment: &Environment,
    name: Option<&str>,
    flags: u16,
    random: &mut Random,
    context: &str,
) {
    let mut txn = environment.write().expect("the writer");
    let db = txn.open_database(name).expect("the database");
    let mut pairs = pairs(&txn, db);
    for round in 0..4 {
        let mut child = txn.nested().expect("a nested transaction");
        let mut inner = pairs.clone();
        change(&mut child, db, &mut inner, flags, random);
        if round % 2 == 0 {
            child.commit().expect("commit");
            pairs = inner;
        } else {
            child.abort();
        }
        assert_pairs(&txn, db, &pairs, context);
    }
    txn.commit().unwrap_or_else(|e| panic!("{context}: {e}"));
    let snapshot = environment.read().expect("a reader");
    assert_pairs(&snapshot, db, &pairs, context);
}

fn change(
    txn: &mut WriteTxn<'_>,
    db: Database,
    pairs: &mut BTreeSet<Pair>,
    flags: u16,
    random: &mut Random,
) {
    let all: Vec<Pair> = pairs.iter().cloned().collect();
    for number in 0..40 {
        let (key, value) = random.pick(&all).clone();
        // One key gets enough values for their own tree.
        for _ in 0..if number == 0 { 400 } else { 3 } {
            let value = another(&value, flags, random);
            txn.put(db, &key, &value).expect("put");
            // An empty value, which early versions could write, is the only one of its key.
            pairs.remove(&(key.clone(), Vec::new()));
            pairs.insert((key.clone(), value));
        }
    }
    for _ in 0..150 {
        let (key, value) = random.pick(&all);
        let pair = (key.clone(), value.clone());
        if !value.is_empty() {
            let deleted = txn.delete_pair(db, key, value).expect("delete a pair");
            assert_eq!(deleted, pairs.remove(&pair), "{key:?} {value:?}");
        }
    }
    for _ in 0..3 {
        let (key, _) = random.pick(&all);
        let before = pairs.len();
        pairs.retain(|(other, _)| other != key);
        let deleted = txn.delete(db, key).expect("delete a key");
        assert_eq!(deleted, pairs.len() < before);
    }
}

/// Another value that the database may hold for the same key.
fn another(value: &[u8], flags: u16, random: &mut Random) -> Vec<u8> {
    let len = if flags & SAME_SIZE != 0 {
        value.len()
    } else {
        random.between(1, 100)
    };
    random.bytes(len)
}

fn pairs(snapshot: &impl Snapshot, db: Database) -> BTreeSet<Pair> {
    let mut cursor = snapshot.cursor(db).expect("a cursor");
    let mut pairs = BTreeSet::new();
    let mut record = cursor.first().expect("the first record");
    while let Some((key, value)) = record {
        pairs.insert((key.to_vec(), value.to_vec()));
        record = cursor.next().expect("the next record");
    }
    pairs
}

fn assert_pairs(snapshot: &impl Snapshot, db: Database, expected: &BTreeSet<Pair>, context: &str) {
    let lines = |pairs: &BTreeSet<Pair>| {
        pairs
            .iter()
            .map(|(key, value)| list_line(key, Some(value)))
            .collect()
    };
    assert_same(&lines(&pairs(snapshot, db)), &lines(expected), context);
    let entries = snapshot.stat(db).expect("stat").entries;
    assert_eq!(
        entries,
        expected.len() as u64,
        "{context}: the record's count"
    );
}
