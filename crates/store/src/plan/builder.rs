//! From a filter to a term: its postings, and the number of entries in them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::intersection::{FEW, TESTED_SOONER, intersection};
use super::term::Term;
use super::term_plan::TermPlan;
use crate::error::StoreError;
use crate::idset::IdSet;
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::{AttributeSelector, Filter, Truth};

/// Chunks read at most for the ranges of one filter, which takes about ten milliseconds. A larger
/// range is not used.
const RANGE_CHUNKS_MAX: usize = 65_536;
/// Terms of a union at most. With more, every entry is a candidate.
const UNITED_MAX: usize = 4_096;

/// Plans filters on one view.
pub(crate) struct Builder<'v, 's, T> {
    pub(crate) view: &'v View<'s, T>,
    /// Number of entries in the store.
    pub(crate) total: u64,
    /// Items looked up beforehand, by their addresses in memory.
    pub(crate) prepared: RefCell<FxHashMap<usize, TermPlan>>,
    chunks_left: Cell<usize>,
}

/// Returns a key for an item that does not move.
pub(crate) fn address(item: &Filter<AttributeSelector>) -> usize {
    std::ptr::from_ref(item).addr()
}

impl<'v, 's, T: Snapshot> Builder<'v, 's, T> {
    pub(crate) fn new(view: &'v View<'s, T>, total: u64) -> Builder<'v, 's, T> {
        Builder {
            view,
            total,
            prepared: RefCell::default(),
            chunks_left: Cell::new(RANGE_CHUNKS_MAX),
        }
    }

    /// Returns the number of chunks that may still be read. Planning in steps passes it on.
    pub(crate) fn chunks_left(&self) -> usize {
        self.chunks_left.get()
    }

    pub(super) fn set_chunks_left(&self, chunks_left: usize) {
        debug_assert!(
            chunks_left <= self.chunks_left.get(),
            "the budget only shrinks"
        );
        self.chunks_left.set(chunks_left);
    }

    pub(crate) fn with_chunks_left(self, chunks_left: usize) -> Self {
        debug_assert!(
            chunks_left <= RANGE_CHUNKS_MAX,
            "a budget from an earlier step"
        );
        self.chunks_left.set(chunks_left);
        self
    }

    /// Plans the entries for which `filter` is True, or False if `negated`.
    pub(crate) fn filter(
        &self,
        filter: &Filter<AttributeSelector>,
        negated: bool,
    ) -> Result<TermPlan, StoreError> {
        match (filter, negated) {
            (Filter::Constant(truth), _) => {
                Ok(self.constant(if negated { truth.not() } else { *truth }))
            }
            (Filter::Not(inner), _) => self.filter(inner, !negated),
            (Filter::And(list), false) | (Filter::Or(list), true) => self.all_of(list, negated),
            (Filter::Or(list), false) | (Filter::And(list), true) => self.one_of(list, negated),
            (item, false) => self.item(item),
            (item, true) => Ok(self.not(item, self.item(item)?)),
        }
    }

    fn constant(&self, truth: Truth) -> TermPlan {
        if truth.is_true() {
            self.everything(true)
        } else {
            TermPlan::nothing()
        }
    }

    pub(super) fn everything(&self, exact: bool) -> TermPlan {
        TermPlan::everything(self.total, exact)
    }

    /// Takes the plan of an item that was looked up beforehand.
    pub(super) fn take_prepared(&self, item: &Filter<AttributeSelector>) -> Option<TermPlan> {
        self.prepared.borrow_mut().remove(&address(item))
    }

    /// Plans a conjunction. It takes single postings first, and reads ranges of keys only if too
    /// many candidates remain.
    fn all_of(
        &self,
        list: &[Filter<AttributeSelector>],
        negated: bool,
    ) -> Result<TermPlan, StoreError> {
        let mut terms = Vec::with_capacity(list.len());
        let mut smallest = self.total;
        let mut skipped = false;
        let (ranges, points): (Vec<_>, Vec<_>) =
            list.iter().partition(|filter| reads_ranges(filter));
        for (filter, costly) in points
            .into_iter()
            .map(|f| (f, false))
            .chain(ranges.into_iter().map(|f| (f, true)))
        {
            let enough = if costly { FEW } else { TESTED_SOONER as u64 };
            if smallest <= enough {
                skipped = true;
                continue;
            }
            let planned = self.filter(filter, negated)?;
            if planned.count_max == 0 {
                return Ok(TermPlan::nothing());
            }
            smallest = smallest.min(planned.count_max);
            terms.push(planned);
        }
        let mut planned = intersection(terms, self.total);
        planned.exact &= !skipped;
        Ok(planned)
    }

    fn one_of(
        &self,
        list: &[Filter<AttributeSelector>],
        negated: bool,
    ) -> Result<TermPlan, StoreError> {
        let mut terms = Vec::new();
        let mut few = IdSet::default();
        let mut common = None;
        let (mut exact, mut count_max) = (true, 0_u64);
        for filter in list {
            let planned = self.filter(filter, negated)?;
            if matches!(planned.term, Term::All) {
                return Ok(planned);
            }
            exact &= planned.exact;
            count_max = count_max.saturating_add(planned.count_max);
            match planned.term {
                // A filter may contain thousands of names. They become one set.
                Term::Ids(ids) if list.len() > 1 => ids.into_iter().for_each(|id| few.insert(id)),
                _ if planned.count_max == 0 => {}
                // Many items about bind states have one set of entries in common.
                Term::Or(of_item) if matches!(of_item.as_slice(), [_, Term::Set(_)]) => {
                    of_item
                        .into_iter()
                        .for_each(|term| unite(&mut terms, &mut common, term));
                }
                term => unite(&mut terms, &mut common, term),
            }
        }
        debug_assert!(
            terms
                .iter()
                .all(|term| !matches!(term, Term::All | Term::Nothing)),
            "a union with all entries is all entries"
        );
        if few.next_chunk(0).is_some() {
            terms.push(Term::Set(Arc::new(few)));
        }
        if terms.len() > UNITED_MAX {
            return Ok(self.everything(false));
        }
        let term = match terms.len() {
            0 => Term::Nothing,
            1 => terms.pop().unwrap_or(Term::Nothing),
            _ => Term::Or(terms),
        };
        Ok(TermPlan {
            term,
            exact,
            count_max: count_max.min(self.total),
        })
    }

    /// Plans all entries except the matches of an item. Presence is never Undefined for an entry.
    /// For other items the plan includes entries that the filter does not select.
    fn not(&self, item: &Filter<AttributeSelector>, planned: TermPlan) -> TermPlan {
        if !planned.exact {
            return self.everything(false);
        }
        let exact = matches!(item, Filter::Present(_));
        match planned.term {
            Term::Nothing => self.everything(exact),
            Term::All => TermPlan {
                exact,
                ..TermPlan::nothing()
            },
            term => TermPlan {
                term: Term::Not(Box::new(term)),
                exact,
                count_max: self.total,
            },
        }
    }
}

/// Adds a term to a union, unless it is the set that was added last.
fn unite(terms: &mut Vec<Term>, last: &mut Option<Arc<IdSet>>, term: Term) {
    if let Term::Set(set) = &term {
        if last.as_ref().is_some_and(|last| Arc::ptr_eq(last, set)) {
            return;
        }
        *last = Some(Arc::clone(set));
    }
    terms.push(term);
}

/// Returns true if planning the filter may read a range of keys.
fn reads_ranges(filter: &Filter<AttributeSelector>) -> bool {
    match filter {
        Filter::GreaterOrEqual(_) | Filter::LessOrEqual(_) | Filter::Substrings { .. } => true,
        Filter::And(list) | Filter::Or(list) => list.iter().any(reads_ranges),
        Filter::Not(inner) => reads_ranges(inner),
        _ => false,
    }
}
