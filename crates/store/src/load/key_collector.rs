//! The keys of some entries, collected and sorted by attribute and kind. Each key comes once, with
//! the positions of its entries.
//!
//! Preparing threads do this, so that the loading thread reads no key. It only learns the id of the
//! first position.

use super::posting_chunks::push_number;
use crate::ids::AttributeId;
use crate::index::gram_lists::{GramLists, Grams};
use crate::index::{KeySink, gram, key};

/// Bytes that sorting takes for a row, together with the rows of other batches.
pub(crate) const ROW_POSITION_LEN: usize = 32;
/// Positions are below this.
const POSITIONS_MAX: u32 = 1 << POSITION_BITS;
const POSITION_BITS: u32 = 24;
/// Bytes of memory for a gram: itself, and as much for sorting, as several attributes are sorted at
/// once.
const GRAM_LEN: usize = 16;

/// Keys and positions, by attribute and kind.
#[derive(Default)]
pub(crate) struct KeyCollector {
    lists: Vec<KeyList>,
    /// The list of the last key. Entries have their keys in about the same order.
    last: usize,
    keys: Vec<u8>,
    grams: GramLists,
}

/// The keys of one kind of index of one attribute, in the order of arrival.
#[derive(Default)]
struct KeyList {
    head: [u8; 3],
    /// The first few different keys, with the positions of all entries that have them. Most entries
    /// share the keys of some attributes, and these need no sorting.
    frequent: Vec<FrequentKey>,
    /// All others.
    items: Vec<KeyItem>,
}

/// Number of frequent keys among which a new key is searched.
const FREQUENT_MAX: usize = 8;

struct FrequentKey {
    tail: u64,
    key: Span,
    positions: Vec<u32>,
}

/// A key among the collected bytes.
#[derive(Clone, Copy)]
struct Span {
    at: usize,
    len: u32,
}

struct KeyItem {
    /// Bytes of the key behind the common beginning of the list; known when the list is sorted.
    prefix: u64,
    key: Span,
    /// The entry; for a frequent key, the key's number.
    position: u32,
    is_frequent: bool,
}

impl Span {
    fn of(self, keys: &[u8]) -> &[u8] {
        let end = self.at + self.len as usize;
        keys.get(self.at..end).unwrap_or_default()
    }
}

/// Returns the last bytes of a key, which differ between most keys.
fn tail(key: &[u8]) -> u64 {
    key.last_chunk().map_or(0, |tail| u64::from_le_bytes(*tail))
}

impl KeyList {
    fn push(&mut self, keys: &mut Vec<u8>, key: &[u8], position: u32) {
        let tail = tail(key);
        let mut known = self.frequent.iter_mut();
        let is_same = |one: &&mut FrequentKey| one.tail == tail && one.key.of(keys) == key;
        if let Some(frequent) = known.find(is_same) {
            if frequent.positions.last() != Some(&position) {
                frequent.positions.push(position);
            }
            return;
        }
        let span = Span {
            at: keys.len(),
            len: u32::try_from(key.len()).unwrap_or(0),
        };
        keys.extend_from_slice(key);
        if self.frequent.len() < FREQUENT_MAX {
            let (key, positions) = (span, vec![position]);
            self.frequent.push(FrequentKey {
                tail,
                key,
                positions,
            });
        } else {
            self.items.push(KeyItem {
                prefix: 0,
                key: span,
                position,
                is_frequent: false,
            });
        }
    }

    fn bytes(&self) -> usize {
        let positions = self
            .frequent
            .iter()
            .map(|frequent| frequent.positions.len() * 4);
        self.items.len() * size_of::<KeyItem>() + positions.sum::<usize>()
    }

    /// Adds rows for all keys, in their order, and becomes empty.
    fn drain(&mut self, keys: &[u8], sorted: &mut SortedKeys) {
        let frequent = (0..).zip(&self.frequent).map(|(number, frequent)| KeyItem {
            prefix: 0,
            key: frequent.key,
            position: number,
            is_frequent: true,
        });
        self.items.extend(frequent);
        let Some(first) = self.items.first().map(|item| item.key.of(keys)) else {
            return;
        };
        // The common beginning need not be compared.
        let mut skipped = first.len();
        for item in &self.items {
            let (a, b) = (first.get(..skipped), item.key.of(keys));
            let pairs = a.unwrap_or_default().iter().zip(b);
            skipped = pairs.take_while(|(a, b)| a == b).count();
        }
        for item in &mut self.items {
            item.prefix = prefix(item.key.of(keys), skipped);
        }
        // The sort is stable, so positions mostly stay in order. Sorted or nearly sorted input
        // needs few comparisons.
        let compared = skipped + size_of::<u64>();
        let is_whole = |item: &KeyItem| item.key.len as usize <= compared;
        let order = |a: &KeyItem, b: &KeyItem| {
            let by_key = || match is_whole(a) && is_whole(b) {
                true => a.key.len.cmp(&b.key.len),
                false => a.key.of(keys).cmp(b.key.of(keys)),
            };
            a.prefix.cmp(&b.prefix).then_with(by_key)
        };
        self.items.sort_by(order);
        for equal in self.items.chunk_by_mut(|a, b| order(a, b).is_eq()) {
            // Entries that waited for their parents have lower positions than the entries before
            // them here.
            equal.sort_by_key(|item| item.position);
            let Some(first) = equal.first() else { continue };
            let key = first.key.of(keys);
            match self.frequent.get_mut(first.position as usize) {
                Some(frequent) if first.is_frequent => {
                    frequent.positions.sort();
                    sorted.push(key, frequent.positions.iter().copied());
                }
                _ => sorted.push(key, equal.iter().map(|item| item.position)),
            }
        }
        self.items.clear();
        self.frequent.clear();
    }
}

/// Returns eight bytes of a key from a position on, as a number that sorts as the bytes. The order
/// of shorter keys follows from their lengths.
fn prefix(key: &[u8], from: usize) -> u64 {
    let rest = key.get(from..).unwrap_or_default();
    if let Some(first) = rest.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let bytes = rest.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    bytes << (64 - 8 * rest.len().min(8)).min(63)
}

impl KeyCollector {
    /// Adds a key of the entry at a position made by [`position_of`](Self::position_of).
    pub(crate) fn push(&mut self, key: &[u8], position: u32) {
        if let Some((attribute, code)) = gram::gram_of(key) {
            return self.grams.push(attribute, code, position);
        }
        let head = key::kind_prefix(key);
        let is = |at: &usize| self.lists.get(*at).is_some_and(|list| list.head == head);
        let near = [self.last, self.last + 1].into_iter().find(is);
        self.last = near
            .or_else(|| (0..self.lists.len()).find(is))
            .unwrap_or_else(|| {
                let list = KeyList {
                    head,
                    ..KeyList::default()
                };
                self.lists.push(list);
                self.lists.len() - 1
            });
        if let Some(list) = self.lists.get_mut(self.last) {
            list.push(&mut self.keys, key, position);
        }
    }

    /// Returns the sink for the keys of the entry at a position.
    pub(crate) fn at(&mut self, position: u32) -> EntryKeys<'_> {
        EntryKeys {
            collector: self,
            position,
        }
    }

    /// Adds a gram of the entry at a position.
    pub(crate) fn push_gram(&mut self, attribute: AttributeId, code: u32, position: u32) {
        self.grams.push(attribute, code, position);
    }

    /// Returns the position if it is within the range of positions.
    pub(crate) fn position_of(position: u64) -> Option<u32> {
        u32::try_from(position)
            .ok()
            .filter(|position| *position < POSITIONS_MAX)
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.lists.iter().map(KeyList::bytes);
        lists.sum::<usize>() + self.keys.len() + self.grams.len() * GRAM_LEN
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.grams.len() == 0
    }

    /// Returns all keys, sorted. The empty lists keep their memory.
    pub(crate) fn take_sorted(&mut self) -> SortedKeys {
        let mut sorted = SortedKeys::default();
        for list in &mut self.lists {
            list.drain(&self.keys, &mut sorted);
        }
        sorted.grams = self.grams.take();
        self.keys.clear();
        sorted
    }
}

/// Takes the keys of one entry.
pub(crate) struct EntryKeys<'g> {
    collector: &'g mut KeyCollector,
    position: u32,
}

impl KeySink for EntryKeys<'_> {
    fn key(&mut self, key: &[u8]) {
        self.collector.push(key, self.position);
    }

    fn grams(&mut self, index: AttributeId, normal: &[u8], scratch: &mut Vec<u8>) {
        if !self
            .collector
            .grams
            .push_value(index, normal, self.position)
        {
            gram::each_gram(normal, |one| {
                key::posting(scratch, index, gram::CODE, one);
                self.key(scratch);
            });
        }
    }
}

/// Keys with the positions of their entries. Those of one attribute and kind are adjacent and
/// ascend. Grams are sorted later, with those of other batches.
#[derive(Default)]
pub(crate) struct SortedKeys {
    rows: Vec<SortedRow>,
    pub(crate) grams: Vec<Grams>,
    /// For each row its key and the distances to the second and all following positions.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(crate) struct SortedRow {
    at: usize,
    key_len: u32,
    list_len: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl SortedKeys {
    /// Adds a row. Positions ascend; repeated ones are skipped.
    fn push(&mut self, key: &[u8], mut positions: impl Iterator<Item = u32>) {
        let Some(first) = positions.next() else {
            return;
        };
        let at = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let list_at = self.bytes.len();
        let mut last = first;
        for position in positions.filter(|position| *position > first) {
            if position != last {
                push_number(&mut self.bytes, u64::from(position - last));
                last = position;
            }
        }
        self.rows.push(SortedRow {
            at,
            key_len: u32::try_from(key.len()).unwrap_or(0),
            list_len: u32::try_from(self.bytes.len() - list_at).unwrap_or(0),
            first,
            last,
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.grams.is_empty()
    }

    pub(crate) fn rows(&self) -> &[SortedRow] {
        &self.rows
    }

    pub(crate) fn key(&self, row: &SortedRow) -> &[u8] {
        let end = row.at + row.key_len as usize;
        self.bytes.get(row.at..end).unwrap_or_default()
    }

    pub(crate) fn list(&self, row: &SortedRow) -> &[u8] {
        let start = row.at + row.key_len as usize;
        let end = start + row.list_len as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Returns the memory in use, including the memory for sorting rows with those of other
    /// batches.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.rows.len() * (size_of::<SortedRow>() + ROW_POSITION_LEN);
        let grams = self.grams.iter().map(|(_, list)| list.len() * GRAM_LEN);
        self.bytes.len() + rows + grams.sum::<usize>()
    }
}
