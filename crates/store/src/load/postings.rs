//! Postings on their way into the index tree.
//!
//! Ids come in ascending order, so a posting is its first id and the distances to the next ones. Most postings of a
//! directory hold one id (uid, mail, entryUUID); those cost a row and their key, and no list.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Failure;
use super::chunks::push_number;
use super::external::{Buffer, RowSink};
use crate::ids::EntryId;
use crate::index::key;

/// Stands for "no list".
const NONE: u32 = u32::MAX;
/// What a row costs besides its key: itself, its place in the table, and its place in the sorted order.
const ROW_COST: usize = size_of::<Row>() + 10 + size_of::<Place>();
/// What a list costs besides its octets.
const LIST_COST: usize = 48;

/// Where a row is, with the first octets of its key: most comparisons of a sort need not look at the key.
struct Place {
    prefix: u128,
    row: u32,
    is_gram: bool,
}

#[derive(Clone, Copy)]
struct Row {
    /// The key itself where it is short, as those of grams are; 0 for a longer one.
    short: u64,
    key_at: usize,
    key_len: u32,
    list: u32,
    first: u64,
    last: u64,
}

/// Postings by key, in two parts. Keys of values are as many as entries, and looking one up misses the processor's caches;
/// grams are few, and are looked up far more often, so they are kept where they stay warm.
#[derive(Default)]
pub(crate) struct PostingBuffer {
    values: Part,
    grams: Part,
}

impl PostingBuffer {
    /// Adds an id to the posting of `key`; ids of one key come in ascending order, repeated ones are passed over.
    pub(crate) fn push(&mut self, key: &[u8], id: EntryId) {
        if key::is_gram(key) {
            self.grams.push(key, id);
        } else {
            self.values.push(key, id);
        }
    }
}

#[derive(Default)]
struct Part {
    table: HashTable<u32>,
    rows: Vec<Row>,
    keys: Vec<u8>,
    lists: Vec<Vec<u8>>,
    list_bytes: usize,
}

impl Part {
    fn push(&mut self, key: &[u8], id: EntryId) {
        let short = short(key);
        let hash = hash(short, key);
        let (rows, keys) = (&self.rows, &self.keys);
        let is = |position: &u32| {
            rows.get(*position as usize)
                .is_some_and(|row| row.short == short && (short != 0 || key_of(keys, row) == key))
        };
        if let Some(&position) = self.table.find(hash, is) {
            return self.extend(position, id);
        }
        let position = u32::try_from(rows.len()).unwrap_or(NONE);
        let row = Row {
            short,
            key_at: keys.len(),
            key_len: u32::try_from(key.len()).unwrap_or(0),
            list: NONE,
            first: id.0,
            last: id.0,
        };
        self.table.insert_unique(hash, position, |position| {
            let row = rows.get(*position as usize);
            row.map_or(0, |row| self::hash(row.short, key_of(keys, row)))
        });
        self.rows.push(row);
        self.keys.extend_from_slice(key);
    }

    fn extend(&mut self, position: u32, id: EntryId) {
        let Some(row) = self.rows.get_mut(position as usize) else {
            return;
        };
        if row.last == id.0 {
            return;
        }
        if row.list == NONE {
            row.list = u32::try_from(self.lists.len()).unwrap_or(NONE);
            self.lists.push(Vec::new());
            self.list_bytes += LIST_COST;
        }
        if let Some(list) = self.lists.get_mut(row.list as usize) {
            let before = list.capacity();
            push_number(list, id.0 - row.last);
            self.list_bytes += list.capacity() - before;
        }
        row.last = id.0;
    }

    fn list_of(&self, row: &Row) -> &[u8] {
        self.lists.get(row.list as usize).map_or(&[], Vec::as_slice)
    }
}

impl Part {
    fn is_full(&self) -> bool {
        // Numbers of rows are 32 bits wide.
        self.rows.len() >= (u32::MAX / 2) as usize
    }

    fn bytes(&self) -> usize {
        self.rows.len() * ROW_COST + self.keys.len() + self.list_bytes
    }

    fn places(&self, is_gram: bool) -> impl Iterator<Item = Place> {
        (0..).zip(&self.rows).map(move |(row, held)| Place {
            prefix: prefix(key_of(&self.keys, held)),
            row,
            is_gram,
        })
    }

    fn key_at(&self, row: u32) -> &[u8] {
        let row = self.rows.get(row as usize);
        row.map_or(&[], |row| key_of(&self.keys, row))
    }
}

impl Buffer for PostingBuffer {
    fn bytes(&self) -> usize {
        if self.values.is_full() || self.grams.is_full() {
            return usize::MAX;
        }
        self.values.bytes() + self.grams.bytes()
    }

    fn drain(&mut self, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        let this = std::mem::take(self);
        let part = |place: &Place| match place.is_gram {
            true => &this.grams,
            false => &this.values,
        };
        let mut order: Vec<Place> =
            Vec::with_capacity(this.values.rows.len() + this.grams.rows.len());
        order.extend(this.values.places(false).chain(this.grams.places(true)));
        order.sort_unstable_by(|a, b| {
            let by_key = || part(a).key_at(a.row).cmp(part(b).key_at(b.row));
            a.prefix.cmp(&b.prefix).then_with(by_key)
        });
        let mut value = Vec::new();
        for place in &order {
            let part = part(place);
            let Some(row) = part.rows.get(place.row as usize) else {
                continue;
            };
            let list = part.list_of(row);
            value.clear();
            push_number(&mut value, row.first);
            push_number(&mut value, list.len() as u64);
            value.extend_from_slice(list);
            sink(key_of(&part.keys, row), &value)?;
        }
        Ok(())
    }
}

fn key_of<'a>(keys: &'a [u8], row: &Row) -> &'a [u8] {
    keys.get(row.key_at..row.key_at + row.key_len as usize)
        .unwrap_or_default()
}

fn hash(short: u64, key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    if short == 0 {
        hasher.write(key);
    } else {
        hasher.write_u64(short);
    }
    hasher.finish()
}

/// A key of up to seven octets with its length as a number.
fn short(key: &[u8]) -> u64 {
    let mut octets = [0; 8];
    let ([len, rest @ ..], Ok(1..=7)) = (&mut octets, u8::try_from(key.len())) else {
        return 0;
    };
    rest.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    *len = u8::try_from(key.len()).unwrap_or(0);
    u64::from_le_bytes(octets)
}

/// The first octets of a key as a number. The first of them, half of the attribute's number, is left out as long as it
/// is zero, to see one octet more of the value.
fn prefix(key: &[u8]) -> u128 {
    let Some((0, rest)) = key.split_first().map(|(first, rest)| (*first, rest)) else {
        return u128::MAX;
    };
    let mut first = [0; 16];
    first
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    u128::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::super::chunks::Ids;
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn postings_come_out_sorted_and_whole(
            pairs in prop::collection::btree_set((0_u64..20_000, prop::collection::vec(any::<u8>(), 1..4)), 0..300),
            spill in 1_usize..4000,
        ) {
            let dir = std::env::temp_dir();
            let mut external: super::super::external::External<PostingBuffer> = super::super::external::External::new(&dir, spill);
            let mut model: BTreeMap<Vec<u8>, BTreeSet<u64>> = BTreeMap::new();
            for (id, key) in pairs {
                external.buffer.push(&key, EntryId(id));
                external.buffer.push(&key, EntryId(id));
                external.relieve().unwrap();
                model.entry(key).or_default().insert(id);
            }
            let mut found = Vec::new();
            external.finish(&mut |key, value| {
                let ids: Result<BTreeSet<u64>, _> = Ids::new(value).map(|id| id.map(|id| id.0)).collect();
                found.push((key.to_vec(), ids.unwrap()));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        }
    }
}
