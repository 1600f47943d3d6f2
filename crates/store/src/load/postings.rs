//! Postings on their way into the index tree.
//!
//! Ids come in ascending order, so a posting is its first id and the distances to the next ones. Most postings of a
//! directory hold one id (uid, mail, entryUUID); those cost a row and their key, and no list.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::Failure;
use super::external::{Buffer, RowSink};
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::idset::{encode_sorted, split};
use crate::index::key;

/// Stands for "no list".
const NONE: u32 = u32::MAX;
/// What a row costs besides its key: itself, its place in the table, and its place in the sorted order.
const ROW_COST: usize = size_of::<Row>() + 10 + size_of::<(u64, u32)>();
/// What a list costs besides its octets.
const LIST_COST: usize = 48;

#[derive(Clone, Copy)]
struct Row {
    key_at: usize,
    key_len: u32,
    list: u32,
    first: u64,
    last: u64,
}

/// Postings by key.
#[derive(Default)]
pub(crate) struct PostingBuffer {
    table: HashTable<u32>,
    rows: Vec<Row>,
    keys: Vec<u8>,
    lists: Vec<Vec<u8>>,
    list_bytes: usize,
}

impl PostingBuffer {
    /// Adds an id to the posting of `key`; ids of one key come in ascending order, repeated ones are passed over.
    pub(crate) fn push(&mut self, key: &[u8], id: EntryId) {
        let hash = hash(key);
        let (rows, keys) = (&self.rows, &self.keys);
        let key_of = |position: u32| {
            rows.get(position as usize)
                .map_or(&[][..], |row| key_of(keys, row))
        };
        if let Some(&position) = self.table.find(hash, |position| key_of(*position) == key) {
            return self.extend(position, id);
        }
        let position = u32::try_from(rows.len()).unwrap_or(NONE);
        let row = Row {
            key_at: keys.len(),
            key_len: u32::try_from(key.len()).unwrap_or(0),
            list: NONE,
            first: id.0,
            last: id.0,
        };
        self.table
            .insert_unique(hash, position, |position| self::hash(key_of(*position)));
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

impl Buffer for PostingBuffer {
    fn bytes(&self) -> usize {
        // Numbers of rows are 32 bits wide: full long before.
        if self.rows.len() >= (u32::MAX / 2) as usize {
            return usize::MAX;
        }
        self.rows.len() * ROW_COST + self.keys.len() + self.list_bytes
    }

    fn drain(&mut self, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        let this = std::mem::take(self);
        let mut order: Vec<(u64, &Row)> = this
            .rows
            .iter()
            .map(|row| (prefix(key_of(&this.keys, row)), row))
            .collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| key_of(&this.keys, a.1).cmp(key_of(&this.keys, b.1)))
        });
        let mut value = Vec::new();
        for (_, row) in order {
            let list = this.list_of(row);
            value.clear();
            push_number(&mut value, row.first);
            push_number(&mut value, list.len() as u64);
            value.extend_from_slice(list);
            sink(key_of(&this.keys, row), &value)?;
        }
        Ok(())
    }
}

/// Receives chunks with their keys.
pub(crate) type ChunkSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError> + 'a;

/// Turns one row (segments one behind the other) into chunks, and gives each with its key to `sink`.
pub(crate) fn write_chunks(
    posting: &[u8],
    segments: &[u8],
    scratch: &mut Scratch,
    sink: &mut ChunkSink<'_>,
) -> Result<(), StoreError> {
    let mut current = None;
    scratch.places.clear();
    for id in Ids::new(segments) {
        let (chunk, low) = split(id?);
        if current.is_some_and(|current| current != chunk) {
            scratch.write(posting, current, sink)?;
        }
        current = Some(chunk);
        scratch.places.push(low);
    }
    scratch.write(posting, current, sink)
}

/// Room that [`write_chunks`] uses again and again.
#[derive(Default)]
pub(crate) struct Scratch {
    places: Vec<u16>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Scratch {
    fn write(
        &mut self,
        posting: &[u8],
        chunk: Option<u32>,
        sink: &mut ChunkSink<'_>,
    ) -> Result<(), StoreError> {
        let Some(chunk) = chunk else { return Ok(()) };
        self.key.clear();
        self.key.extend_from_slice(posting);
        key::push_chunk(&mut self.key, chunk);
        encode_sorted(&self.places, &mut self.value);
        self.places.clear();
        sink(&self.key, &self.value)
    }
}

/// The ids of segments, each a first id, a length and so many octets of distances.
struct Ids<'a> {
    segments: &'a [u8],
    list: &'a [u8],
    last: u64,
}

impl<'a> Ids<'a> {
    fn new(segments: &'a [u8]) -> Ids<'a> {
        Ids {
            segments,
            list: &[],
            last: 0,
        }
    }

    fn read(&mut self) -> Option<EntryId> {
        if self.list.is_empty() {
            self.last = take_number(&mut self.segments)?;
            let len = usize::try_from(take_number(&mut self.segments)?).ok()?;
            self.list = crate::bytes::take(&mut self.segments, len)?;
        } else {
            self.last = self.last.checked_add(take_number(&mut self.list)?)?;
        }
        Some(EntryId(self.last))
    }
}

impl Iterator for Ids<'_> {
    type Item = Result<EntryId, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.list.is_empty() && self.segments.is_empty() {
            return None;
        }
        Some(self.read().ok_or(Damage::Posting))
    }
}

fn key_of<'a>(keys: &'a [u8], row: &Row) -> &'a [u8] {
    keys.get(row.key_at..row.key_at + row.key_len as usize)
        .unwrap_or_default()
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

/// The first octets of a key as a number, so that most comparisons of a sort need not look at the key. The first octet, half
/// of the attribute's number, is left out as long as it is zero, to see one octet more of the value.
fn prefix(key: &[u8]) -> u64 {
    let Some((0, rest)) = key.split_first().map(|(first, rest)| (*first, rest)) else {
        return u64::MAX;
    };
    let mut first = [0; 8];
    first
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(first)
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        #[allow(clippy::cast_possible_truncation)] // seven bits of it
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[allow(clippy::cast_possible_truncation)] // below 0x80
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&octet, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(octet & 0x7f) << shift;
        if octet < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
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

        #[test]
        fn numbers_there_and_back(number: u64) {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_number(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }
    }
}
