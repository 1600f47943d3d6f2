//! From a filter to a term: which postings can answer it, and how many entries they hold.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;

use super::term::Term;
use crate::error::StoreError;
use crate::find::Found;
use crate::ids::EntryId;
use crate::idset::IdSet;
use crate::index::{self, Extent, GramLookup, Index, Kind, key, key::KeyRange};
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::{
    Assertion, AttributeSelector, Filter, MatchingRule, ObjectClassIndex, SubstringAssertion, Truth,
};

/// So few candidates are tested in place sooner than a range of keys is read.
const FEW: u64 = 64;
/// Chunks read at most to answer the ranges of one filter, about ten milliseconds of work: beyond, a range is no help.
const RANGE_CHUNKS_MAX: usize = 65_536;
/// Terms that take part in an intersection at most: the smallest.
const INTERSECTED_MAX: usize = 16;
/// Terms of a union that are looked up chunk by chunk at most: beyond, every entry is a candidate.
const UNITED_MAX: usize = 4_096;
/// Postings looked up at most for one substrings assertion.
const GRAMS_MAX: usize = 12;
/// Postings of grams up to so many ids are taken out of the index at once, and met with each other in memory.
const GRAM_IDS_MAX: usize = 1_024;
/// So few candidates are tested sooner than one more posting is looked up.
const TESTED_SOONER: usize = 2;
/// So few candidates are tested sooner than they are looked up in a posting of many.
const TESTED_SOONER_THAN_MANY: usize = 16;

/// A term with what is known of it.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) term: Term,
    /// Whether every id in it is a match.
    pub(crate) exact: bool,
    /// Upper bound of its size.
    pub(crate) count_max: u64,
}

impl Planned {
    fn nothing() -> Planned {
        Planned {
            term: Term::Nothing,
            exact: true,
            count_max: 0,
        }
    }
}

/// Plans filters on one view.
pub(crate) struct Builder<'v, 's, T> {
    pub(crate) view: &'v View<'s, T>,
    /// Number of entries in the store.
    pub(crate) total: u64,
    /// Items looked up beforehand, by their places in memory.
    pub(crate) prepared: RefCell<FxHashMap<usize, Planned>>,
    chunks_left: Cell<usize>,
}

/// A key for an item that stays where it is.
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

    /// What is left to read of ranges; planning that pauses hands it on.
    pub(crate) fn chunks_left(&self) -> usize {
        self.chunks_left.get()
    }

    pub(crate) fn with_chunks_left(self, chunks_left: usize) -> Self {
        self.chunks_left.set(chunks_left);
        self
    }

    /// The entries for which `filter` is True; and when `negated`, those for which it is False.
    pub(crate) fn filter(
        &self,
        filter: &Filter<AttributeSelector>,
        negated: bool,
    ) -> Result<Planned, StoreError> {
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

    fn constant(&self, truth: Truth) -> Planned {
        if truth.is_true() {
            self.everything(true)
        } else {
            Planned::nothing()
        }
    }

    fn everything(&self, exact: bool) -> Planned {
        Planned {
            term: Term::All,
            exact,
            count_max: self.total,
        }
    }

    /// Smallest first; ranges of keys only if they are still worth reading.
    fn all_of(
        &self,
        list: &[Filter<AttributeSelector>],
        negated: bool,
    ) -> Result<Planned, StoreError> {
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
                return Ok(Planned::nothing());
            }
            smallest = smallest.min(planned.count_max);
            terms.push(planned);
        }
        let mut planned = self.intersection(terms);
        planned.exact &= !skipped;
        Ok(planned)
    }

    fn intersection(&self, mut terms: Vec<Planned>) -> Planned {
        let mut exact = terms.iter().all(|planned| planned.exact);
        terms.retain(|planned| !matches!(planned.term, Term::All));
        terms.sort_by_key(|planned| planned.count_max);
        meet_few(&mut terms);
        let Some(smallest) = terms.first().map(|planned| planned.count_max) else {
            return self.everything(exact);
        };
        if smallest == 0 {
            return Planned::nothing();
        }
        if terms.len() > INTERSECTED_MAX {
            terms.truncate(INTERSECTED_MAX);
            exact = false;
        }
        // A term that holds most entries takes away less than looking into it costs.
        let before = terms.len();
        let mut position = 0;
        terms.retain(|planned| {
            position += 1;
            let many = planned.count_max > self.total / 2;
            let helps = smallest > TESTED_SOONER_THAN_MANY as u64 && (smallest > FEW || !many);
            position == 1 || helps
        });
        exact &= terms.len() == before;
        let term = match terms.len() {
            1 => terms.pop().map_or(Term::Nothing, |planned| planned.term),
            _ => Term::And(terms.into_iter().map(|planned| planned.term).collect()),
        };
        Planned {
            term,
            exact,
            count_max: smallest,
        }
    }

    fn one_of(
        &self,
        list: &[Filter<AttributeSelector>],
        negated: bool,
    ) -> Result<Planned, StoreError> {
        let mut terms = Vec::new();
        let mut few = IdSet::default();
        let (mut exact, mut count_max) = (true, 0_u64);
        for filter in list {
            let planned = self.filter(filter, negated)?;
            if matches!(planned.term, Term::All) {
                return Ok(planned);
            }
            exact &= planned.exact;
            count_max = count_max.saturating_add(planned.count_max);
            match planned.term {
                // Thousands of names in one filter become one set.
                Term::Ids(ids) if list.len() > 1 => ids.into_iter().for_each(|id| few.insert(id)),
                _ if planned.count_max == 0 => {}
                term => terms.push(term),
            }
        }
        if few.next_chunk(0).is_some() {
            terms.push(Term::Set(few));
        }
        if terms.len() > UNITED_MAX {
            return Ok(self.everything(false));
        }
        let term = match terms.len() {
            0 => Term::Nothing,
            1 => terms.pop().unwrap_or(Term::Nothing),
            _ => Term::Or(terms),
        };
        Ok(Planned {
            term,
            exact,
            count_max: count_max.min(self.total),
        })
    }

    /// Everything but the matches of an item. Only presence is never Undefined for an entry; for other items the
    /// result includes entries that the filter does not select.
    fn not(&self, item: &Filter<AttributeSelector>, planned: Planned) -> Planned {
        if !planned.exact {
            return self.everything(false);
        }
        let exact = matches!(item, Filter::Present(_));
        match planned.term {
            Term::Nothing => self.everything(exact),
            Term::All => Planned {
                exact,
                ..Planned::nothing()
            },
            term => Planned {
                term: Term::Not(Box::new(term)),
                exact,
                count_max: self.total,
            },
        }
    }

    pub(crate) fn item(&self, item: &Filter<AttributeSelector>) -> Result<Planned, StoreError> {
        if let Some(planned) = self.prepared.borrow_mut().remove(&address(item)) {
            return Ok(planned);
        }
        match item {
            Filter::Entries(numbers) => Ok(self.entries(numbers)),
            Filter::Present(selector) => self.present(selector),
            Filter::ObjectClass {
                attribute, class, ..
            } => self.object_class(attribute, *class),
            Filter::Equality(assertion) => self.equality(assertion),
            Filter::GreaterOrEqual(assertion) => self.ordering(assertion, KeyRange::at_least),
            Filter::LessOrEqual(assertion) => self.ordering(assertion, KeyRange::at_most),
            Filter::Substrings {
                attribute,
                rule,
                pieces,
            } => self.substrings(attribute, rule, pieces),
            Filter::Extensible {
                attribute: Some(attribute),
                rule,
                normal,
                dn_attributes: false,
                ..
            } if rule.is_equality() => {
                let mut planned = self.equality_of(attribute, rule, normal)?;
                planned.exact = false;
                Ok(planned)
            }
            _ => Ok(self.everything(false)),
        }
    }

    /// Entries that somebody has worked out beforehand.
    fn entries(&self, numbers: &[u64]) -> Planned {
        let ids: Vec<EntryId> = numbers.iter().map(|number| EntryId(*number)).collect();
        Planned {
            count_max: ids.len() as u64,
            term: ids_of(ids),
            exact: true,
        }
    }

    fn present(&self, selector: &AttributeSelector) -> Result<Planned, StoreError> {
        if self.is_object_class(selector) {
            return Ok(self.everything(selector.options().is_none()));
        }
        if self.is_never_stored(selector) {
            return Ok(Planned::nothing());
        }
        match self.index_of(selector).filter(|index| index.presence) {
            Some(index) => self.posting(index, Kind::Presence, &[], selector.options().is_none()),
            None => Ok(self.everything(false)),
        }
    }

    fn object_class(
        &self,
        selector: &AttributeSelector,
        class: ObjectClassIndex,
    ) -> Result<Planned, StoreError> {
        let key = self.view.indexes.class_key(class);
        match key.filter(|_| self.is_object_class(selector)) {
            Some(key) => self.posting_of(key, selector.options().is_none()),
            None => Ok(self.everything(false)),
        }
    }

    fn equality(&self, assertion: &Assertion<AttributeSelector>) -> Result<Planned, StoreError> {
        self.equality_of(&assertion.attribute, assertion.rule, &assertion.normal)
    }

    fn equality_of(
        &self,
        selector: &AttributeSelector,
        rule: &MatchingRule,
        normal: &[u8],
    ) -> Result<Planned, StoreError> {
        if self
            .view
            .schema()
            .attribute_at(selector.attribute)
            .name()
            .eq_ignore_ascii_case("entryDN")
        {
            return self.entry_dn(normal);
        }
        if self.is_never_stored(selector) {
            return Ok(Planned::nothing());
        }
        let index = self.index_of(selector).filter(|index| !index.object_class);
        match index.filter(|index| {
            index
                .equality
                .is_some_and(|made_by| made_by.same_normal_form(rule))
        }) {
            Some(index) => {
                let same_rule = index.equality.is_some_and(|made_by| made_by == rule);
                let exact = same_rule && key::is_literal(normal) && selector.options().is_none();
                self.posting(index, Kind::Equality, normal, exact)
            }
            None => Ok(self.everything(false)),
        }
    }

    /// entryDN is no stored attribute: the tree of names answers.
    fn entry_dn(&self, normal: &[u8]) -> Result<Planned, StoreError> {
        let Ok(normal) = std::str::from_utf8(normal) else {
            return Ok(Planned::nothing());
        };
        Ok(match self.view.find_normal(normal)? {
            Found::Entry(id) => Planned {
                term: Term::Ids(vec![id]),
                exact: false,
                count_max: 1,
            },
            Found::Missing { .. } => Planned::nothing(),
        })
    }

    fn ordering(
        &self,
        assertion: &Assertion<AttributeSelector>,
        range: impl FnOnce(crate::ids::AttributeId, &[u8]) -> KeyRange,
    ) -> Result<Planned, StoreError> {
        let selector = &assertion.attribute;
        if self.is_never_stored(selector) {
            return Ok(Planned::nothing());
        }
        let index = self.index_of(selector).filter(|index| !index.object_class);
        match index.filter(|index| {
            index
                .equality
                .is_some_and(|made_by| made_by.same_normal_form(assertion.rule))
        }) {
            Some(index) => {
                let range = range(index.id, &assertion.normal);
                let exact = range.exact && selector.options().is_none();
                match self.range(&range, exact)? {
                    Some(planned) => Ok(planned),
                    None => self.present_inexact(selector),
                }
            }
            None => self.present_inexact(selector),
        }
    }

    /// The entries that have the attribute at all: all that is known of an item no index answers.
    fn present_inexact(&self, selector: &AttributeSelector) -> Result<Planned, StoreError> {
        let mut planned = self.present(selector)?;
        planned.exact = planned.count_max == 0;
        Ok(planned)
    }

    fn substrings(
        &self,
        selector: &AttributeSelector,
        rule: &MatchingRule,
        pieces: &SubstringAssertion,
    ) -> Result<Planned, StoreError> {
        if self.is_never_stored(selector) {
            return Ok(Planned::nothing());
        }
        let Some(index) = self.index_of(selector) else {
            return Ok(self.everything(false));
        };
        let mut planned = None;
        if index
            .substring
            .is_some_and(|made_by| made_by.same_normal_form(rule))
        {
            planned = self.grams(index, pieces)?;
        }
        let by_equality = index
            .equality
            .filter(|made_by| !index.object_class && made_by.same_normal_form(rule));
        if let (None, Some(initial), Some(_)) = (&planned, pieces.initial(), by_equality) {
            planned = self.range(&KeyRange::prefix(index.id, Kind::Equality, initial), false)?;
        }
        match planned {
            Some(planned) => Ok(planned),
            None => self.present_inexact(selector),
        }
    }

    /// Intersection of the postings of the pieces' grams; `None` when no piece gives a useful one.
    fn grams(
        &self,
        index: &Index,
        pieces: &SubstringAssertion,
    ) -> Result<Option<Planned>, StoreError> {
        let mut lookups: Vec<GramLookup> = Vec::new();
        lookups.extend(
            pieces
                .initial()
                .into_iter()
                .flat_map(|piece| index::grams_of_piece(piece, true, false)),
        );
        lookups.extend(
            pieces
                .final_()
                .into_iter()
                .flat_map(|piece| index::grams_of_piece(piece, false, true)),
        );
        lookups.extend(
            pieces
                .any()
                .flat_map(|piece| index::grams_of_piece(piece, false, false)),
        );
        let whole = lookups
            .iter()
            .any(|lookup| matches!(lookup, GramLookup::One(_)));
        if whole {
            lookups.retain(|lookup| matches!(lookup, GramLookup::One(_)));
        }
        let mut terms = Vec::new();
        let mut few: Option<Vec<EntryId>> = None;
        let step = lookups.len().div_ceil(GRAMS_MAX).max(1);
        for lookup in lookups.iter().step_by(step) {
            if few.as_ref().is_some_and(|ids| ids.len() <= TESTED_SOONER) {
                break;
            }
            let planned = match lookup {
                GramLookup::One(gram) => Some(self.gram(index, gram.octets())?),
                GramLookup::Beginning(head) => self.range(
                    &KeyRange::prefix(index.id, Kind::Gram, head.octets()),
                    false,
                )?,
            };
            match planned {
                Some(Planned {
                    term: Term::Ids(ids),
                    ..
                }) => match &mut few {
                    Some(few) => meet(few, &ids),
                    None => few = Some(ids),
                },
                Some(planned) if planned.count_max == 0 => return Ok(Some(Planned::nothing())),
                Some(planned) => terms.push(planned),
                None => {}
            }
        }
        if let Some(ids) = few {
            if ids.is_empty() {
                return Ok(Some(Planned::nothing()));
            }
            terms.push(Planned {
                exact: false,
                count_max: ids.len() as u64,
                term: Term::Ids(ids),
            });
        }
        if terms.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.intersection(terms)))
    }

    /// The posting of a gram.
    fn gram(&self, index: &Index, gram: &[u8]) -> Result<Planned, StoreError> {
        let mut key = Vec::new();
        key::posting(&mut key, index.id, Kind::Gram, gram);
        self.posting_up_to(&key, false, GRAM_IDS_MAX)
    }

    fn posting(
        &self,
        index: &Index,
        kind: Kind,
        value: &[u8],
        exact: bool,
    ) -> Result<Planned, StoreError> {
        let mut key = Vec::new();
        key::posting(&mut key, index.id, kind, value);
        self.posting_of(&key, exact)
    }

    fn posting_of(&self, key: &[u8], exact: bool) -> Result<Planned, StoreError> {
        self.posting_up_to(key, exact, index::FEW)
    }

    fn posting_up_to(
        &self,
        key: &[u8],
        exact: bool,
        ids_max: usize,
    ) -> Result<Planned, StoreError> {
        let posting = |first, last| Term::Posting {
            key: key.to_vec(),
            first,
            last,
        };
        Ok(
            match index::extent(&self.view.txn, self.view.store.dbs.index, key, ids_max)? {
                Extent::Ids(ids) if ids.is_empty() => Planned::nothing(),
                Extent::Ids(ids) => Planned {
                    exact,
                    count_max: ids.len() as u64,
                    term: Term::Ids(ids),
                },
                Extent::Counted { len, first, last } => Planned {
                    term: posting(first, Some(last)),
                    exact,
                    count_max: len,
                },
                Extent::Large { first } => Planned {
                    term: posting(first, None),
                    exact,
                    count_max: self.total,
                },
            },
        )
    }

    fn range(&self, range: &KeyRange, exact: bool) -> Result<Option<Planned>, StoreError> {
        let mut chunks_left = self.chunks_left.get();
        let set = index::union_range(
            &self.view.txn,
            self.view.store.dbs.index,
            range,
            &mut chunks_left,
        )?;
        self.chunks_left.set(chunks_left);
        Ok(set.map(|set: IdSet| match set.len() {
            0 => Planned::nothing(),
            count_max => Planned {
                term: Term::Set(set),
                exact,
                count_max,
            },
        }))
    }

    fn index_of(&self, selector: &AttributeSelector) -> Option<&Index> {
        self.view.indexes.of(selector.attribute)
    }

    fn is_object_class(&self, selector: &AttributeSelector) -> bool {
        self.view.schema().object_class_attribute() == selector.attribute
    }

    /// Whether no entry of the store has the attribute. Operational ones may be computed by whoever asks.
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

/// Meets what is in memory already: the first terms, as long as they are lists.
fn meet_few(terms: &mut Vec<Planned>) {
    while let [first, second, ..] = terms.as_mut_slice()
        && let (Term::Ids(ids), Term::Ids(others)) = (&mut first.term, &second.term)
    {
        meet(ids, others);
        first.count_max = ids.len() as u64;
        terms.remove(1);
    }
}

/// Keeps the ids that are among others; both ascend.
fn meet(ids: &mut Vec<EntryId>, others: &[EntryId]) {
    if others.len() / 8 > ids.len() {
        return ids.retain(|id| others.binary_search(id).is_ok());
    }
    let mut others = others.iter().peekable();
    ids.retain(|id| {
        while others.next_if(|other| *other < id).is_some() {}
        others.peek() == Some(&id)
    });
}

/// Whether planning the filter may read a range of keys rather than single postings.
fn reads_ranges(filter: &Filter<AttributeSelector>) -> bool {
    match filter {
        Filter::GreaterOrEqual(_) | Filter::LessOrEqual(_) | Filter::Substrings { .. } => true,
        Filter::And(list) | Filter::Or(list) => list.iter().any(reads_ranges),
        Filter::Not(inner) => reads_ranges(inner),
        _ => false,
    }
}

/// Ids of a scope as a planned term.
pub(crate) fn ids_of(ids: Vec<EntryId>) -> Term {
    if ids.is_empty() {
        return Term::Nothing;
    }
    let mut set = IdSet::default();
    ids.into_iter().for_each(|id| set.insert(id));
    Term::Set(set)
}
