//! Multimaps against a set of pairs, and what they refuse.

use std::collections::BTreeSet;

use fulgurite::{
    CustomOrder, Database, Durability, Environment, Error, KeyOrder, Multimap, Snapshot, ValueKind,
};
use fulgurite_testkit::{Random, Scratch, quick_or_long, seed};

type Pairs = BTreeSet<(Vec<u8>, [u8; 4])>;

fn check(txn: &impl Snapshot, map: Multimap, pairs: &Pairs, random: &mut Random) {
    let key = some_key(random);
    let expected: Vec<[u8; 4]> = pairs
        .iter()
        .filter(|pair| pair.0 == key)
        .map(|pair| pair.1)
        .collect();
    assert_eq!(map.count(txn, &key).unwrap(), expected.len() as u64);
    let found: Result<Vec<_>, _> = map.values(txn, &key).unwrap().collect();
    assert_eq!(found.unwrap(), expected);
    let value = some_value(random);
    let contains = map.contains(txn, &key, &value).unwrap();
    assert_eq!(contains, expected.contains(&value));
    if let Some(value) = expected.first() {
        assert!(map.contains(txn, &key, value).unwrap());
    }
    assert_eq!(
        txn.stat(map.database()).unwrap().entries,
        pairs.len() as u64
    );
}

fn some_key(random: &mut Random) -> Vec<u8> {
    vec![b'k'; 1 + random.below(6)]
}

fn some_value(random: &mut Random) -> [u8; 4] {
    (random.below(1500) as u32).to_be_bytes()
}

#[test]
fn agrees_with_a_set_of_pairs() {
    let mut random = Random::new(seed("multimap", 20_261_124));
    for kind in [
        ValueKind::Any(KeyOrder::Lexical),
        ValueKind::Fixed(KeyOrder::Lexical),
    ] {
        let scratch = Scratch::new("multimap");
        let environment = Environment::options()
            .durability(Durability::NoSync)
            .open(scratch.path())
            .unwrap();
        let mut pairs = Pairs::new();
        for _ in 0..quick_or_long(4, 60) {
            let mut txn = environment.write().unwrap();
            let map = txn
                .create_multimap("pairs", KeyOrder::Lexical, kind)
                .unwrap();
            for _ in 0..1500 {
                let (key, value) = (some_key(&mut random), some_value(&mut random));
                match random.below(300) {
                    0 => {
                        let count = pairs.iter().filter(|pair| pair.0 == key).count();
                        assert_eq!(map.remove_all(&mut txn, &key).unwrap(), count as u64);
                        pairs.retain(|pair| pair.0 != key);
                    }
                    1..90 => {
                        let removed = map.remove(&mut txn, &key, &value).unwrap();
                        assert_eq!(removed, pairs.remove(&(key, value)));
                    }
                    _ => {
                        let is_new = map.insert(&mut txn, &key, &value).unwrap();
                        assert_eq!(is_new, pairs.insert((key, value)));
                    }
                }
            }
            check(&txn, map, &pairs, &mut random);
            txn.commit().unwrap();
            let txn = environment.read().unwrap();
            let map = txn.open_multimap(Some("pairs")).unwrap();
            for _ in 0..20 {
                check(&txn, map, &pairs, &mut random);
            }
        }
    }
}

#[test]
fn refuses_a_database_of_another_kind() {
    let scratch = Scratch::new("multimap-kinds");
    let environment = Environment::options().open(scratch.path()).unwrap();
    let mut txn = environment.write().unwrap();
    let kind = ValueKind::Fixed(KeyOrder::Integer);
    let map = txn.create_multimap("map", KeyOrder::Reverse, kind).unwrap();
    txn.create_database("plain", KeyOrder::Lexical).unwrap();

    let again = txn.create_multimap("map", KeyOrder::Reverse, kind);
    assert_eq!(again.unwrap(), map);
    let other_values =
        txn.create_multimap("map", KeyOrder::Reverse, ValueKind::Any(KeyOrder::Integer));
    assert!(matches!(
        other_values,
        Err(Error::ValueMismatch { found, .. }) if found == kind
    ));
    let other_keys = txn.create_multimap("map", KeyOrder::Lexical, kind);
    assert!(matches!(
        other_keys,
        Err(Error::OrderMismatch {
            found: KeyOrder::Reverse,
            ..
        })
    ));
    let plain = txn.create_multimap("plain", KeyOrder::Lexical, kind);
    assert!(matches!(plain, Err(Error::NoDuplicates)));
    assert!(matches!(txn.open_multimap(None), Err(Error::NoDuplicates)));
    assert!(matches!(
        txn.open_multimap(Some("none")),
        Err(Error::NoDatabase(_))
    ));

    // Refusals change nothing and leave the transaction usable.
    assert!(map.insert(&mut txn, b"key", &7u64.to_ne_bytes()).unwrap());
    let short = map.insert(&mut txn, b"key", &7u32.to_ne_bytes());
    assert!(matches!(short, Err(Error::FixedSize { len: 4, wanted: 8 })));
    assert_eq!(map.count(&txn, b"key").unwrap(), 1);
    assert_eq!(Database::from(map), map.database());
    txn.commit().unwrap();
}

/// A key that is equal in a custom order is stored as it was given last, as in LMDB.
#[test]
fn an_equal_key_of_a_custom_order_is_stored_as_given() {
    let scratch = Scratch::new("multimap-equal-keys");
    let environment = Environment::options().open(scratch.path()).unwrap();
    let without_case = CustomOrder {
        call: |_, a, b| a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()),
        context: 0,
    };
    let mut txn = environment.write().unwrap();
    let (keys, values) = (
        KeyOrder::Custom(without_case),
        ValueKind::Any(KeyOrder::Lexical),
    );
    let map = txn.create_multimap("pairs", keys, values).unwrap();
    for (key, value) in [(b"abc", b"1"), (b"abc", b"2"), (b"ABC", b"3")] {
        txn.put(map.database(), key, value).unwrap();
    }
    let mut cursor = txn.cursor(map.database()).unwrap();
    let first = cursor.first().unwrap().expect("a record");
    assert_eq!(first.0, b"ABC");
}
