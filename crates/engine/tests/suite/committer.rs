//! A process that commits numbered transactions as fast as it can. It reports each over a pipe,
//! until it is killed.

use std::io::Write;
use std::path::Path;

use fulgurite::{Durability, Environment, KeyOrder, Snapshot};
use fulgurite_testkit::{Model, Random};

use crate::child;

pub(crate) const DIR: &str = "FULGURITE_TEST_DIR";
pub(crate) const SYNC: &str = "FULGURITE_TEST_SYNC";
pub(crate) const DATABASE: &str = "numbered";
/// The key that holds the number of the newest transaction.
pub(crate) const NUMBER: &[u8] = b"number";

/// Returns the changes of transaction `number`. They follow from the number alone, so the parent
/// can apply them to a model.
pub(crate) fn changes(number: u64) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let mut random = Random::new(number);
    let count = random.between(1, 25);
    let mut changes: Vec<_> = (0..count)
        .map(|_| {
            let key = format!("key{:04}", random.below(600)).into_bytes();
            let bytes = if random.chance(8) {
                random.between(3_000, 14_000)
            } else {
                random.between(0, 200)
            };
            (key, random.chance(70).then(|| random.bytes(bytes)))
        })
        .collect();
    changes.push((NUMBER.to_vec(), Some(number.to_le_bytes().to_vec())));
    changes
}

/// Does the same to a model.
pub(crate) fn change_model(model: &mut Model, number: u64) {
    for (key, value) in changes(number) {
        match value {
            Some(value) => model.put(&key, &value),
            None => drop(model.delete(&key)),
        }
    }
}

/// The number of the newest transaction in a snapshot.
pub(crate) fn number(snapshot: &impl Snapshot) -> u64 {
    let Ok(db) = snapshot.open_database(Some(DATABASE)) else {
        return 0;
    };
    let value = snapshot.get(db, NUMBER).expect("read the number");
    value.map_or(0, |v| {
        u64::from_le_bytes(v.try_into().expect("eight bytes"))
    })
}

/// Commits until killed.
pub(crate) fn child() {
    let dir = child::parameter(DIR);
    let options = Environment::options();
    let options = match child::parameter(SYNC).as_str() {
        "full" => options,
        "map" => options.write_map(true).durability(Durability::NoSync),
        _ => options.durability(Durability::NoSync),
    };
    let environment = options.open(Path::new(&dir)).expect("open");
    let mut done = number(&environment.read().expect("a reader"));
    loop {
        done += 1;
        let mut txn = environment.write().expect("the writer");
        let db = txn
            .create_database(DATABASE, KeyOrder::Lexical)
            .expect("the database");
        for (key, value) in changes(done) {
            match value {
                Some(value) => txn.put(db, &key, &value).expect("put"),
                None => drop(txn.delete(db, &key).expect("delete")),
            }
        }
        txn.commit().expect("commit");
        let mut out = std::io::stdout().lock();
        if writeln!(out, "= ok {done}")
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
    }
}
