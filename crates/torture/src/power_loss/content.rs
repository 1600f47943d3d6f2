//! The expected content of an environment, and a hash of its real content.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite::{Database, Error, KeyOrder, Snapshot, ValueKind, WriteTxn};

use super::sectors::{hash, mix};

/// The databases of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DatabaseKind {
    /// Records in the main database, next to the named ones.
    Main,
    /// Values of any length, large ones too.
    Plain,
    /// Integer keys.
    Numbers,
    /// Several values to a key.
    Pairs,
    /// Several values of one length to a key.
    Packed,
}

impl DatabaseKind {
    pub(super) const ALL: [DatabaseKind; 5] = [
        DatabaseKind::Main,
        DatabaseKind::Plain,
        DatabaseKind::Numbers,
        DatabaseKind::Pairs,
        DatabaseKind::Packed,
    ];

    const fn name(self) -> Option<&'static str> {
        match self {
            DatabaseKind::Main => None,
            DatabaseKind::Plain => Some("plain"),
            DatabaseKind::Numbers => Some("numbers"),
            DatabaseKind::Pairs => Some("pairs"),
            DatabaseKind::Packed => Some("packed"),
        }
    }

    /// True if the database's keys have several values.
    pub(super) const fn has_pairs(self) -> bool {
        matches!(self, DatabaseKind::Pairs | DatabaseKind::Packed)
    }

    /// The database, made if need be.
    pub(super) fn create(self, txn: &mut WriteTxn<'_>) -> Result<Database, Error> {
        let lexical = KeyOrder::Lexical;
        let Some(name) = self.name() else {
            return Ok(Database::MAIN);
        };
        match self {
            DatabaseKind::Pairs => txn.create_multimap(name, lexical, ValueKind::Any(lexical)),
            DatabaseKind::Packed => txn.create_multimap(name, lexical, ValueKind::Fixed(lexical)),
            DatabaseKind::Numbers => return txn.create_database(name, KeyOrder::Integer),
            _ => return txn.create_database(name, lexical),
        }
        .map(Database::from)
    }
}

/// The records an environment should hold.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    records: BTreeMap<(DatabaseKind, Vec<u8>), BTreeSet<Vec<u8>>>,
}

impl Content {
    pub(super) fn put(&mut self, place: DatabaseKind, key: &[u8], value: &[u8]) {
        let values = self.records.entry((place, key.to_vec())).or_default();
        if !place.has_pairs() {
            values.clear();
        }
        values.insert(value.to_vec());
    }

    pub(super) fn delete(&mut self, place: DatabaseKind, key: &[u8]) {
        self.records.remove(&(place, key.to_vec()));
    }

    pub(super) fn clear(&mut self, place: DatabaseKind) {
        self.records.retain(|(other, _), _| *other != place);
    }

    /// The hash that [`found`] gives for an environment with just these records.
    pub(super) fn hash(&self) -> u64 {
        let pairs = self.records.iter().flat_map(|((place, key), values)| {
            values.iter().map(|value| record_hash(*place, key, value))
        });
        pairs.fold(0, u64::wrapping_add)
    }
}

/// Reads everything that a snapshot holds; the order of records is for `check` to look at.
pub(super) fn found(snapshot: &impl Snapshot) -> Result<u64, Error> {
    let mut sum = 0u64;
    for place in DatabaseKind::ALL {
        let database = match snapshot.open_database(place.name()) {
            Ok(database) => database,
            Err(Error::NoDatabase(_)) => continue,
            Err(error) => return Err(error),
        };
        for record in snapshot.range(database, ..)? {
            let (key, value) = record?;
            // Records of the named databases stand between the others.
            let is_name =
                |place: &DatabaseKind| place.name().is_some_and(|name| name.as_bytes() == key);
            if place != DatabaseKind::Main || !DatabaseKind::ALL.iter().any(is_name) {
                sum = sum.wrapping_add(record_hash(place, key, value));
            }
        }
    }
    Ok(sum)
}

fn record_hash(place: DatabaseKind, key: &[u8], value: &[u8]) -> u64 {
    mix(mix(hash(key) ^ place as u64) ^ hash(value))
}
