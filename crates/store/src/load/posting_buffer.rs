//! Postings on their way into the index tree.
//!
//! ```text
//! batches, each sorted:  rows, ids from a base on  --|-> rows of all batches, by attribute and kind -> sorted -> rows
//! single entries:        collected, then sorted too -|-> grams, by attribute -> sorted by digits -> grams of one code
//! ```
//!
//! Nothing is looked up on the way: equal keys of different batches meet when all of them are
//! sorted.

use std::collections::BTreeMap;

use super::error::Failure;
use super::external_sort::{Buffer, RowSink};
use super::key_collector::{EntryKeys, KeyCollector, ROW_POSITION_LEN, SortedKeys, SortedRow};
use super::posting_chunks::{SegmentIds, push_number};
use crate::error::Damage;
use crate::ids::{AttributeId, EntryId};
use crate::index::gram_lists as grams;
use crate::index::{KeySink, gram, key};

const _: () = assert!(size_of::<RowPosition>() == ROW_POSITION_LEN);
/// Bytes of keys of single entries at which they are sorted.
const GATHERED_MAX: usize = 16 << 20;

/// The position of a row, with the first bytes of its key. Most comparisons of a sort need no more
/// of the key.
struct RowPosition {
    prefix: u128,
    batch: u32,
    row: u32,
}

/// The postings of one kind of index of one attribute.
#[derive(Default)]
pub(crate) struct KindPostings {
    rows: Vec<RowPosition>,
    attribute: Option<AttributeId>,
    /// Grams with the first ids of their batches.
    grams: Vec<(EntryId, Vec<u64>)>,
}

/// The ids of a posting.
pub(crate) enum PostingIds<'a> {
    /// Segments, one behind the other. The ids ascend unless runs of a mixed load are merged.
    Segments(&'a [u8]),
    /// Grams with ids, ascending.
    Grams(&'a [u64]),
}

impl PostingIds<'_> {
    /// Appends the ids as segments.
    fn push_segments(&self, out: &mut Vec<u8>) {
        match self {
            PostingIds::Segments(segments) => out.extend_from_slice(segments),
            PostingIds::Grams(grams) => {
                let mut ids = grams::ids(grams);
                let Some(first) = ids.next() else { return };
                let (mut list, mut last) = (Vec::new(), first);
                for id in ids {
                    push_number(&mut list, id.0 - last.0);
                    last = id;
                }
                push_number(out, first.0);
                push_number(out, list.len() as u64);
                out.extend_from_slice(&list);
            }
        }
    }
}

/// Receives postings in the order of their keys.
pub(crate) type PostingSink<'a> = dyn FnMut(&[u8], PostingIds<'_>) -> Result<(), Failure> + 'a;

/// The postings of entries with known ids.
#[derive(Default)]
pub(crate) struct PostingBuffer {
    batches: Vec<(EntryId, SortedKeys)>,
    /// Grams, moved out of the batches.
    grams: BTreeMap<AttributeId, Vec<(EntryId, Vec<u64>)>>,
    bytes: usize,
    /// Keys of single entries, with positions from `single_base` on.
    single: KeyCollector,
    single_base: EntryId,
}

impl PostingBuffer {
    /// Adds the postings of a batch whose position 0 has the id `base`, and the others the
    /// following ids.
    pub(crate) fn add(&mut self, base: EntryId, mut sorted: SortedKeys) {
        if !sorted.is_empty() {
            self.bytes += sorted.bytes();
            for (attribute, grams) in std::mem::take(&mut sorted.grams) {
                self.grams.entry(attribute).or_default().push((base, grams));
            }
            self.batches.push((base, sorted));
        }
    }

    /// Adds the postings of a batch whose positions have the given ids; `None` for none.
    pub(crate) fn add_by_ids(&mut self, sorted: &SortedKeys, ids: &[Option<EntryId>]) {
        for row in sorted.rows() {
            let mut segment = Vec::new();
            push_segment(&mut segment, EntryId(0), sorted, row);
            for position in SegmentIds::new(&segment).flatten() {
                let id = usize::try_from(position.0).ok().and_then(|at| ids.get(at));
                if let Some(Some(id)) = id {
                    self.entry(*id).key(sorted.key(row));
                }
            }
        }
        for (attribute, list) in &sorted.grams {
            for (code, position) in list.iter().map(|gram| grams::parts(*gram)) {
                if let Some(Some(id)) = ids.get(position as usize) {
                    let position = self.single_position(*id);
                    self.single.push_gram(*attribute, code, position);
                }
            }
        }
    }

    /// Returns the sink for the keys of an entry.
    pub(crate) fn entry(&mut self, id: EntryId) -> EntryKeys<'_> {
        let position = self.single_position(id);
        self.single.at(position)
    }

    /// Returns the position of an entry among single ones.
    fn single_position(&mut self, id: EntryId) -> u32 {
        let room = |base: EntryId| KeyCollector::position_of(id.0.checked_sub(base.0)?);
        match room(self.single_base) {
            Some(position) if !self.single.is_empty() => position,
            _ => {
                self.close();
                self.single_base = id;
                0
            }
        }
    }

    fn close(&mut self) {
        if !self.single.is_empty() {
            let sorted = self.single.take_sorted();
            self.add(self.single_base, sorted);
        }
    }

    /// Returns the postings of all batches by attribute and kind, in the order of the tree. They
    /// are not sorted yet.
    pub(crate) fn kinds(&mut self) -> Vec<KindPostings> {
        self.close();
        // Ids ascend then, unless batches are mixed.
        self.batches.sort_by_key(|(base, _)| *base);
        let mut kinds: BTreeMap<[u8; 3], KindPostings> = BTreeMap::new();
        for (batch, (_, sorted)) in (0..).zip(&self.batches) {
            let mut rest = (0..).zip(sorted.rows()).peekable();
            while let Some((_, first)) = rest.peek() {
                let kind = key::kind_prefix(sorted.key(first));
                let same = |(_, row): &(u32, &SortedRow)| key::kind_prefix(sorted.key(row)) == kind;
                let rows = std::iter::from_fn(|| rest.next_if(same));
                let positions = rows.map(|(row, held)| RowPosition {
                    prefix: key::prefix(sorted.key(held)),
                    batch,
                    row,
                });
                kinds.entry(kind).or_default().rows.extend(positions);
            }
        }
        for (attribute, mut grams) in std::mem::take(&mut self.grams) {
            grams.sort_by_key(|(base, _)| *base);
            let kind = kinds.entry(gram::kind_prefix(attribute)).or_default();
            (kind.attribute, kind.grams) = (Some(attribute), grams);
        }
        kinds.into_values().collect()
    }

    /// Passes the postings of one kind to `sink`, sorted.
    pub(crate) fn drain_kind(
        &self,
        kind: KindPostings,
        sink: &mut PostingSink<'_>,
    ) -> Result<(), Failure> {
        let KindPostings {
            rows: mut positions,
            attribute,
            grams,
        } = kind;
        let grams = grams::sorted(grams);
        let mut grams = grams.chunk_by(|a, b| grams::code_of(*a) == grams::code_of(*b));
        let mut gram_key = Vec::new();
        let mut next_gram = |key: &mut Vec<u8>| {
            let grams = grams.next()?;
            let code = grams::code_of(*grams.first()?);
            gram::of_gram_code(key, attribute?, code);
            Some(grams)
        };
        let mut group = next_gram(&mut gram_key);
        // The sort is fast, as each batch is sorted already.
        positions.sort_by(|a, b| {
            let by_key = || self.key_at(a).cmp(self.key_at(b));
            a.prefix.cmp(&b.prefix).then_with(by_key)
        });
        let mut segments = Vec::new();
        let same = |a: &RowPosition, b: &RowPosition| {
            a.prefix == b.prefix && self.key_at(a) == self.key_at(b)
        };
        for equal in positions.chunk_by(same) {
            segments.clear();
            self.join(equal, &mut segments)?;
            let Some(first) = equal.first() else { continue };
            let key = self.key_at(first);
            // Grams without a code are rows. Their keys differ from those with a code.
            while let Some(grams) = group.filter(|_| gram_key.as_slice() < key) {
                sink(&gram_key, PostingIds::Grams(grams))?;
                group = next_gram(&mut gram_key);
            }
            sink(key, PostingIds::Segments(&segments))?;
        }
        while let Some(grams) = group {
            sink(&gram_key, PostingIds::Grams(grams))?;
            group = next_gram(&mut gram_key);
        }
        Ok(())
    }

    /// Appends the segments of rows with the same key, with ascending ids.
    fn join(&self, equal: &[RowPosition], segments: &mut Vec<u8>) -> Result<(), Damage> {
        let mut last = None;
        let mut ascending = true;
        for (base, sorted, row) in equal.iter().filter_map(|position| self.row_at(position)) {
            ascending &= last.is_none_or(|last| last < base.0 + u64::from(row.first));
            last = Some(base.0 + u64::from(row.last));
            push_segment(segments, base, sorted, row);
        }
        if ascending {
            return Ok(());
        }
        // Entries that waited for their parents have ids between those of a batch.
        let ids: Result<Vec<EntryId>, Damage> = SegmentIds::new(segments).collect();
        let mut ids = ids?;
        ids.sort_unstable();
        ids.dedup();
        segments.clear();
        for id in ids {
            push_number(segments, id.0);
            push_number(segments, 0);
        }
        Ok(())
    }

    fn row_at(&self, position: &RowPosition) -> Option<(EntryId, &SortedKeys, &SortedRow)> {
        let (base, sorted) = self.batches.get(position.batch as usize)?;
        Some((*base, sorted, sorted.rows().get(position.row as usize)?))
    }

    fn key_at(&self, position: &RowPosition) -> &[u8] {
        self.row_at(position)
            .map_or(&[], |(_, sorted, row)| sorted.key(row))
    }
}

impl Buffer for PostingBuffer {
    fn bytes(&self) -> usize {
        self.bytes + self.single.bytes()
    }

    fn spill_if_over_budget(&mut self) {
        if self.single.bytes() > GATHERED_MAX {
            self.close();
        }
    }

    fn drain(&mut self, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        let mut this = std::mem::take(self);
        let kinds = this.kinds();
        let mut segments = Vec::new();
        kinds.into_iter().try_for_each(|kind| {
            this.drain_kind(kind, &mut |key, listed| {
                segments.clear();
                listed.push_segments(&mut segments);
                sink(key, &segments)
            })
        })
    }
}

fn push_segment(out: &mut Vec<u8>, base: EntryId, sorted: &SortedKeys, row: &SortedRow) {
    let list = sorted.list(row);
    push_number(out, base.0 + u64::from(row.first));
    push_number(out, list.len() as u64);
    out.extend_from_slice(list);
}

#[cfg(test)]
mod tests {
    use super::super::external_sort::ExternalSort;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Model = BTreeMap<Vec<u8>, BTreeSet<u64>>;

    fn found(external: ExternalSort<PostingBuffer>) -> Model {
        let mut found = Model::new();
        external
            .finish(&mut |key, value| {
                let ids: Vec<u64> = SegmentIds::new(value).map(|id| id.unwrap().0).collect();
                assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
                assert!(
                    found
                        .last_key_value()
                        .is_none_or(|(last, _)| last.as_slice() < key),
                    "keys ascend"
                );
                found.insert(key.to_vec(), ids.into_iter().collect());
                Ok(())
            })
            .unwrap();
        found
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        let value = prop::collection::vec(prop_oneof![1_u8..4, any::<u8>()], 0..20);
        (0_u8..2, prop_oneof![Just(b's'), Just(b'=')], value)
            .prop_map(|(high, kind, value)| [&[high, 7, kind][..], &value, &[0]].concat())
    }

    proptest! {
        #[test]
        fn postings_come_out_sorted_and_whole(
            pairs in prop::collection::btree_set((0_u64..20_000, key()), 0..300),
            spill in 1_usize..40_000,
        ) {
            let mut external: ExternalSort<PostingBuffer> = ExternalSort::new(&std::env::temp_dir(), spill);
            let mut model = Model::new();
            for (id, key) in pairs {
                external.buffer.entry(EntryId(id)).key(&key);
                external.buffer.entry(EntryId(id)).key(&key);
                external.spill_if_over_budget().unwrap();
                model.entry(key).or_default().insert(id);
            }
            prop_assert_eq!(found(external), model);
        }

        #[test]
        fn postings_of_batches_and_single_entries_are_merged(
            batches in prop::collection::vec(prop::collection::vec((0_u32..50, key()), 0..40), 0..8),
            scattered in 0_usize..8,
        ) {
            let mut external: ExternalSort<PostingBuffer> = ExternalSort::new(&std::env::temp_dir(), 1 << 20);
            let mut model = Model::new();
            for (number, batch) in batches.into_iter().enumerate() {
                let base = EntryId(1 + number as u64 * 100);
                let mut collector = KeyCollector::default();
                for (position, key) in &batch {
                    collector.push(key, *position);
                }
                let sorted = collector.take_sorted();
                // Every third position of a mixed batch has no id; the others leave gaps.
                let ids: Vec<Option<EntryId>> = (0..50)
                    .map(|position| (position % 3 > 0).then_some(EntryId(base.0 + 2 * position)))
                    .collect();
                for (position, key) in batch {
                    let id = match number == scattered {
                        true => ids[position as usize],
                        false => Some(EntryId(base.0 + u64::from(position))),
                    };
                    if let Some(id) = id {
                        model.entry(key).or_default().insert(id.0);
                    }
                }
                match number == scattered {
                    true => external.buffer.add_by_ids(&sorted, &ids),
                    false => external.buffer.add(base, sorted),
                }
            }
            prop_assert_eq!(found(external), model);
        }
    }
}
