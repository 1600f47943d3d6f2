//! Postings of new entries that an open write transaction has not written yet.
//!
//! ```text
//!   keys    in one buffer, with their chunks and positions -> sorted -> one edit for each chunk
//!   grams   numbers of code and position                   -> sorted -> one edit for each chunk
//! ```
//!
//! A new entry has a hundred keys. Listing and sorting them costs less than looking each of them up
//! among those of other entries.

use std::cmp::Ordering;

use super::chunk_key;
use super::entry_keys::KeyMaker;
use super::gram;
use super::gram_lists::{self as grams, GramLists};
use super::key;
use super::kinds::KeySink;
use super::source::ValueSource;
use crate::error::StoreError;
use crate::ids::{AttributeId, EntryId};
use crate::idset;

/// Bytes of memory for a gram: itself, and two copies to sort them.
const GRAM_BYTES: usize = 24;

/// Receives the changes of chunks.
pub(super) type ChunkSink<'a> = dyn FnMut(&[u8], &[(u16, bool)]) -> Result<(), StoreError> + 'a;

/// Postings of new entries.
#[derive(Debug, Default)]
pub(super) struct AddedPostings {
    /// The entry at position 0.
    base: EntryId,
    keys: Vec<u8>,
    items: Vec<AddedKey>,
    /// The number of items that are sorted runs.
    sorted: usize,
    grams: GramLists,
}

/// The key of a chunk, and the entry in it.
#[derive(Clone, Copy, Debug)]
struct AddedKey {
    /// The first bytes of the key. Most comparisons need no more.
    prefix: u128,
    at: u32,
    len: u16,
    low: u16,
}

impl AddedKey {
    fn of<'k>(&self, keys: &'k [u8]) -> &'k [u8] {
        let at = self.at as usize;
        keys.get(at..at + usize::from(self.len)).unwrap_or_default()
    }

    /// Compares two keys.
    fn order(&self, other: &AddedKey, keys: &[u8]) -> Ordering {
        let by_key = || self.of(keys).cmp(other.of(keys));
        self.prefix.cmp(&other.prefix).then_with(by_key)
    }
}

impl AddedPostings {
    /// Lists the keys of a new entry. Returns false, and lists none, if its id is too far from the
    /// others. `scratch` is room for one key.
    pub(super) fn list(
        &mut self,
        keys: KeyMaker<'_>,
        id: EntryId,
        entry: &dyn ValueSource,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let Some(mut sink) = self.entry(id) else {
            return false;
        };
        sink.key(&key::all_entries());
        keys.emit(entry, &|_| true, scratch, &mut sink);
        true
    }

    /// Returns the sink for the keys of a new entry; `None` if its id is too far from the others.
    fn entry(&mut self, id: EntryId) -> Option<AddedEntry<'_>> {
        if self.is_empty() {
            self.base = id;
        }
        let position = position(self.base, id)?;
        Some(AddedEntry {
            postings: self,
            id,
            position,
        })
    }

    /// Returns the entry at position 0.
    pub(super) fn base(&self) -> EntryId {
        self.base
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the memory in use and for sorting, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + self.items.len() * size_of::<AddedKey>() + self.grams.len() * GRAM_BYTES
    }

    /// Sorts the keys that have come since the last call. Then [`Self::take_sorted`] only merges.
    pub(super) fn sort_run(&mut self) {
        let AddedPostings { keys, items, .. } = self;
        let run = items.get_mut(self.sorted..).unwrap_or_default();
        run.sort_unstable_by(|a, b| a.order(b, keys).then(a.low.cmp(&b.low)));
        self.sorted = self.items.len();
    }

    /// Returns all postings, sorted.
    pub(super) fn take_sorted(&mut self) -> SortedPostings {
        let keys = std::mem::take(&mut self.keys);
        let mut items = std::mem::take(&mut self.items);
        let order = |a: &AddedKey, b: &AddedKey| a.order(b, &keys).then(a.low.cmp(&b.low));
        match std::mem::take(&mut self.sorted) {
            0 => items.sort_unstable_by(order),
            // The stable sort merges what is sorted.
            _ => items.sort_by(order),
        }
        let grams = self.grams.take().into_iter();
        let grams = grams.map(|(attribute, list)| {
            let sorted = grams::sorted(vec![(self.base, list)]);
            (attribute, sorted)
        });
        SortedPostings {
            keys,
            items,
            grams: grams.collect(),
        }
    }
}

/// Postings of new entries, sorted.
#[derive(Debug)]
pub(super) struct SortedPostings {
    keys: Vec<u8>,
    items: Vec<AddedKey>,
    grams: Vec<grams::Grams>,
}

impl SortedPostings {
    /// Passes the changes of each chunk to `sink`. All are insertions.
    pub(super) fn each_chunk(&self, sink: &mut ChunkSink<'_>) -> Result<(), StoreError> {
        let keys = &self.keys;
        let mut changes = Vec::new();
        for equal in self.items.chunk_by(|a, b| a.order(b, keys).is_eq()) {
            let Some(first) = equal.first() else { continue };
            changes.clear();
            changes.extend(equal.iter().map(|item| (item.low, true)));
            // An entry's superior classes come once for each class that has them.
            changes.dedup();
            sink(first.of(keys), &changes)?;
        }
        let mut key = Vec::new();
        let mut chunk_of_gram = Vec::new();
        for (attribute, list) in &self.grams {
            let chunk = |gram: &u64| {
                let id = EntryId(gram & (grams::IDS_MAX - 1));
                (grams::code_of(*gram), idset::split(id).0)
            };
            for equal in list.chunk_by(|a, b| chunk(a) == chunk(b)) {
                let Some((code, number)) = equal.first().map(chunk) else {
                    continue;
                };
                changes.clear();
                changes.extend(grams::ids(equal).map(|id| (idset::split(id).1, true)));
                gram::of_gram_code(&mut key, *attribute, code);
                chunk_key::write_chunk(&mut chunk_of_gram, &key, number);
                sink(&chunk_of_gram, &changes)?;
            }
        }
        Ok(())
    }
}

/// Returns the position of an entry behind the first one; `None` if its id is too far from that.
pub(super) fn position(base: EntryId, id: EntryId) -> Option<u32> {
    let position = id.0.checked_sub(base.0)?;
    let position = u32::try_from(position).ok()?;
    (id.0 < grams::IDS_MAX).then_some(position)
}

/// Takes the keys of one new entry.
struct AddedEntry<'p> {
    postings: &'p mut AddedPostings,
    id: EntryId,
    position: u32,
}

impl KeySink for AddedEntry<'_> {
    fn key(&mut self, posting: &[u8]) {
        let AddedPostings { keys, items, .. } = &mut *self.postings;
        let (chunk, low) = idset::split(self.id);
        let at = keys.len();
        keys.extend_from_slice(posting);
        chunk_key::push_chunk(keys, chunk);
        let key = keys.get(at..).unwrap_or_default();
        items.push(AddedKey {
            prefix: key::prefix(key),
            at: u32::try_from(at).unwrap_or(0),
            len: u16::try_from(key.len()).unwrap_or(0),
            low,
        });
    }

    fn grams(&mut self, attribute: AttributeId, normal: &[u8], scratch: &mut Vec<u8>) {
        let grams = &mut self.postings.grams;
        if !grams.push_value(attribute, normal, self.position) {
            gram::each_gram(normal, |one| {
                key::posting(scratch, attribute, gram::CODE, one);
                self.key(scratch);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    const A: AttributeId = AttributeId(7);

    proptest! {
        #[test]
        fn postings_come_out_by_chunk_each_once(
            entries in prop::collection::vec(
                (1_u64..3000, prop::collection::vec(prop::collection::vec(0_u8..5, 0..6), 0..4)),
                0..60,
            ),
            has_runs: bool,
        ) {
            let mut added = AddedPostings::default();
            let mut expected: BTreeMap<Vec<u8>, BTreeSet<u16>> = BTreeMap::new();
            let mut id = EntryId(8000);
            let (mut scratch, mut listed) = (Vec::new(), Vec::new());
            for (step, values) in entries {
                id = EntryId(id.0 + step);
                let mut entry = added.entry(id).expect("ids ascend");
                let mut expect = |posting: &[u8]| {
                    let (chunk, low) = idset::split(id);
                    let key = chunk_key::of_chunk(posting, chunk);
                    expected.entry(key).or_default().insert(low);
                };
                entry.key(&key::all_entries());
                expect(&key::all_entries());
                for value in values {
                    entry.grams(A, &value, &mut scratch);
                    gram::each_gram(&value, |one| {
                        key::posting(&mut listed, A, gram::CODE, one);
                        expect(&listed);
                    });
                    key::posting(&mut listed, A, b'=', &value);
                    entry.key(&listed);
                    expect(&listed);
                }
                if has_runs && id.0.is_multiple_of(3) {
                    added.sort_run();
                }
            }
            let mut found: BTreeMap<Vec<u8>, BTreeSet<u16>> = BTreeMap::new();
            let drained = added.take_sorted().each_chunk(&mut |key, changes| {
                assert!(changes.is_sorted_by(|a, b| a.0 < b.0), "positions ascend");
                assert!(changes.iter().all(|(_, present)| *present));
                let lows = changes.iter().map(|(low, _)| *low);
                found.entry(key.to_vec()).or_default().extend(lows);
                Ok(())
            });
            prop_assert!(drained.is_ok());
            prop_assert_eq!(found, expected);
            prop_assert!(added.is_empty());
        }
    }
}
