//! The keys of some entries, gathered and sorted: each key once, with the places of the entries that have it.
//!
//! Threads that prepare entries do this for themselves, so that the loading thread touches no key: it only learns which
//! id the first place is.

use super::chunks::push_number;
use super::grams::{GramLists, Grams};
use crate::ids::AttributeId;
use crate::index::{KeySink, Kind, each_gram, key};

/// Places are numbers below this.
const PLACES_MAX: u32 = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 24;
/// Octets of memory for a gram: itself, and half as much for sorting, as attributes are sorted one after the other.
const GRAM_LEN: usize = 12;

/// Keys and places in the order in which they come.
#[derive(Default)]
pub(crate) struct Gathering {
    items: Vec<Item>,
    keys: Vec<u8>,
    grams: GramLists,
}

struct Item {
    prefix: u128,
    at: usize,
    len: u32,
    place: u32,
}

impl Gathering {
    /// Adds a key of the entry at a place below [`room`](Self::has_room).
    pub(crate) fn push(&mut self, key: &[u8], place: u32) {
        if let Some((attribute, code)) = key::gram_of(key) {
            return self.grams.push(attribute, code, place);
        }
        self.items.push(Item {
            prefix: key::prefix(key),
            at: self.keys.len(),
            len: u32::try_from(key.len()).unwrap_or(0),
            place,
        });
        self.keys.extend_from_slice(key);
    }

    /// What takes the keys of the entry at a place.
    pub(crate) fn at(&mut self, place: u32) -> EntryKeys<'_> {
        EntryKeys {
            gathering: self,
            place,
        }
    }

    /// Adds a gram of the entry at a place.
    pub(crate) fn push_gram(&mut self, attribute: AttributeId, code: u32, place: u32) {
        self.grams.push(attribute, code, place);
    }

    /// Whether a place can be told apart from smaller ones.
    pub(crate) fn has_room(place: u64) -> Option<u32> {
        u32::try_from(place)
            .ok()
            .filter(|place| *place < PLACES_MAX)
    }

    /// Memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.items.len() * size_of::<Item>() + self.keys.len() + self.grams.len() * GRAM_LEN
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.grams.len() == 0
    }

    /// Everything gathered, sorted; what is left is empty and keeps its room.
    pub(crate) fn take_sorted(&mut self) -> Sorted {
        let mut sorted = Sorted::default();
        let keys = &self.keys;
        let key_of = |item: &Item| {
            let key = keys.get(item.at..item.at + item.len as usize);
            key.unwrap_or_default()
        };
        self.items.sort_unstable_by(|a, b| {
            let by_key = || key_of(a).cmp(key_of(b));
            let by_prefix = a.prefix.cmp(&b.prefix);
            by_prefix.then_with(by_key).then(a.place.cmp(&b.place))
        });
        let same = |a: &Item, b: &Item| a.prefix == b.prefix && key_of(a) == key_of(b);
        for equal in self.items.chunk_by(same) {
            if let Some(first) = equal.first() {
                sorted.push(key_of(first), equal.iter().map(|item| item.place));
            }
        }
        sorted.grams = self.grams.take();
        self.items.clear();
        self.keys.clear();
        sorted
    }
}

/// Takes the keys of one entry.
pub(crate) struct EntryKeys<'g> {
    gathering: &'g mut Gathering,
    place: u32,
}

impl KeySink for EntryKeys<'_> {
    fn key(&mut self, key: &[u8]) {
        self.gathering.push(key, self.place);
    }

    fn grams(&mut self, index: AttributeId, normal: &[u8], scratch: &mut Vec<u8>) {
        if !self.gathering.grams.push_value(index, normal, self.place) {
            each_gram(normal, |gram| {
                key::posting(scratch, index, Kind::Gram, gram);
                self.key(scratch);
            });
        }
    }
}

/// Keys with the places of the entries that have them, ascending; and grams, which are sorted with those of other batches.
#[derive(Default)]
pub(crate) struct Sorted {
    rows: Vec<Row>,
    pub(crate) grams: Vec<Grams>,
    /// For each row its key and the distances to the second and all following places.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(crate) struct Row {
    at: usize,
    key_len: u32,
    list_len: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Sorted {
    /// Adds a row; places ascend, repeated ones are passed over.
    fn push(&mut self, key: &[u8], mut places: impl Iterator<Item = u32>) {
        let Some(first) = places.next() else { return };
        let at = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let list_at = self.bytes.len();
        let mut last = first;
        for place in places.filter(|place| *place > first) {
            if place != last {
                push_number(&mut self.bytes, u64::from(place - last));
                last = place;
            }
        }
        self.rows.push(Row {
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

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(crate) fn key(&self, row: &Row) -> &[u8] {
        let end = row.at + row.key_len as usize;
        self.bytes.get(row.at..end).unwrap_or_default()
    }

    pub(crate) fn list(&self, row: &Row) -> &[u8] {
        let start = row.at + row.key_len as usize;
        let end = start + row.list_len as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Memory in use, with that of the places in which rows are sorted together with others.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.rows.len() * (size_of::<Row>() + super::postings::PLACE_LEN);
        let grams = self.grams.iter().map(|(_, list)| list.len() * GRAM_LEN);
        self.bytes.len() + rows + grams.sum::<usize>()
    }
}
