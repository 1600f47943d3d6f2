//! Random operations against ordered maps, with reopening, aborting, and readers readers open.

use std::path::Path;

use fulgurite::{Database, Environment, Error, ReadTxn, Snapshot, WriteTxn};
use fulgurite_testkit::{Model, Order, Random, Scratch, quick_or_long, seed};

use crate::common::{assert_model, assert_same, assert_sound, key_order, list, open};
use crate::real_tools;

const DATABASES: [(&str, Order, usize); 4] = [
    ("lexical", Order::Lexical, 0),
    ("reverse", Order::Reverse, 0),
    ("integer8", Order::Integer, 8),
    ("integer4", Order::Integer, 4),
];

/// Readers readers open at a time.
const READERS_MAX: usize = 3;

#[derive(Clone)]
struct Models(Vec<Model>);

struct OpenReader<'e> {
    txn: ReadTxn<'e>,
    models: Models,
}

#[test]
fn a_hundred_thousand_operations_equal_the_model() {
    let mut random = Random::new(seed("random_ops", 42));
    let scratch = Scratch::new("random-ops");
    let mut models = Models(
        DATABASES
            .iter()
            .map(|(_, order, _)| Model::new(*order))
            .collect(),
    );
    let mut left: usize = quick_or_long(100_000, 3_000_000);
    while left > 0 {
        let session = left.min(random.between(2_000, 25_000));
        left -= session;
        let environment = open(scratch.path());
        one_session(&environment, &mut models, session, &mut random);
        drop(environment);
        assert_sound(scratch.path(), "after a session");
    }
    compare_all(scratch.path(), &models);
}

fn compare_all(dir: &Path, models: &Models) {
    let environment = open(dir);
    let snapshot = environment.read().expect("a reader");
    for ((name, ..), model) in DATABASES.iter().zip(&models.0) {
        let db = snapshot
            .open_database(Some(name))
            .expect("a database of the model");
        assert_model(&snapshot, db, model, name);
        assert_same(
            &real_tools::dump(dir, Some(name)),
            &model.listing(),
            &format!("mdb_dump -s {name}"),
        );
    }
    drop(snapshot);
    drop(environment);
    real_tools::accept(dir);
}

/// Transactions until `operations` are done; the environment stays open meanwhile.
fn one_session(
    environment: &Environment,
    models: &mut Models,
    operations: usize,
    random: &mut Random,
) {
    let mut readers: Vec<OpenReader<'_>> = Vec::new();
    let mut left = operations;
    while left > 0 {
        let count = left.min(if random.chance(10) {
            random.between(200, 2000)
        } else {
            random.between(1, 60)
        });
        left -= count;
        one_transaction(environment, models, count, random);
        if readers.len() < READERS_MAX && random.chance(20) {
            readers.push(OpenReader {
                txn: environment.read().expect("a reader"),
                models: models.clone(),
            });
        }
        if !readers.is_empty() && random.chance(15) {
            let at = random.below(readers.len());
            release(readers.swap_remove(at));
        }
    }
    readers.into_iter().for_each(release);
}

/// Before a reader goes, it must still see what it saw at the beginning.
fn release(readers: OpenReader<'_>) {
    for ((name, ..), model) in DATABASES.iter().zip(&readers.models.0) {
        match readers.txn.open_database(Some(name)) {
            Ok(db) => assert_model(
                &readers.txn,
                db,
                model,
                &format!("{name}, seen by a readers reader"),
            ),
            Err(Error::NoDatabase(_)) => {
                assert!(model.is_empty(), "{name} is gone for a readers reader")
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

fn one_transaction(
    environment: &Environment,
    models: &mut Models,
    operations: usize,
    random: &mut Random,
) {
    let abort = random.chance(12);
    let before = abort.then(|| models.clone());
    let mut txn = environment.write().expect("the writer");
    let mut dbs: Vec<Database> = DATABASES
        .iter()
        .map(|(name, order, _)| {
            txn.create_database(name, key_order(*order))
                .expect("create or open a database")
        })
        .collect();
    for _ in 0..operations {
        let which = random.below(DATABASES.len());
        one_operation(
            &mut txn,
            &mut dbs[which],
            which,
            &mut models.0[which],
            random,
        );
    }
    match before {
        Some(before) => {
            txn.abort();
            *models = before;
        }
        None => txn.commit().expect("commit"),
    }
}

fn one_operation(
    txn: &mut WriteTxn<'_>,
    db: &mut Database,
    which: usize,
    model: &mut Model,
    random: &mut Random,
) {
    let (name, order, key_bytes) = DATABASES[which];
    let db = match random.below(15_000) {
        0 => return clear(txn, *db, model),
        1 => return recreate(txn, db, name, order, model),
        _ => *db,
    };
    let key = key(key_bytes, model, random);
    match random.below(100) {
        0..40 => {
            let value = value(random);
            txn.put(db, &key, &value).expect("put");
            model.put(&key, &value);
        }
        40..50 => {
            let value = value(random);
            let fresh = txn.insert(db, &key, &value).expect("insert");
            assert_eq!(fresh, model.get(&key).is_none(), "{name}: insert");
            if fresh {
                model.put(&key, &value);
            }
        }
        50..55 => {
            let value = value(random);
            txn.reserve(db, &key, value.len())
                .expect("reserve")
                .copy_from_slice(&value);
            model.put(&key, &value);
        }
        55..60 => append(txn, db, model, key_bytes, random),
        60..84 => assert_eq!(
            txn.delete(db, &key).expect("delete"),
            model.delete(&key),
            "{name}: delete"
        ),
        84..92 => assert_eq!(
            txn.get(db, &key).expect("get"),
            model.get(&key),
            "{name}: get"
        ),
        92..95 => delete_through_cursor(txn, db, model, &key),
        _ => {
            let mut cursor = txn.cursor(db).expect("a cursor");
            let found = cursor
                .seek_range(&key)
                .expect("seek_range")
                .map(|(k, v)| (k.to_vec(), v));
            assert_eq!(found, model.seek_range(&key), "{name}: seek_range");
        }
    }
}

fn clear(txn: &mut WriteTxn<'_>, db: Database, model: &mut Model) {
    txn.clear_database(db).expect("clear");
    model.clear();
    assert!(list(txn, db).expect("list an empty database").is_empty());
}

fn recreate(
    txn: &mut WriteTxn<'_>,
    db: &mut Database,
    name: &str,
    order: Order,
    model: &mut Model,
) {
    txn.drop_database(*db).expect("drop");
    assert!(
        txn.open_database(Some(name)).is_err(),
        "{name} can still be opened after dropping it"
    );
    *db = txn
        .create_database(name, key_order(order))
        .expect("create again");
    model.clear();
}

/// A key beyond the last one goes in; one that is not must be refused.
fn append(
    txn: &mut WriteTxn<'_>,
    db: Database,
    model: &mut Model,
    key_bytes: usize,
    random: &mut Random,
) {
    let value = value(random);
    let key = key(key_bytes, model, random);
    let beyond = model
        .last_key()
        .is_none_or(|last| model.order().flip(&key) > model.order().flip(&last));
    assert_eq!(
        txn.append(db, &key, &value).is_ok(),
        beyond,
        "append of {key:?}"
    );
    if beyond {
        model.put(&key, &value);
    }
}

fn delete_through_cursor(txn: &mut WriteTxn<'_>, db: Database, model: &mut Model, key: &[u8]) {
    let mut cursor = txn.cursor_mut(db).expect("a write cursor");
    let found = cursor
        .seek_range(key)
        .expect("seek_range")
        .map(|(k, _)| k.to_vec());
    assert_eq!(found, model.seek_range(key).map(|(k, _)| k));
    if let Some(found) = found {
        assert!(cursor.delete().expect("delete at the cursor"));
        model.delete(&found);
    }
}

/// Keys from a space small enough to meet again, or one that exists.
fn key(key_bytes: usize, model: &Model, random: &mut Random) -> Vec<u8> {
    if !model.is_empty() && random.chance(5) {
        return model
            .key_at(random.below(model.len().min(200)))
            .expect("a key of the model");
    }
    match key_bytes {
        8 => (random.below(4000) as u64 * 0x0001_0000_0001)
            .to_le_bytes()
            .to_vec(),
        4 => (random.below(4000) as u32 * 77_777).to_le_bytes().to_vec(),
        _ => {
            let number = random.below(4000);
            // Some long keys, so that branch pages split too; the length follows from the number.
            let fill = if number.is_multiple_of(7) {
                number % 480
            } else {
                number % 23
            };
            let mut key = format!("{number:04}").into_bytes();
            key.resize(4 + fill, b'a' + (number % 26) as u8);
            if number.is_multiple_of(2) {
                key.reverse();
            }
            key
        }
    }
}

/// Mostly small, sometimes up to 20 KB, around the inline limit more often than chance would.
fn value(random: &mut Random) -> Vec<u8> {
    let bytes = match random.below(40) {
        0 => random.between(4_000, 20_000),
        1 | 2 => random.between(1_900, 2_060),
        3 => 0,
        _ => random.between(0, 150),
    };
    let mut value = random.bytes(bytes.min(16));
    value.resize(bytes, random.bits() as u8);
    value
}
