//! The ids that several postings have in common: the rarest is read, the others are asked.
//!
//! ```text
//!   keys --some--> measured --the rarest--> ids --the others--> fewer ids
//!                                                                   |
//!                         the rest, one by one, while they remove enough
//! ```
//!
//! To test a few candidates costs less than to look up one more posting. So most grams of a long
//! piece are never looked up.

use super::builder::Builder;
use super::intersection::{TESTED_SOONER, intersection};
use super::term::Term;
use super::term_plan::TermPlan;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::index::{self, KeyList, MeasuredPosting};
use fulgurite::Snapshot;

/// Postings measured at most for one item.
const MEASURED_MAX: usize = 12;

/// Distance between the keys that are measured first. Grams at this distance share no byte. With
/// the last one they cover the whole piece.
const FIRST_STEP: usize = 3;

/// Candidates whose test costs more than to look up one more posting in vain.
const CANDIDATES_PER_POSTING: usize = 8;

/// Number of ids up to which the rarest posting is read at once.
const READ_MAX: u64 = 4_096;

/// Postings at most in an intersection that is read later, chunk by chunk.
const READ_LATER_MAX: usize = 3;

impl<T: Snapshot> Builder<'_, '_, T> {
    /// Plans the entries in the postings of all keys. The plan is never exact, as it skips postings
    /// that remove few candidates.
    pub(super) fn common(&self, keys: &KeyList) -> Result<TermPlan, StoreError> {
        debug_assert!(!keys.is_empty(), "an item without keys has another plan");
        let mut cursor = self.view.txn.cursor(self.view.store.dbs.index)?;
        let first = 1 + keys.len().saturating_sub(1).div_ceil(FIRST_STEP);
        let positions = in_order(keys.len()).take(MEASURED_MAX);
        let mut keys = positions.filter_map(|position| keys.get(position));
        let mut measured: Vec<MeasuredPosting<'_, '_>> = Vec::new();
        for key in keys.by_ref() {
            let posting = index::measure(&mut cursor, key)?;
            if posting.len() <= TESTED_SOONER as u64 {
                return Ok(listed(posting.ids()?));
            }
            measured.push(posting);
            if measured.len() >= first && measured.iter().any(is_readable) {
                break;
            }
        }
        debug_assert!(measured.len() <= MEASURED_MAX, "few postings are measured");
        measured.sort_by_key(MeasuredPosting::len);
        let (rarest, others) = match measured.as_slice() {
            [rarest, others @ ..] if is_readable(rarest) => (rarest, others),
            _ => return Ok(self.read_later(measured)),
        };
        let mut ids = rarest.ids_in(others)?;
        let mut in_vain = 0;
        while ids.len() > TESTED_SOONER.max(in_vain * CANDIDATES_PER_POSTING)
            && let Some(key) = keys.next()
        {
            let before = ids.len();
            index::measure(&mut cursor, key)?.retain(&mut ids);
            debug_assert!(ids.len() <= before, "a posting only removes ids");
            in_vain = match before - ids.len() {
                0..=TESTED_SOONER => in_vain + 1,
                _ => 0,
            };
        }
        Ok(listed(ids))
    }

    /// Plans an intersection of the rarest of many large postings.
    fn read_later(&self, mut measured: Vec<MeasuredPosting<'_, '_>>) -> TermPlan {
        debug_assert!(
            measured.is_sorted_by_key(MeasuredPosting::len),
            "the rarest is first"
        );
        measured.truncate(READ_LATER_MAX);
        let terms = measured.into_iter().map(|posting| TermPlan {
            exact: false,
            count_max: posting.len().min(self.total),
            term: posting.into(),
        });
        intersection(terms.collect(), self.total)
    }
}

/// Returns the positions of keys in the order in which they are measured.
fn in_order(len: usize) -> impl Iterator<Item = usize> {
    let every = move |start| (start..len).step_by(FIRST_STEP);
    let last = len.checked_sub(1);
    // The last key may be among the first ones.
    let covering = last.filter(|last| !last.is_multiple_of(FIRST_STEP));
    let rest = (1..FIRST_STEP).flat_map(every);
    let rest = rest.filter(move |position| Some(*position) != last);
    every(0).chain(covering).chain(rest)
}

fn is_readable(posting: &MeasuredPosting<'_, '_>) -> bool {
    posting.len() <= READ_MAX
}

fn listed(ids: Vec<EntryId>) -> TermPlan {
    debug_assert!(ids.is_sorted(), "ids ascend");
    if ids.is_empty() {
        return TermPlan::nothing();
    }
    TermPlan {
        exact: false,
        count_max: ids.len() as u64,
        term: Term::Ids(ids),
    }
}

impl From<MeasuredPosting<'_, '_>> for Term {
    fn from(posting: MeasuredPosting<'_, '_>) -> Term {
        let (first, last) = posting.ends();
        debug_assert!(last.is_none_or(|last| first <= last), "chunks ascend");
        Term::Posting {
            key: posting.key().to_vec(),
            first,
            last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidates::Candidates;
    use super::super::scope::ScopeTest;
    use super::super::search_scope::Scope;
    use super::*;
    use crate::ids::AttributeId;
    use crate::index::{PendingPostings, key};
    use crate::testing::*;
    use crate::view::View;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Ids = BTreeSet<u64>;

    /// Ids as arrays, runs and bitmaps, in few chunks or in more than a measure visits. One in six
    /// is too large to be read at once.
    fn ids() -> impl Strategy<Value = Ids> {
        let lump = (0_u64..12, 0_u64..8192, 0_u64..60, 1_u64..900);
        let lumps = prop::collection::vec(lump, 1..6).prop_map(|lumps| {
            let lump = |(chunk, from, len, step)| {
                (0..len).map(move |n| chunk * 8192 + 1 + from + n * step)
            };
            lumps.into_iter().flat_map(lump).collect()
        });
        let many = (0_u64..3, READ_MAX - 2..READ_MAX + 2000, 1_u64..4);
        prop_oneof![
            4 => lumps,
            1 => (0_u64..3, 200_u64..300).prop_map(|(from, len)| {
                (0..len).map(|chunk| chunk * 8192 + 1 + from).collect()
            }),
            1 => many.prop_map(|(from, len, step)| (0..len).map(|n| 1 + from + n * step).collect()),
        ]
    }

    fn posting(number: usize) -> Vec<u8> {
        let mut out = Vec::new();
        key::posting(&mut out, AttributeId(1), b's', value(number));
        out
    }

    /// Each value is a prefix of the next one, so the test finds chunks of a wrong posting.
    fn value(number: usize) -> &'static [u8] {
        &b"aaaaaaaaaaaaaaaa"[..=number]
    }

    fn store_with(postings: &[Ids]) -> TestStore {
        let store = create();
        let mut pending = PendingPostings::default();
        for id in postings.iter().flatten() {
            pending.change(&key::all_entries(), EntryId(*id), true);
        }
        for (number, ids) in postings.iter().enumerate() {
            ids.iter()
                .for_each(|id| pending.change(&posting(number), EntryId(*id), true));
        }
        let mut writer = store.write().unwrap();
        pending
            .flush(&mut writer.view.txn, store.dbs.index)
            .unwrap();
        writer.commit().unwrap();
        store
    }

    /// Plans the intersection of some of the postings.
    fn plan(view: &View<'_>, numbers: impl IntoIterator<Item = usize>) -> (Ids, u64) {
        let mut keys = KeyList::with_capacity(8, 64);
        for number in numbers {
            keys.push(AttributeId(1), b's', value(number));
        }
        let planned = Builder::new(view, 1 << 30).common(&keys).unwrap();
        assert!(!planned.exact || planned.count_max == 0, "{planned:?}");
        let count_max = planned.count_max;
        let within = (EntryId(1), Scope::Subtree);
        let mut candidates = Candidates::new(planned, ScopeTest::None, within);
        let mut found = Ids::new();
        while let Some(id) = candidates.next(view).unwrap() {
            found.insert(id.0);
        }
        (found, count_max)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn no_common_id_is_missed(
            postings in prop::collection::vec(ids(), 1..9),
            common in ids(),
            order in any::<u64>(),
        ) {
            let mut postings = postings;
            // Independent sets hardly ever have ids in common.
            if order % 4 != 0 {
                postings.iter_mut().for_each(|ids| ids.extend(&common));
            }
            let store = store_with(&postings);
            let view = store.snapshot().unwrap();
            let mut numbers: Vec<_> = (0..postings.len()).collect();
            let turn = usize::try_from(order % 8).unwrap() % numbers.len();
            numbers.rotate_left(turn);
            let (found, count_max) = plan(&view, numbers);
            let truth = postings.iter().fold(postings[0].clone(), |a, b| &a & b);
            prop_assert!(truth.is_subset(&found), "{:?}", truth.difference(&found));
            prop_assert!(postings.iter().any(|ids| found.is_subset(ids)));
            prop_assert!(found.len() as u64 <= count_max);
        }
    }

    #[test]
    fn postings_are_skipped_once_few_ids_are_left() {
        let every = |step: u64| (1..4000 / step).map(|n| n * step).collect::<Ids>();
        // Measured first are 0 and 3. They leave two ids, so 1 and 2 are not asked.
        let postings = [every(3), Ids::new(), Ids::from([7]), Ids::from([6, 9, 10])];
        let store = store_with(&postings);
        let view = store.snapshot().unwrap();
        let (found, count_max) = plan(&view, 0..4);
        assert_eq!(found, Ids::from([6, 9]));
        assert_eq!(count_max, 2);
    }

    #[test]
    fn the_rest_is_asked_while_it_removes_enough() {
        let below = |end: u64| (1..end).collect::<Ids>();
        // Measured first are 0, 3, 6 and 7. Then 1 and 4 remove too few of 17 ids, and 2 and 5 are
        // not asked.
        let ends = [18, 18, 5, 90, 17, 5, 80, 70];
        let store = store_with(&ends.map(below));
        let view = store.snapshot().unwrap();
        let (found, _) = plan(&view, 0..8);
        assert_eq!(found, below(17));
        // Of 39 ids, 4 removes enough, although 1 removed none. Few ids are left then.
        let ends = [40, 40, 5, 90, 7, 5, 80, 70];
        let store = store_with(&ends.map(below));
        let view = store.snapshot().unwrap();
        let (found, _) = plan(&view, 0..8);
        assert_eq!(found, below(5));
    }

    #[test]
    fn keys_that_cover_a_piece_are_measured_first() {
        for (len, order) in [
            (1, vec![0]),
            (2, vec![0, 1]),
            (3, vec![0, 2, 1]),
            (4, vec![0, 3, 1, 2]),
            (5, vec![0, 3, 4, 1, 2]),
        ] {
            assert_eq!(in_order(len).collect::<Vec<_>>(), order);
        }
    }

    #[test]
    fn the_rarest_of_large_postings_are_read_later() {
        let every = |step: u64| (1..60_000 / step).map(|n| n * step).collect::<Ids>();
        let postings = [every(1), every(2), every(3), every(5), every(7)];
        let store = store_with(&postings);
        let view = store.snapshot().unwrap();
        let (found, count_max) = plan(&view, 0..5);
        assert_eq!(found, &(&every(3) & &every(5)) & &every(7));
        assert_eq!(count_max, every(7).len() as u64);
    }
}
