//! The expected content of a database: an ordered map, with the key orders of the LMDB 0.9 file
//! format, section 6.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::listing::{Crc32, Listing, list_line};

/// How the keys of a database are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Unsigned bytes from the first to the last.
    Lexical,
    /// Unsigned bytes from the last to the first.
    Reverse,
    /// Native (little-endian) unsigned integers, all of one size.
    Integer,
}

impl Order {
    /// Turns a key into bytes whose lexical order is this order; the function is its own inverse.
    #[must_use]
    pub fn flip(self, key: &[u8]) -> Vec<u8> {
        match self {
            Order::Lexical => key.to_vec(),
            Order::Reverse | Order::Integer => key.iter().rev().copied().collect(),
        }
    }

    /// Its word in the peers' protocol.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Order::Lexical => "lexical",
            Order::Reverse => "reverse",
            Order::Integer => "integer",
        }
    }
}

/// The expected content of one database.
#[derive(Debug, Clone)]
pub struct Model {
    order: Order,
    /// Shared, because tests keep many copies of a model with snapshots.
    records: BTreeMap<Arc<[u8]>, Arc<[u8]>>,
}

impl Model {
    /// An empty database.
    #[must_use]
    pub fn new(order: Order) -> Self {
        Self {
            order,
            records: BTreeMap::new(),
        }
    }

    /// The order of its keys.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns true if the model has no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Stores a record.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.records
            .insert(self.order.flip(key).into(), value.into());
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.records.get(&*self.order.flip(key)).map(|v| &**v)
    }

    /// Removes a record; says whether it was there.
    pub fn delete(&mut self, key: &[u8]) -> bool {
        self.records.remove(&*self.order.flip(key)).is_some()
    }

    /// Removes every record.
    pub fn clear(&mut self) {
        self.records.clear();
    }

    /// The records in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Vec<u8>, &[u8])> {
        self.records.iter().map(|(k, v)| (self.order.flip(k), &**v))
    }

    /// The first record whose key is not below `key`.
    #[must_use]
    pub fn seek_range(&self, key: &[u8]) -> Option<(Vec<u8>, &[u8])> {
        let from = self.order.flip(key);
        let found = self
            .records
            .range::<[u8], _>((Bound::Included(&*from), Bound::Unbounded))
            .next();
        found.map(|(k, v)| (self.order.flip(k), &**v))
    }

    /// The last key.
    #[must_use]
    pub fn last_key(&self) -> Option<Vec<u8>> {
        self.records.keys().next_back().map(|k| self.order.flip(k))
    }

    /// The key at position `index` of the order.
    #[must_use]
    pub fn key_at(&self, index: usize) -> Option<Vec<u8>> {
        self.records.keys().nth(index).map(|k| self.order.flip(k))
    }

    /// Count, bytes and checksum in the words of the peers' `hash` command.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut crc = Crc32::new();
        for (key, value) in self.iter() {
            crc.record(&key, value);
        }
        crc.finish()
    }

    /// The records as lines of a listing.
    #[must_use]
    pub fn listing(&self) -> Listing {
        self.iter().map(|(k, v)| list_line(&k, Some(v))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(order: Order, keys: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut model = Model::new(order);
        for key in keys {
            model.put(key, b"");
        }
        model.iter().map(|(k, _)| k).collect()
    }

    #[test]
    fn each_order_sorts_as_the_format_says() {
        assert_eq!(
            keys(Order::Lexical, &[b"b", b"ab", b"a"]),
            [&b"a"[..], b"ab", b"b"]
        );
        assert_eq!(
            keys(Order::Reverse, &[b"xb", b"ya", b"a"]),
            [&b"a"[..], b"ya", b"xb"]
        );
        assert_eq!(
            keys(Order::Integer, &[&[0, 1, 0, 0], &[255, 0, 0, 0]]),
            [&[255, 0, 0, 0][..], &[0, 1, 0, 0]]
        );
    }
}
