//! Grams on their way into the index tree. Most postings of a load are grams, so they are numbers
//! instead of keys.
//!
//! A gram is `code << 40 | id`, so that numbers sort by key and id. In a batch it has the position
//! of an entry instead of the id. Adding the batch's first id makes it an id.

use super::gram::{END, START};
use super::key;
use crate::ids::{AttributeId, EntryId};

/// Ids of a load are below this.
pub(crate) const IDS_MAX: u64 = 1 << CODE_AT;
const CODE_AT: u32 = 40;
/// Number of grams of an attribute beyond which repeated ones are dropped; and then again beyond
/// twice the rest.
const GRAMS_MAX: usize = 1 << 20;

/// The grams of one attribute.
pub(crate) type Grams = (AttributeId, Vec<u64>);

/// Grams by attribute. Those of one code have ascending positions.
#[derive(Debug, Default)]
pub(crate) struct GramLists {
    lists: Vec<GramList>,
}

/// The grams of one attribute, as they are collected.
#[derive(Debug)]
struct GramList {
    attribute: AttributeId,
    grams: Vec<u64>,
    /// Number of grams below which it is too early to drop repeats.
    sort_from: usize,
}

impl GramList {
    fn with_room(attribute: AttributeId, room: usize) -> GramList {
        GramList {
            attribute,
            grams: Vec::with_capacity(room),
            sort_from: GRAMS_MAX,
        }
    }

    /// Drops repeated grams before more memory is allocated. It is rare, so each gram is sorted a
    /// few times at most.
    fn drop_repeats(&mut self) {
        let (len, room) = (self.grams.len(), self.grams.capacity());
        if len >= self.sort_from && room - len < GRAMS_MAX / 16 {
            self.grams.sort_unstable();
            self.grams.dedup();
            self.sort_from = (2 * self.grams.len()).max(GRAMS_MAX);
        }
    }
}

impl GramLists {
    /// Adds a gram of the entry at a position.
    pub(crate) fn push(&mut self, attribute: AttributeId, code: u32, position: u32) {
        self.list(attribute).push(number(code, position));
    }

    /// Adds all grams of a value in normal form. If some of them have no code, it adds nothing and
    /// returns false.
    pub(crate) fn push_value(
        &mut self,
        attribute: AttributeId,
        normal: &[u8],
        position: u32,
    ) -> bool {
        let Some((first, rest)) = normal.split_first() else {
            return false;
        };
        if !key::is_plain(normal) {
            return false;
        }
        let list = self.list(attribute);
        let mut code = u32::from_be_bytes([0, 0, START, *first]);
        // The last gram has two bytes, because a value's last byte begins a gram too.
        let behind = rest.iter().chain(&[END, 0]);
        list.extend(behind.map(|byte| {
            code = (code << 8 | u32::from(*byte)) & 0xff_ffff;
            number(code, position)
        }));
        true
    }

    fn list(&mut self, attribute: AttributeId) -> &mut Vec<u64> {
        let mut lists = self.lists.iter();
        let known = lists.position(|known| known.attribute == attribute);
        let at = known.unwrap_or_else(|| {
            self.lists.push(GramList::with_room(attribute, 0));
            self.lists.len() - 1
        });
        let list = &mut self.lists[at];
        list.drop_repeats();
        &mut list.grams
    }

    /// Returns the number of grams.
    pub(crate) fn len(&self) -> usize {
        self.lists.iter().map(|list| list.grams.len()).sum()
    }

    /// Returns all grams. The empty lists keep memory for as many.
    pub(crate) fn take(&mut self) -> Vec<Grams> {
        let empty = |list: &GramList| GramList::with_room(list.attribute, list.grams.len());
        let next = self.lists.iter().map(empty).collect();
        let lists = std::mem::replace(&mut self.lists, next).into_iter();
        lists.map(|list| (list.attribute, list.grams)).collect()
    }
}

fn number(code: u32, position: u32) -> u64 {
    u64::from(code) << CODE_AT | u64::from(position)
}

/// Returns the code of a gram and the position of its entry in a batch.
pub(crate) fn parts(gram: u64) -> (u32, u32) {
    let position = u32::try_from(gram & (IDS_MAX - 1)).unwrap_or(u32::MAX);
    (code_of(gram), position)
}

/// Returns the code of a gram.
pub(crate) fn code_of(gram: u64) -> u32 {
    u32::try_from(gram >> CODE_AT).unwrap_or(u32::MAX)
}

/// Returns the ids of grams.
pub(crate) fn ids(grams: &[u64]) -> impl Iterator<Item = EntryId> {
    grams.iter().map(|gram| EntryId(gram & (IDS_MAX - 1)))
}

/// Returns the grams of one attribute, from batches with their first ids: with ids, sorted, each
/// once.
pub(crate) fn sorted(batches: Vec<(EntryId, Vec<u64>)>) -> Vec<u64> {
    let count = batches.iter().map(|(_, list)| list.len()).sum();
    let mut grams = if count < FEW {
        let of_batch = |(base, list): &(EntryId, Vec<u64>)| {
            let base = base.0;
            list.iter().map(move |gram| gram + base).collect::<Vec<_>>()
        };
        let mut grams: Vec<u64> = batches.iter().flat_map(of_batch).collect();
        grams.sort_unstable();
        grams
    } else {
        by_digits(batches, count)
    };
    // Ids ascend from batch to batch, except those of entries that were added one by one.
    if !grams.is_sorted() {
        let of_one_code = grams.chunk_by_mut(|a, b| code_of(*a) == code_of(*b));
        of_one_code.for_each(<[u64]>::sort);
    }
    grams.dedup();
    grams
}

/// Number of grams below which comparing is faster than counting digits.
const FEW: usize = 4096;
/// Bits of a digit; a code has two digits.
const DIGIT_BITS: u32 = 12;

/// Sorts by code, digit after digit. Grams of one code keep their order.
fn by_digits(batches: Vec<(EntryId, Vec<u64>)>, count: usize) -> Vec<u64> {
    let low = |gram: u64| (gram >> CODE_AT) as usize & ((1 << DIGIT_BITS) - 1);
    let high = |gram: u64| (gram >> (CODE_AT + DIGIT_BITS)) as usize;
    let mut lows = vec![0; 1 << DIGIT_BITS];
    let mut highs = lows.clone();
    for gram in batches.iter().flat_map(|(_, list)| list) {
        lows[low(*gram)] += 1;
        highs[high(*gram)] += 1;
    }
    for counts in [&mut lows, &mut highs] {
        let mut before = 0;
        for count in counts {
            before += std::mem::replace(count, before);
        }
    }
    let mut by_low = vec![0; count];
    for (base, list) in batches {
        for gram in list {
            let position = &mut lows[low(gram)];
            by_low[*position] = gram + base.0;
            *position += 1;
        }
    }
    let mut by_code = vec![0; count];
    for gram in by_low {
        let position = &mut highs[high(gram)];
        by_code[*position] = gram;
        *position += 1;
    }
    by_code
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn long_lists_are_sorted_now_and_then() {
        let (mut lists, attribute) = (GramLists::default(), AttributeId(7));
        let count = GRAMS_MAX as u32 + 200_000;
        for _ in 0..3 {
            let (mut sorts, mut sort_from) = (0, GRAMS_MAX);
            for number in 0..count {
                // Few of them are repeats.
                let number = number - u32::from(number % 1000 == 1);
                lists.push(attribute, number >> 8, number & 0xff);
                let next = lists.lists[0].sort_from;
                sorts += u32::from(std::mem::replace(&mut sort_from, next) != next);
            }
            assert!(sorts <= 1, "{sorts}");
            let grams = lists.take().remove(0).1;
            assert!(grams.capacity() <= 2 * count as usize);
        }
    }

    proptest! {
        #[test]
        fn grams_come_out_sorted_each_once(
            batches in prop::collection::vec((0..9_u64, prop::collection::vec((2..4098_u32, 0..40_u32), 0..3000)), 0..4),
        ) {
            let mut expected = BTreeSet::new();
            let mut lists = Vec::new();
            for (base, grams) in batches {
                let mut list = Vec::new();
                for (code, position) in grams {
                    // Vary the high digits as well as the low ones.
                    let code = code.wrapping_mul(0x9e_3779) & 0xff_ffff;
                    list.push(number(code, position));
                    expected.insert((code, base * 20 + u64::from(position)));
                }
                lists.push((EntryId(base * 20), list));
            }
            let found = sorted(lists);
            let found: Vec<_> = found.iter().map(|gram| (code_of(*gram), gram & (IDS_MAX - 1))).collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn values_have_the_grams_of_the_index(value in prop::collection::vec(0_u8..6, 0..6)) {
            let mut lists = GramLists::default();
            let attribute = AttributeId(7);
            let mut expected = Vec::new();
            crate::index::gram::each_gram(&value, |gram| expected.push(crate::index::gram::gram_code(gram)));
            let all: Option<Vec<u32>> = expected.into_iter().collect();
            if lists.push_value(attribute, &value, 3) {
                let found = lists.take().remove(0).1;
                let codes: Vec<u32> = found.iter().map(|gram| parts(*gram).0).collect();
                prop_assert!(found.iter().all(|gram| parts(*gram).1 == 3));
                prop_assert_eq!(Some(codes), all);
            } else {
                prop_assert!(value.is_empty() || all.is_none());
            }
        }
    }
}
