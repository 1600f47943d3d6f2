//! Functions for several suites: opening, listing, and comparing with a model.

use std::path::Path;

use fulgurite::{Database, Durability, Environment, Error, KeyOrder, Snapshot};
use fulgurite_testkit::{Crc32, Listing, Model, Order, list_line};

/// Opens an environment without waiting for the disk. These tests kill processes, not the machine.
pub(crate) fn open(path: &Path) -> Environment {
    Environment::options()
        .durability(Durability::NoSync)
        .open(path)
        .unwrap_or_else(|e| panic!("open {}: {e}", path.display()))
}

/// The engine's word for an order.
pub(crate) fn key_order(order: Order) -> KeyOrder {
    match order {
        Order::Lexical => KeyOrder::Lexical,
        Order::Reverse => KeyOrder::Reverse,
        Order::Integer => KeyOrder::Integer,
    }
}

/// All records from first to last.
pub(crate) fn list(snapshot: &impl Snapshot, db: Database) -> Result<Listing, Error> {
    let mut cursor = snapshot.cursor(db)?;
    let mut lines = Listing::new();
    let mut record = cursor.first()?;
    while let Some((key, value)) = record {
        lines.push(list_line(key, Some(value)));
        record = cursor.next()?;
    }
    Ok(lines)
}

/// All records from last to first, turned round.
pub(crate) fn list_backwards(snapshot: &impl Snapshot, db: Database) -> Result<Listing, Error> {
    let mut cursor = snapshot.cursor(db)?;
    let mut lines = Listing::new();
    let mut record = cursor.last()?;
    while let Some((key, value)) = record {
        lines.push(list_line(key, Some(value)));
        record = cursor.prev()?;
    }
    lines.reverse();
    Ok(lines)
}

/// Count, size and checksum of a database, in the peers' words.
pub(crate) fn hash(snapshot: &impl Snapshot, db: Database) -> Result<String, Error> {
    let mut cursor = snapshot.cursor(db)?;
    let mut crc = Crc32::new();
    let mut record = cursor.first()?;
    while let Some((key, value)) = record {
        crc.record(key, value);
        record = cursor.next()?;
    }
    Ok(crc.finish())
}

/// Fails unless the database holds exactly what the model does, read in both directions.
pub(crate) fn assert_model(snapshot: &impl Snapshot, db: Database, model: &Model, context: &str) {
    let forwards = list(snapshot, db).unwrap_or_else(|e| panic!("{context}: {e}"));
    let expected = model.listing();
    assert_same(&forwards, &expected, context);
    let backwards = list_backwards(snapshot, db).unwrap_or_else(|e| panic!("{context}: {e}"));
    assert_same(&backwards, &expected, context);
    let stat = snapshot
        .stat(db)
        .unwrap_or_else(|e| panic!("{context}: {e}"));
    assert_eq!(
        stat.entries,
        model.len() as u64,
        "{context}: the record's count"
    );
}

/// Compares two listings and shows the first difference instead of both.
pub(crate) fn assert_same(actual: &Listing, expected: &Listing, context: &str) {
    if actual == expected {
        return;
    }
    let at = actual
        .iter()
        .zip(expected)
        .take_while(|(a, b)| a == b)
        .count();
    panic!(
        "{context}: {} records instead of {}; number {at} is {:?} instead of {:?}",
        actual.len(),
        expected.len(),
        actual.get(at),
        expected.get(at)
    );
}

/// Fails unless our own checker finds nothing wrong with the newest snapshot.
pub(crate) fn assert_sound(dir: &Path, context: &str) {
    let report = fulgurite::check::check_file(&dir.join("data.mdb"))
        .unwrap_or_else(|e| panic!("{context}: {e}"));
    assert!(report.is_sound(), "{context}: {report}");
}

/// How many bytes the data file takes up.
pub(crate) fn data_bytes(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("data.mdb"))
        .expect("the data file")
        .len()
}
