//! Postings of new entries that an open write transaction has not written yet.
//!
//! ```text
//!   keys    in one buffer, with their chunks and positions -> sorted -> one edit for each chunk
//!   grams   numbers of code and position                   -> sorted -> one edit for each chunk
//! ```
//!
//! A new entry has a hundred keys. Listing and sorting them costs less than looking each of them up
//! among those of other entries.

use super::chunk_key;
use super::gram;
use super::gram_lists::{self as grams, GramLists};
use super::key;
use super::kinds::KeySink;
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
}

impl AddedPostings {
    /// Returns the sink for the keys of a new entry; `None` if its id is too far from the others.
    pub(super) fn entry(&mut self, id: EntryId) -> Option<AddedEntry<'_>> {
        if self.is_empty() {
            self.base = id;
        }
        let position = id.0.checked_sub(self.base.0)?;
        let position = u32::try_from(position).ok()?;
        (id.0 < grams::IDS_MAX).then_some(AddedEntry {
            postings: self,
            id,
            position,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the memory in use and for sorting, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + self.items.len() * size_of::<AddedKey>() + self.grams.len() * GRAM_BYTES
    }

    /// Passes the changes of each chunk to `sink`. All are insertions.
    pub(super) fn drain(&mut self, sink: &mut ChunkSink<'_>) -> Result<(), StoreError> {
        let (keys, mut items) = (
            std::mem::take(&mut self.keys),
            std::mem::take(&mut self.items),
        );
        let order = |a: &AddedKey, b: &AddedKey| {
            let by_key = || a.of(&keys).cmp(b.of(&keys));
            a.prefix.cmp(&b.prefix).then_with(by_key)
        };
        items.sort_unstable_by(|a, b| order(a, b).then(a.low.cmp(&b.low)));
        let mut changes = Vec::new();
        for equal in items.chunk_by(|a, b| order(a, b).is_eq()) {
            let Some(first) = equal.first() else { continue };
            changes.clear();
            changes.extend(equal.iter().map(|item| (item.low, true)));
            // An entry's superior classes come once for each class that has them.
            changes.dedup();
            sink(first.of(&keys), &changes)?;
        }
        let mut key = Vec::new();
        let mut chunk_of_gram = Vec::new();
        for (attribute, list) in std::mem::take(&mut self.grams).take() {
            let list = grams::sorted(vec![(self.base, list)]);
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
                gram::of_gram_code(&mut key, attribute, code);
                chunk_key::write_chunk(&mut chunk_of_gram, &key, number);
                sink(&chunk_of_gram, &changes)?;
            }
        }
        Ok(())
    }
}

/// Takes the keys of one new entry.
pub(super) struct AddedEntry<'p> {
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
            }
            let mut found: BTreeMap<Vec<u8>, BTreeSet<u16>> = BTreeMap::new();
            let drained = added.drain(&mut |key, changes| {
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
