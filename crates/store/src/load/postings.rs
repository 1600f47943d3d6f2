//! Postings on their way into the index tree.
//!
//! ```text
//! batches, each sorted:  rows, ids from a base on     --|
//! single entries:        gathered, then sorted likewise --> places of all rows, by attribute and kind -> sorted -> rows
//! ```
//!
//! Nothing is looked up on the way: equal keys of different batches meet when all of them are sorted.

use std::collections::BTreeMap;

use super::Failure;
use super::chunks::{Ids, push_number};
use super::external::{Buffer, RowSink};
use super::gather::{Gathering, Row, Sorted};
use crate::error::Damage;
use crate::ids::EntryId;
use crate::index::key;

/// What each row costs when it is sorted together with others.
pub(crate) const PLACE_LEN: usize = size_of::<Place>();
/// Memory at which what single entries have gathered is sorted.
const GATHERED_MAX: usize = 16 << 20;

/// Where a row is, with the first octets of its key: most comparisons of a sort need not look at the key.
struct Place {
    prefix: u128,
    batch: u32,
    row: u32,
}

/// The rows of one kind of index of one attribute.
pub(crate) struct Head(Vec<Place>);

/// Postings of entries whose ids are known.
#[derive(Default)]
pub(crate) struct PostingBuffer {
    batches: Vec<(EntryId, Sorted)>,
    bytes: usize,
    /// Of single entries, with places from `single_base` on.
    single: Gathering,
    single_base: EntryId,
}

impl PostingBuffer {
    /// Adds the postings of a batch, the place 0 of which got the id `base`, and the others the ids behind it.
    pub(crate) fn add(&mut self, base: EntryId, sorted: Sorted) {
        if !sorted.rows().is_empty() {
            self.bytes += sorted.bytes();
            self.batches.push((base, sorted));
        }
    }

    /// Adds the postings of a batch the places of which got just any ids; `None` for none.
    pub(crate) fn scatter(&mut self, sorted: &Sorted, ids: &[Option<EntryId>]) {
        for row in sorted.rows() {
            let mut segment = Vec::new();
            push_segment(&mut segment, EntryId(0), sorted, row);
            for place in Ids::new(&segment).flatten() {
                let id = usize::try_from(place.0).ok().and_then(|at| ids.get(at));
                if let Some(Some(id)) = id {
                    self.push(sorted.key(row), *id);
                }
            }
        }
    }

    /// Adds an id to the posting of `key`.
    pub(crate) fn push(&mut self, key: &[u8], id: EntryId) {
        let room = |base: EntryId| Gathering::has_room(id.0.checked_sub(base.0)?);
        let place = match room(self.single_base) {
            Some(place) if !self.single.is_empty() => place,
            _ => {
                self.close();
                self.single_base = id;
                0
            }
        };
        self.single.push(key, place);
    }

    fn close(&mut self) {
        if !self.single.is_empty() {
            let sorted = self.single.take_sorted();
            self.add(self.single_base, sorted);
        }
    }

    /// The rows of all batches by attribute and kind, in the order of the tree. Each head is to be sorted.
    pub(crate) fn heads(&mut self) -> Vec<Head> {
        self.close();
        let mut heads: BTreeMap<[u8; 3], Vec<Place>> = BTreeMap::new();
        for (batch, (_, sorted)) in (0..).zip(&self.batches) {
            let mut rest = (0..).zip(sorted.rows()).peekable();
            while let Some((_, first)) = rest.peek() {
                let head = key::head_of(sorted.key(first));
                let same = |(_, row): &(u32, &Row)| key::head_of(sorted.key(row)) == head;
                let rows = std::iter::from_fn(|| rest.next_if(same));
                let places = rows.map(|(row, held)| Place {
                    prefix: key::prefix(sorted.key(held)),
                    batch,
                    row,
                });
                heads.entry(head).or_default().extend(places);
            }
        }
        heads.into_values().map(Head).collect()
    }

    /// Gives the rows of one head to `sink`, sorted.
    pub(crate) fn drain_head(&self, head: Head, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        let Head(mut places) = head;
        // Batches are sorted already, which this sort makes use of.
        places.sort_by(|a, b| {
            let by_key = || self.key_at(a).cmp(self.key_at(b));
            a.prefix.cmp(&b.prefix).then_with(by_key)
        });
        let mut segments = Vec::new();
        let same = |a: &Place, b: &Place| a.prefix == b.prefix && self.key_at(a) == self.key_at(b);
        for equal in places.chunk_by(same) {
            segments.clear();
            self.join(equal, &mut segments)?;
            if let Some(first) = equal.first() {
                sink(self.key_at(first), &segments)?;
            }
        }
        Ok(())
    }

    /// Appends the segments of rows with the same key, so that ids ascend.
    fn join(&self, equal: &[Place], segments: &mut Vec<u8>) -> Result<(), Damage> {
        let mut last = None;
        let mut ascending = true;
        for (base, sorted, row) in equal.iter().filter_map(|place| self.row_at(place)) {
            ascending &= last.is_none_or(|last| last < base.0 + u64::from(row.first));
            last = Some(base.0 + u64::from(row.last));
            push_segment(segments, base, sorted, row);
        }
        if ascending {
            return Ok(());
        }
        // Entries that waited for their parents have got ids between those of a batch.
        let ids: Result<Vec<EntryId>, Damage> = Ids::new(segments).collect();
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

    fn row_at(&self, place: &Place) -> Option<(EntryId, &Sorted, &Row)> {
        let (base, sorted) = self.batches.get(place.batch as usize)?;
        Some((*base, sorted, sorted.rows().get(place.row as usize)?))
    }

    fn key_at(&self, place: &Place) -> &[u8] {
        self.row_at(place)
            .map_or(&[], |(_, sorted, row)| sorted.key(row))
    }
}

impl Buffer for PostingBuffer {
    fn bytes(&self) -> usize {
        self.bytes + self.single.bytes()
    }

    fn relieve(&mut self) {
        if self.single.bytes() > GATHERED_MAX {
            self.close();
        }
    }

    fn drain(&mut self, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        let mut this = std::mem::take(self);
        let heads = this.heads();
        heads
            .into_iter()
            .try_for_each(|head| this.drain_head(head, sink))
    }
}

fn push_segment(out: &mut Vec<u8>, base: EntryId, sorted: &Sorted, row: &Row) {
    let list = sorted.list(row);
    push_number(out, base.0 + u64::from(row.first));
    push_number(out, list.len() as u64);
    out.extend_from_slice(list);
}

#[cfg(test)]
mod tests {
    use super::super::external::External;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Model = BTreeMap<Vec<u8>, BTreeSet<u64>>;

    fn found(external: External<PostingBuffer>) -> Model {
        let mut found = Model::new();
        external
            .finish(&mut |key, value| {
                let ids: Vec<u64> = Ids::new(value).map(|id| id.unwrap().0).collect();
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
            let mut external: External<PostingBuffer> = External::new(&std::env::temp_dir(), spill);
            let mut model = Model::new();
            for (id, key) in pairs {
                external.buffer.push(&key, EntryId(id));
                external.buffer.push(&key, EntryId(id));
                external.relieve().unwrap();
                model.entry(key).or_default().insert(id);
            }
            prop_assert_eq!(found(external), model);
        }

        #[test]
        fn batches_and_single_entries_meet(
            batches in prop::collection::vec(prop::collection::vec((0_u32..50, key()), 0..40), 0..8),
            scattered in 0_usize..8,
        ) {
            let mut external: External<PostingBuffer> = External::new(&std::env::temp_dir(), 1 << 20);
            let mut model = Model::new();
            for (number, batch) in batches.into_iter().enumerate() {
                let base = EntryId(1 + number as u64 * 100);
                let mut gathering = Gathering::default();
                for (place, key) in &batch {
                    gathering.push(key, *place);
                }
                let sorted = gathering.take_sorted();
                // Every third place of a scattered batch gets no id; the others leave gaps.
                let ids: Vec<Option<EntryId>> = (0..50)
                    .map(|place| (place % 3 > 0).then_some(EntryId(base.0 + 2 * place)))
                    .collect();
                for (place, key) in batch {
                    let id = match number == scattered {
                        true => ids[place as usize],
                        false => Some(EntryId(base.0 + u64::from(place))),
                    };
                    if let Some(id) = id {
                        model.entry(key).or_default().insert(id.0);
                    }
                }
                match number == scattered {
                    true => external.buffer.scatter(&sorted, &ids),
                    false => external.buffer.add(base, sorted),
                }
            }
            prop_assert_eq!(found(external), model);
        }
    }
}
