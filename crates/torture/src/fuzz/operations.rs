//! A sequence of operations against ordered collections: plain records, several values to a key,
//! levels, cursors.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite::check::check_file;
use fulgurite::{
    Database, DatabaseFlags, Durability, Environment, KeyOrder, Move, Snapshot, WriteTxn,
};

use super::Bytes;
use super::files::in_scratch;

const STEPS_MAX: usize = 400;
const LEVELS_MAX: usize = 6;

/// The expected content of the environment.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    plain: BTreeMap<Vec<u8>, Vec<u8>>,
    pairs: BTreeSet<(Vec<u8>, Vec<u8>)>,
}

impl Model {
    fn compare(&self, snapshot: &impl Snapshot) {
        let databases = [
            ("plain", self.plain.iter().collect()),
            (
                "pairs",
                self.pairs.iter().map(|(key, value)| (key, value)).collect(),
            ),
        ];
        for (name, wanted) in databases {
            let wanted: Vec<(&Vec<u8>, &Vec<u8>)> = wanted;
            let database = snapshot.open_database(Some(name)).expect("it was created");
            let stat = snapshot.stat(database).expect("its record");
            assert_eq!(stat.entries, wanted.len() as u64, "{name}");
            let mut cursor = snapshot.cursor(database).expect("a cursor");
            let mut forward = Vec::with_capacity(wanted.len());
            while let Some(record) = cursor.next().expect("a record") {
                forward.push(record);
                assert!(forward.len() <= wanted.len(), "{name}: more than there is");
            }
            let is_same = forward
                .iter()
                .zip(&wanted)
                .all(|(found, wanted)| found.0 == &wanted.0[..] && found.1 == &wanted.1[..]);
            assert!(is_same && forward.len() == wanted.len(), "{name}");
            let mut backward = 0;
            let mut record = cursor.last().expect("a record");
            while let Some(found) = record {
                backward += 1;
                assert_eq!(Some(&found), forward.iter().rev().nth(backward - 1));
                record = cursor.prev().expect("a record");
            }
            assert_eq!(backward, forward.len());
        }
    }
}

/// Equal bytes give equal keys, short ones and long ones.
fn key(octet: u8) -> Vec<u8> {
    vec![octet; 1 + usize::from(octet) * 7 % 500]
}

fn value(octet: u8) -> Vec<u8> {
    const LENS: [usize; 8] = [0, 1, 30, 200, 1000, 2100, 5000, 20_000];
    vec![octet; LENS[usize::from(octet % 8)]]
}

fn duplicate(octet: u8) -> Vec<u8> {
    vec![octet; 1 + usize::from(octet % 5) * 100]
}

/// Runs the steps that the bytes encode, and compares each answer with the model. At each commit
/// and at the end it compares the whole content.
pub fn operations(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let write_map = input.octet() % 3 == 0;
    in_scratch(|path| {
        let options = Environment::options()
            .durability(Durability::NoSync)
            .write_map(write_map)
            .map_size(1 << 20);
        let open = || options.open(path).expect("an environment of our own");
        let mut environment = open();
        let mut txn = environment.write().expect("a transaction");
        let named = DatabaseFlags(DatabaseFlags::DUP_SORT);
        txn.create_database("plain", KeyOrder::Lexical)
            .expect("a database");
        txn.create_named(b"pairs", named).expect("a database");
        txn.commit().expect("a commit");
        let mut committed = Model::default();
        while !input.is_empty() {
            let reader = environment.read().expect("a reader");
            let before = committed.clone();
            if let Some(after) = transaction(&environment, &committed, &mut input) {
                committed = after;
            }
            before.compare(&reader);
            drop(reader);
            committed.compare(&environment.read().expect("a reader"));
            if input.octet() % 4 == 0 {
                drop(environment);
                environment = open();
            }
        }
        drop(environment);
        let report = check_file(&path.join("data.mdb")).expect("a file of our own");
        assert!(report.is_sound(), "{report}");
    });
}

/// One write transaction; what it committed, if it did.
fn transaction(
    environment: &Environment,
    committed: &Model,
    input: &mut Bytes<'_>,
) -> Option<Model> {
    let mut txn = environment.write().expect("a transaction");
    let plain = txn.open_database(Some("plain")).expect("it was created");
    let pairs = txn.open_database(Some("pairs")).expect("it was created");
    let mut levels = vec![committed.clone()];
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        let (step, octet) = (input.octet(), input.octet());
        match step % 16 {
            13 if levels.len() < LEVELS_MAX => {
                txn.begin_nested().expect("a level");
                levels.push(levels.last()?.clone());
            }
            14 if levels.len() > 1 => {
                let inner = levels.pop()?;
                if octet % 2 == 0 {
                    txn.commit_nested().expect("a level");
                    *levels.last_mut()? = inner;
                } else {
                    txn.abort_nested();
                }
            }
            15 if octet % 8 == 0 => {
                txn.abort();
                return None;
            }
            15 => break,
            step => {
                let model = levels.last_mut()?;
                change(&mut txn, [plain, pairs], model, step, octet, input);
            }
        }
    }
    let last = levels.pop()?;
    last.compare(&txn);
    txn.commit().expect("a commit");
    Some(last)
}

fn change(
    txn: &mut WriteTxn<'_>,
    [plain, pairs]: [Database; 2],
    model: &mut Model,
    step: u8,
    octet: u8,
    input: &mut Bytes<'_>,
) {
    let key = key(octet);
    match step {
        0..=2 => {
            let value = value(input.octet());
            txn.put(plain, &key, &value).expect("a put");
            model.plain.insert(key, value);
        }
        3 => {
            let value = value(input.octet());
            let is_new = txn.insert(plain, &key, &value).expect("an insertion");
            assert_eq!(is_new, !model.plain.contains_key(&key));
            model.plain.entry(key).or_insert(value);
        }
        4 => {
            let found = txn.delete(plain, &key).expect("a deletion");
            assert_eq!(found, model.plain.remove(&key).is_some());
        }
        5 => {
            let found = txn.get(plain, &key).expect("a lookup");
            assert_eq!(found, model.plain.get(&key).map(|value| &value[..]));
        }
        6..=8 => {
            // Stores a run of values, so that they move from the leaf into a separate tree.
            for value in 0..=input.octet() % 40 {
                let value = duplicate(value.wrapping_mul(octet | 1));
                txn.put(pairs, &key, &value).expect("a put");
                model.pairs.insert((key.clone(), value));
            }
        }
        9 => {
            let value = duplicate(input.octet());
            let found = txn.delete_pair(pairs, &key, &value).expect("a deletion");
            assert_eq!(found, model.pairs.remove(&(key, value)));
        }
        10 => {
            let found = txn.delete(pairs, &key).expect("a deletion");
            let before = model.pairs.len();
            model.pairs.retain(|pair| pair.0 != key);
            assert_eq!(found, model.pairs.len() < before);
        }
        11 => delete_along(txn, plain, model, &key, input.octet() % 16),
        12 => delete_pairs_along(txn, pairs, model, &key, input.octet() % 16),
        _ if octet == 77 => {
            txn.clear_database(plain).expect("clearing");
            model.plain.clear();
        }
        _ => {}
    }
}

/// A cursor goes to a key and deletes records on its way, every other one.
fn delete_along(txn: &mut WriteTxn<'_>, plain: Database, model: &mut Model, key: &[u8], len: u8) {
    let mut cursor = txn.cursor_mut(plain).expect("a cursor");
    let mut found = cursor
        .seek_range(key)
        .expect("a record")
        .map(|record| record.0.to_vec());
    let mut wanted = model
        .plain
        .range(key.to_vec()..)
        .next()
        .map(|r| r.0.clone());
    for step in 0..len {
        assert_eq!(found, wanted);
        let Some(here) = wanted else { return };
        if step % 2 == 0 {
            assert!(cursor.delete().expect("a deletion"));
            model.plain.remove(&here);
        }
        // After a deletion the next record is what has moved up.
        found = cursor
            .next()
            .expect("a record")
            .map(|record| record.0.to_vec());
        wanted = model
            .plain
            .range(here.clone()..)
            .find(|record| *record.0 != here)
            .map(|record| record.0.clone());
    }
}

/// The same among values of keys.
fn delete_pairs_along(
    txn: &mut WriteTxn<'_>,
    pairs: Database,
    model: &mut Model,
    key: &[u8],
    len: u8,
) {
    let mut cursor = txn.cursor_mut(pairs).expect("a cursor");
    let own =
        |record: Option<(&[u8], &[u8])>| record.map(|(key, value)| (key.to_vec(), value.to_vec()));
    let mut found = own(cursor.go(Move::KeyOrAfter(key)).expect("a record"));
    let mut wanted = model
        .pairs
        .range((key.to_vec(), Vec::new())..)
        .next()
        .cloned();
    for step in 0..len {
        assert_eq!(found, wanted);
        let Some(here) = wanted else { return };
        if step % 2 == 0 {
            assert!(cursor.delete().expect("a deletion"));
            model.pairs.remove(&here);
        }
        found = own(cursor.next().expect("a record"));
        wanted = model
            .pairs
            .range(here.clone()..)
            .find(|pair| **pair != here)
            .cloned();
    }
}
