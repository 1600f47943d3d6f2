//! A description of a set of ids, from which one chunk at a time can be read.

use std::sync::Arc;

use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset::{Bitmap, IdSet, split};
use crate::index;
use crate::store::Databases;
use fulgurite::Snapshot;

/// A set of entries. It owns its parts, so that plans outlive the view on which they were made.
#[derive(Debug)]
pub(crate) enum Term {
    /// No entry.
    Nothing,
    /// Every entry.
    All,
    /// Some ids, ascending.
    Ids(Vec<EntryId>),
    /// Many ids in memory.
    Set(Arc<IdSet>),
    /// A posting of the index, with its first and last chunk as far as known.
    Posting {
        key: Vec<u8>,
        first: u32,
        last: Option<u32>,
    },
    /// The entries in all of these.
    And(Vec<Term>),
    /// The entries in at least one of these.
    Or(Vec<Term>),
    /// Every entry except these.
    Not(Box<Term>),
}

/// The state of the store on which terms are evaluated.
pub(crate) struct TermSource<'a, T> {
    pub(crate) txn: &'a T,
    pub(crate) dbs: Databases,
    pub(crate) all_entries: &'a [u8],
}

impl Term {
    /// Returns the number of the first chunk at or after `from` that may contain an id.
    pub(crate) fn next_chunk<T: Snapshot>(
        &self,
        source: &TermSource<'_, T>,
        from: u32,
    ) -> Result<Option<u32>, StoreError> {
        let stored = |key: &[u8], from| index::next_chunk(source.txn, source.dbs.index, key, from);
        match self {
            Term::Nothing => Ok(None),
            Term::All | Term::Not(_) => stored(source.all_entries, from),
            Term::Ids(ids) => {
                let at = ids.partition_point(|id| split(*id).0 < from);
                Ok(ids.get(at).map(|id| split(*id).0))
            }
            Term::Set(set) => Ok(set.next_chunk(from)),
            Term::Posting { first, last, .. } if from <= *first => {
                debug_assert!(last.is_none_or(|last| *first <= last), "chunks ascend");
                Ok(Some(*first))
            }
            Term::Posting {
                last: Some(last), ..
            } if from > *last => Ok(None),
            Term::Posting { key, .. } => stored(key, from),
            Term::And(terms) => next_common_chunk(terms, source, from),
            Term::Or(terms) => {
                let mut lowest = None;
                for term in terms {
                    let next = term.next_chunk(source, from)?;
                    lowest = lowest.into_iter().chain(next).min();
                }
                Ok(lowest)
            }
        }
    }

    /// Adds the ids of one chunk to `bits`.
    pub(crate) fn load<T: Snapshot>(
        &self,
        source: &TermSource<'_, T>,
        chunk: u32,
        bits: &mut Bitmap,
    ) -> Result<(), StoreError> {
        let stored = |key: &[u8], bits: &mut Bitmap| {
            index::load_chunk(source.txn, source.dbs.index, key, chunk, bits)
        };
        match self {
            Term::Nothing => {}
            Term::All => stored(source.all_entries, bits)?,
            Term::Ids(ids) => {
                debug_assert!(ids.is_sorted(), "ids ascend");
                let first = ids.partition_point(|id| split(*id).0 < chunk);
                let ids = ids.get(first..).unwrap_or_default().iter();
                let positions = ids
                    .map(|id| split(*id))
                    .take_while(|(number, _)| *number == chunk);
                positions.for_each(|(_, low)| {
                    bits.insert(low);
                });
            }
            Term::Set(set) => {
                if let Some(found) = set.chunk(chunk) {
                    bits.or(found);
                }
            }
            Term::Posting { key, .. } => stored(key, bits)?,
            Term::And(terms) => bits.or(&load_common(terms, source, chunk)?),
            Term::Or(terms) => terms
                .iter()
                .try_for_each(|term| term.load(source, chunk, bits))?,
            Term::Not(term) => {
                let (mut all, mut these) = (Bitmap::new(), Bitmap::new());
                stored(source.all_entries, &mut all)?;
                term.load(source, chunk, &mut these)?;
                all.and_not(&these);
                bits.or(&all);
            }
        }
        Ok(())
    }
}

/// Seeks in term after term until all of them have a part of the same chunk.
fn next_common_chunk<T: Snapshot>(
    terms: &[Term],
    source: &TermSource<'_, T>,
    from: u32,
) -> Result<Option<u32>, StoreError> {
    debug_assert!(!terms.is_empty(), "an intersection has terms");
    let mut chunk = from;
    let mut agreed = 0;
    for term in terms.iter().cycle() {
        match term.next_chunk(source, chunk)? {
            None => return Ok(None),
            Some(next) if next == chunk => agreed += 1,
            Some(next) => {
                debug_assert!(next > chunk, "a seek moves on");
                (chunk, agreed) = (next, 1);
            }
        }
        if agreed == terms.len() {
            return Ok(Some(chunk));
        }
    }
    Ok(None)
}

fn load_common<T: Snapshot>(
    terms: &[Term],
    source: &TermSource<'_, T>,
    chunk: u32,
) -> Result<Bitmap, StoreError> {
    debug_assert!(!terms.is_empty(), "an intersection has terms");
    let mut common = Bitmap::new();
    for (position, term) in terms.iter().enumerate() {
        if position == 0 {
            term.load(source, chunk, &mut common)?;
            continue;
        }
        if common.is_empty() {
            break;
        }
        let mut these = Bitmap::new();
        term.load(source, chunk, &mut these)?;
        common.and(&these);
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::super::candidates::Candidates;
    use super::super::scope::ScopeTest;
    use super::super::search_scope::Scope;
    use super::super::term_plan::TermPlan;
    use super::*;
    use crate::ids::AttributeId;
    use crate::index::{Extent, FEW, PendingPostings, extent, key};
    use crate::testing::*;
    use crate::view::View;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Ids = BTreeSet<u64>;

    /// Ids in a dozen chunks, in groups, so that terms overlap in some chunks only.
    fn ids() -> impl Strategy<Value = Ids> {
        let lump = (0_u64..12, 0_u64..8192, 0_u64..60, 1_u64..900);
        prop::collection::vec(lump, 0..6).prop_map(|lumps| {
            let lump = |(chunk, from, len, step)| {
                (0..len).map(move |n| chunk * 8192 + 1 + from + n * step)
            };
            lumps.into_iter().flat_map(lump).collect()
        })
    }

    #[derive(Clone, Debug)]
    enum Model {
        Posting(usize),
        Few(Vec<u64>),
        Set(Ids),
        All,
        And(Vec<Model>),
        Or(Vec<Model>),
        Not(Box<Model>),
    }

    fn model() -> impl Strategy<Value = Model> {
        let leaf = prop_oneof![
            4 => (0_usize..3).prop_map(Model::Posting),
            1 => prop::collection::btree_set(1_u64..90_000, 0..5).prop_map(|ids| Model::Few(ids.into_iter().collect())),
            1 => ids().prop_map(Model::Set),
            1 => Just(Model::All),
        ];
        leaf.prop_recursive(3, 10, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(Model::And),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Model::Or),
                inner.prop_map(|model| Model::Not(Box::new(model))),
            ]
        })
    }

    struct World {
        postings: Vec<Ids>,
        all: Ids,
    }

    impl World {
        fn truth(&self, model: &Model) -> Ids {
            match model {
                Model::Posting(number) => self.postings[*number].clone(),
                Model::Few(ids) => ids.iter().copied().collect(),
                Model::Set(ids) => ids.clone(),
                Model::All => self.all.clone(),
                Model::And(list) => {
                    let mut sets = list.iter().map(|model| self.truth(model));
                    let first = sets.next().unwrap();
                    sets.fold(first, |a, b| a.intersection(&b).copied().collect())
                }
                Model::Or(list) => list.iter().flat_map(|model| self.truth(model)).collect(),
                Model::Not(inner) => self.all.difference(&self.truth(inner)).copied().collect(),
            }
        }

        fn term(&self, view: &View<'_>, model: &Model) -> Term {
            let terms = |list: &[Model]| list.iter().map(|m| self.term(view, m)).collect();
            match model {
                Model::Posting(number) => stored(view, *number),
                Model::Few(ids) => Term::Ids(ids.iter().map(|id| EntryId(*id)).collect()),
                Model::Set(ids) => {
                    let mut set = IdSet::default();
                    ids.iter().for_each(|id| set.insert(EntryId(*id)));
                    Term::Set(Arc::new(set))
                }
                Model::All => Term::All,
                Model::And(list) => Term::And(terms(list)),
                Model::Or(list) => Term::Or(terms(list)),
                Model::Not(inner) => Term::Not(Box::new(self.term(view, inner))),
            }
        }
    }

    fn posting(number: usize) -> Vec<u8> {
        let mut out = Vec::new();
        // Each value is a prefix of the next one, so the test finds chunks of a wrong posting.
        key::posting(&mut out, AttributeId(1), b'=', &b"aaa"[..=number]);
        out
    }

    fn stored(view: &View<'_>, number: usize) -> Term {
        let key = posting(number);
        match extent(&view.txn, view.store.dbs.index, &key, FEW).unwrap() {
            Extent::Ids(ids) => Term::Ids(ids),
            Extent::Counted { first, last, .. } => Term::Posting {
                key,
                first,
                last: Some(last),
            },
            Extent::Large { .. } => unreachable!("a dozen chunks"),
        }
    }

    fn world(store: &crate::Store, postings: Vec<Ids>, others: &Ids) -> World {
        let all: Ids = postings.iter().flatten().chain(others).copied().collect();
        let mut pending = PendingPostings::default();
        all.iter()
            .for_each(|id| pending.change(&key::all_entries(), EntryId(*id), true));
        for (number, ids) in postings.iter().enumerate() {
            ids.iter()
                .for_each(|id| pending.change(&posting(number), EntryId(*id), true));
        }
        let mut writer = store.write().unwrap();
        pending
            .flush(&mut writer.view.txn, store.dbs.index)
            .unwrap();
        writer.commit().unwrap();
        World { postings, all }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn terms_of_many_chunks_contain_the_ids_of_their_sets(
            postings in prop::collection::vec(ids(), 3),
            others in ids(),
            models in prop::collection::vec(model(), 8),
            after in prop::collection::vec(0_u64..110_000, 5),
        ) {
            let store = create();
            let world = world(&store, postings, &others);
            let view = store.snapshot().unwrap();
            for model in &models {
                let planned = TermPlan { term: world.term(&view, model), exact: true, count_max: 0 };
                let mut candidates = Candidates::new(planned, ScopeTest::None, (EntryId(1), Scope::Subtree));
                let truth = world.truth(model);
                let mut found = Vec::new();
                while let Some(id) = candidates.next(&view).unwrap() {
                    found.push(id.0);
                }
                prop_assert_eq!(&found, &truth.iter().copied().collect::<Vec<_>>(), "{:?}", model);
                for after in &after {
                    candidates.seek(EntryId(*after));
                    let next = candidates.next(&view).unwrap();
                    prop_assert_eq!(next.map(|id| id.0), truth.range(after + 1..).next().copied());
                }
            }
        }
    }
}
