//! Records that are looked at and changed in one step, against a map.

use std::collections::BTreeMap;

use fulgurite::{Database, Durability, Edit, Environment, Error, KeyOrder, Snapshot};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

fn environment(scratch: &Scratch) -> Environment {
    Environment::options()
        .durability(Durability::NoSync)
        .open(scratch.path())
        .unwrap()
}

#[test]
fn edits_do_what_puts_and_deletes_do() {
    let scratch = Scratch::new("edit");
    let environment = environment(&scratch);
    let mut random = Random::new(seed("edit", 20_261_122));
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut txn = environment.write().unwrap();
    let database = txn.create_database("records", KeyOrder::Lexical).unwrap();
    txn.commit().unwrap();
    for _ in 0..quick_or_long(30, 300) {
        let mut txn = environment.write().unwrap();
        // Edits of one after the other are near each other, as those of sorted postings are.
        let mut number = random.below(500);
        let cursor = (random.below(3) == 0).then(|| txn.open_cursor(database).unwrap());
        for _ in 0..random.below(60) {
            number = (number + random.below(20)) % 600;
            let key = format!("{number:08}").into_bytes();
            let kind = random.below(4);
            let len = random.below(if kind == 3 { 6000 } else { 60 });
            let value = random.bytes(len);
            let known = model.get(&key).cloned();
            txn.edit(database, &key, |before| {
                assert_eq!(before, known.as_deref());
                Ok::<_, Error>(match kind {
                    0 => Edit::Keep,
                    1 => Edit::Remove,
                    _ => Edit::Store(&value),
                })
            })
            .unwrap();
            match kind {
                0 => None,
                1 => model.remove(&key),
                _ => model.insert(key, value),
            };
        }
        cursor.into_iter().for_each(|id| txn.close_cursor(id));
        txn.commit().unwrap();
        let read = environment.read().unwrap();
        let records: Result<Vec<_>, _> = read.range(database, ..).unwrap().collect();
        let records = records.unwrap().into_iter();
        assert!(records.eq(model.iter().map(|(k, v)| (k.as_slice(), v.as_slice()))));
    }
    drop(environment);
    let report = fulgurite::check::check_file(&scratch.path().join("data.mdb")).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn impossible_edits_are_refused() {
    let scratch = Scratch::new("edit");
    let environment = environment(&scratch);
    let mut txn = environment.write().unwrap();
    let numbers = txn.create_database("numbers", KeyOrder::Integer).unwrap();
    let store = |_: Option<&[u8]>| Ok(Edit::Store(b"value"));
    assert!(matches!(
        txn.edit::<Error>(Database::FREE_LIST, b"key", store),
        Err(Error::ReadOnly)
    ));
    for key in [&b""[..], &[1; 1000]] {
        assert!(matches!(
            txn.edit::<Error>(Database::MAIN, key, store),
            Err(Error::KeyLength { .. })
        ));
    }
    assert!(
        txn.edit::<Error>(Database::MAIN, b"numbers", store)
            .is_err()
    );
    txn.edit::<Error>(numbers, &7_u64.to_ne_bytes(), store)
        .unwrap();
    assert!(
        txn.edit::<Error>(numbers, &7_u32.to_ne_bytes(), store)
            .is_err()
    );
    // After a refusal the transaction goes on.
    txn.edit::<Error>(Database::MAIN, b"key", store).unwrap();
    txn.commit().unwrap();
    let read = environment.read().unwrap();
    assert_eq!(
        read.get(Database::MAIN, b"key").unwrap(),
        Some(&b"value"[..])
    );
}
