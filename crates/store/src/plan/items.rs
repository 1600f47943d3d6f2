//! Filter items: the index kinds that answer them, and the postings of the answer.

use std::sync::Arc;

use super::builder::Builder;
use super::intersection::{FEW, intersection};
use super::term::Term;
use super::term_plan::TermPlan;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset::IdSet;
use crate::index::{self, Extent, Index, IndexKind, KINDS, KeyRange, Lookup};
use crate::view::NameLookup;
use fulgurite::Snapshot;
use fulgurite_schema::{AttributeSelector, Filter};

/// Ranges read at most for one item.
const RANGES_MAX: usize = 12;

impl<T: Snapshot> Builder<'_, '_, T> {
    /// Plans one item of a filter.
    pub(crate) fn item(&self, item: &Filter<AttributeSelector>) -> Result<TermPlan, StoreError> {
        if let Some(planned) = self.take_prepared(item) {
            return Ok(planned);
        }
        if let Filter::Entries(numbers) = item {
            return Ok(entries(numbers));
        }
        let Some(selector) = stored_attribute(item) else {
            return Ok(self.everything(false));
        };
        if let Some(planned) = self.without_index(selector, item)? {
            return Ok(planned);
        }
        let planned = self.of_records(selector, item)?;
        match self.bind_states_of(selector)? {
            0 => Ok(planned),
            count => self.with_bind_states(planned, count),
        }
    }

    /// Plans an item about the values of records.
    fn of_records(
        &self,
        selector: &AttributeSelector,
        item: &Filter<AttributeSelector>,
    ) -> Result<TermPlan, StoreError> {
        if let Some(index) = self.view.indexes.of(selector.attribute)
            && let Some(planned) = self.by_index(index, item)?
        {
            return Ok(planned);
        }
        match item {
            Filter::GreaterOrEqual(_)
            | Filter::LessOrEqual(_)
            | Filter::Approximate { .. }
            | Filter::Substrings { .. } => self.present_inexact(selector),
            _ => Ok(self.everything(false)),
        }
    }

    /// Returns the number of bind states that may have values of an attribute.
    fn bind_states_of(&self, selector: &AttributeSelector) -> Result<u64, StoreError> {
        let table = self.view.attributes();
        let of_type = table.of_type(selector.attribute);
        match of_type.iter().any(|id| table.is_of_binds(*id)) {
            true => self.view.bind_state_count(),
            false => Ok(0),
        }
    }

    /// Adds the entries with a bind state to a plan. No index knows their values.
    fn with_bind_states(&self, planned: TermPlan, count: u64) -> Result<TermPlan, StoreError> {
        if matches!(planned.term, Term::All) || count > self.total / 2 {
            return Ok(self.everything(false));
        }
        let ids = Term::Set(self.view.bind_state_ids()?);
        Ok(TermPlan {
            term: match planned.term {
                Term::Nothing => ids,
                term => Term::Or(vec![term, ids]),
            },
            exact: false,
            count_max: self.total.min(planned.count_max.saturating_add(count)),
        })
    }

    /// Plans the items that need no index. `None` for all others.
    fn without_index(
        &self,
        selector: &AttributeSelector,
        item: &Filter<AttributeSelector>,
    ) -> Result<Option<TermPlan>, StoreError> {
        let schema = self.view.schema();
        match item {
            Filter::Present(_) if schema.object_class_attribute() == selector.attribute => {
                // Every entry has classes.
                return Ok(Some(self.everything(selector.options().is_none())));
            }
            Filter::ObjectClass { .. } => return Ok(None),
            Filter::Equality(assertion) => {
                if let Some(planned) = self.entry_dn(selector, &assertion.normal)? {
                    return Ok(Some(planned));
                }
            }
            Filter::Extensible { normal, .. } => {
                if let Some(planned) = self.entry_dn(selector, normal)? {
                    return Ok(Some(planned));
                }
            }
            _ => {}
        }
        Ok(self.is_never_stored(selector).then(TermPlan::nothing))
    }

    /// Plans an item by the first kind of an index that answers it.
    fn by_index(
        &self,
        index: &Index,
        item: &Filter<AttributeSelector>,
    ) -> Result<Option<TermPlan>, StoreError> {
        for (kind, definition) in KINDS.iter().rev() {
            if !index.has(*kind) {
                continue;
            }
            let context = self.view.indexes.context(index, *kind);
            let Some(lookup) = (definition.lookup)(&context, item) else {
                continue;
            };
            debug_assert!(index.usable, "the planner reads complete indexes only");
            let planned = match lookup {
                Lookup::Posting { key, exact } => Some(self.posting(key, exact)?),
                Lookup::Range { range, exact } => self.range(&range, exact)?,
                Lookup::AllPostings(keys) if keys.is_empty() => None,
                Lookup::AllPostings(keys) => Some(self.common(&keys)?),
                Lookup::AllRanges(ranges) => self.all_ranges(&ranges)?,
            };
            if planned.is_some() {
                return Ok(planned);
            }
        }
        Ok(None)
    }

    /// Answers an assertion about entryDN from the tree of names, as no entry stores that
    /// attribute.
    fn entry_dn(
        &self,
        selector: &AttributeSelector,
        normal: &[u8],
    ) -> Result<Option<TermPlan>, StoreError> {
        let attribute = self.view.schema().attribute_at(selector.attribute);
        if !attribute.name().eq_ignore_ascii_case("entryDN") {
            return Ok(None);
        }
        let Ok(normal) = std::str::from_utf8(normal) else {
            return Ok(Some(TermPlan::nothing()));
        };
        Ok(Some(match self.view.find_normal(normal)? {
            NameLookup::Entry(id) => TermPlan {
                term: Term::Ids(vec![id]),
                exact: false,
                count_max: 1,
            },
            NameLookup::Missing { .. } => TermPlan::nothing(),
        }))
    }

    /// Plans the entries that have the attribute, for an item that no index answers.
    fn present_inexact(&self, selector: &AttributeSelector) -> Result<TermPlan, StoreError> {
        let present = Filter::Present(selector.clone());
        let index = self.view.indexes.of(selector.attribute);
        let index = index.filter(|index| index.has(IndexKind::Presence));
        let planned = match index {
            Some(index) => self.by_index(index, &present)?,
            None => None,
        };
        let mut planned = planned.unwrap_or_else(|| self.everything(false));
        planned.exact = planned.count_max == 0;
        Ok(planned)
    }

    /// Intersects several ranges; `None` if none of them is useful.
    fn all_ranges(&self, ranges: &[KeyRange]) -> Result<Option<TermPlan>, StoreError> {
        let mut terms: Vec<TermPlan> = Vec::new();
        let step = ranges.len().div_ceil(RANGES_MAX).max(1);
        for range in ranges.iter().step_by(step) {
            // Testing few candidates is faster than reading a range.
            if terms.iter().any(|planned| planned.count_max <= FEW) {
                break;
            }
            terms.extend(self.range(range, false)?);
        }
        if terms.is_empty() {
            return Ok(None);
        }
        let mut planned = intersection(terms, self.total);
        // Grams are tested.
        planned.exact = planned.count_max == 0;
        Ok(Some(planned))
    }

    /// Measures the posting of a key, and reads a short one.
    fn posting(&self, key: Vec<u8>, exact: bool) -> Result<TermPlan, StoreError> {
        let (txn, db) = (&self.view.txn, self.view.store.dbs.index);
        let (first, last, count_max) = match index::extent(txn, db, &key, index::FEW)? {
            Extent::Ids(ids) if ids.is_empty() => return Ok(TermPlan::nothing()),
            Extent::Ids(ids) => {
                debug_assert!(ids.len() <= index::FEW, "a list is short");
                debug_assert!(ids.is_sorted(), "ids ascend");
                return Ok(TermPlan {
                    exact,
                    count_max: ids.len() as u64,
                    term: Term::Ids(ids),
                });
            }
            Extent::Counted { len, first, last } => {
                debug_assert!(first <= last, "chunks ascend");
                debug_assert!(len > index::FEW as u64, "a short posting is a list");
                (first, Some(last), len)
            }
            Extent::Large { first } => (first, None, self.total),
        };
        let term = Term::Posting { key, first, last };
        Ok(TermPlan {
            term,
            exact,
            count_max,
        })
    }

    /// Reads all postings of a range; `None` if they have too many chunks.
    fn range(&self, range: &KeyRange, exact: bool) -> Result<Option<TermPlan>, StoreError> {
        let mut chunks_left = self.chunks_left();
        let (txn, db) = (&self.view.txn, self.view.store.dbs.index);
        let set = index::union_range(txn, db, range, &mut chunks_left)?;
        self.set_chunks_left(chunks_left);
        Ok(set.map(|set: IdSet| match set.len() {
            0 => TermPlan::nothing(),
            count_max => TermPlan {
                term: Term::Set(Arc::new(set)),
                exact,
                count_max,
            },
        }))
    }

    /// Returns true if no entry of the store has the attribute. An operational attribute may be
    /// generated above the store.
    fn is_never_stored(&self, selector: &AttributeSelector) -> bool {
        let schema = self.view.schema();
        !schema.attribute_at(selector.attribute).is_operational()
            && self
                .view
                .attributes()
                .of_type(selector.attribute)
                .is_empty()
    }
}

/// Returns the attribute of an item that an index may answer.
fn stored_attribute(item: &Filter<AttributeSelector>) -> Option<&AttributeSelector> {
    match item {
        Filter::Present(attribute)
        | Filter::ObjectClass { attribute, .. }
        | Filter::Approximate { attribute, .. }
        | Filter::Substrings { attribute, .. } => Some(attribute),
        Filter::Equality(assertion)
        | Filter::GreaterOrEqual(assertion)
        | Filter::LessOrEqual(assertion) => Some(&assertion.attribute),
        Filter::Extensible {
            attribute: Some(attribute),
            rule,
            dn_attributes: false,
            ..
        } if rule.is_equality() => Some(attribute),
        _ => None,
    }
}

/// Plans entries whose numbers the filter contains.
fn entries(numbers: &[u64]) -> TermPlan {
    debug_assert!(numbers.is_sorted(), "the numbers of a filter ascend");
    let mut set = IdSet::default();
    numbers
        .iter()
        .for_each(|number| set.insert(EntryId(*number)));
    let term = match numbers.is_empty() {
        true => Term::Nothing,
        false => Term::Set(Arc::new(set)),
    };
    TermPlan {
        count_max: numbers.len() as u64,
        term,
        exact: true,
    }
}
