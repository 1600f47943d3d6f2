//! A stored entry as a filter sees it with the requester's rights: with computed attributes,
//! without hidden ones.
//!
//! A filter item about an attribute that may not be searched is Undefined. So is an item that
//! asserts a value which may not be searched. Hidden subtypes, hidden forms with options, and
//! hidden values are skipped.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use fulgurite_access::{EntryRights, Rights};
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Filter, FilterSubject, Schema, Truth,
};
use fulgurite_store::{EntryView, StoredSelector, View};

use crate::rights::computed::{Computed, ComputedValues};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::requester_rights::RequesterRights;
use crate::rights::visible_entry::visit_searchable;

/// The source of the values of a filter item.
#[derive(Clone, Debug)]
pub(crate) enum ValueSource {
    /// The record. The asserted value is present if rules decide by value.
    Stored(StoredSelector, Option<Box<[u8]>>),
    /// A computed attribute.
    Computed(Computed, AttributeDescription),
    /// None: the item is Undefined.
    Hidden,
}

/// A filter prepared for the entries of one view.
#[derive(Debug)]
pub(crate) struct PreparedFilter {
    /// `None` until a candidate must be tested.
    filter: Option<Filter<ValueSource>>,
    /// True if the filter tests the record alone, as the client sent it. An exact plan then needs
    /// no test.
    pub(crate) plain: bool,
}

impl PreparedFilter {
    /// Prepares a filter, unless the store's plan is likely to be exact.
    pub(crate) fn new(
        filter: &Filter<AttributeSelector>,
        view: &View<'_>,
        requester: RequesterRights<'_>,
    ) -> PreparedFilter {
        let RequesterRights {
            core, decisions, ..
        } = requester;
        let facts = EntryFacts::new(core, view, EntrySource::Missing);
        if let Filter::Equality(assertion) = filter
            && decisions.uniform()
            && !decisions.by_value()
            && requester.computed(&assertion.attribute).is_none()
        {
            let rights = facts.rights(decisions, "");
            let may_search = |description| rights.attribute(description).allows(Rights::SEARCH);
            let covers_itself = view.attributes().covers_itself(&assertion.attribute);
            if covers_itself && may_search(&assertion.attribute) {
                return PreparedFilter {
                    filter: None,
                    plain: true,
                };
            }
        }
        PreparedFilter::prepared(filter.clone(), view, requester)
    }

    /// Prepares the filter if it is not yet; `source` is the client's filter.
    pub(crate) fn prepare(
        &mut self,
        source: &Filter<AttributeSelector>,
        view: &View<'_>,
        requester: RequesterRights<'_>,
    ) {
        if self.filter.is_none() {
            *self = PreparedFilter::prepared(source.clone(), view, requester);
        }
    }

    /// Returns true if an entry matches. The filter must be prepared.
    pub(crate) fn admits(&self, schema: &Schema, seen: &VisibleStoredEntry<'_, '_>) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| filter.test(schema, seen).is_true())
    }

    /// Prepares a filter. If decisions are the same for every entry, it removes hidden attributes
    /// here.
    fn prepared(
        filter: Filter<AttributeSelector>,
        view: &View<'_>,
        requester: RequesterRights<'_>,
    ) -> PreparedFilter {
        let RequesterRights {
            core, decisions, ..
        } = requester;
        let uniform = decisions.uniform();
        let mut plain = uniform && !decisions.by_value();
        let facts = EntryFacts::new(core, view, EntrySource::Missing);
        let rights = facts.rights(decisions, "");
        let may_search = |description: &AttributeDescription| {
            !uniform || rights.attribute(description).allows(Rights::SEARCH)
        };
        let mut asserted = VecDeque::new();
        if decisions.by_value() {
            collect_asserted(&filter, &mut asserted);
        }
        let filter = filter.map(&mut |selector: AttributeSelector| {
            let value = asserted.pop_front().flatten();
            // A value may be hidden although its attribute is not, and the other way round.
            if !decisions.by_value() && !may_search(&selector) {
                plain = false;
                return ValueSource::Hidden;
            }
            if let Some(computed) = requester.computed(&selector) {
                plain = false;
                // Like slapd, no search finds the state of a database.
                let is_of_database =
                    matches!(computed, Computed::ContextCsn | Computed::AuditContext);
                if is_of_database || !computed.is_visible(requester) {
                    return ValueSource::Hidden;
                }
                return ValueSource::Computed(computed, selector);
            }
            let covered = view.attributes().covered(view.schema(), &selector);
            let all = covered.len();
            let mut ids = Vec::from(covered);
            ids.retain(|id| {
                let info = view.attributes().get(*id);
                decisions.by_value() || info.is_some_and(|info| may_search(&info.description))
            });
            plain &= ids.len() == all;
            let ids = ids.into_boxed_slice();
            ValueSource::Stored(StoredSelector { selector, ids }, value)
        });
        PreparedFilter {
            filter: Some(filter),
            plain,
        }
    }
}

/// Collects the asserted values, in the order in which [`Filter::map`] visits their selectors.
fn collect_asserted(filter: &Filter<AttributeSelector>, out: &mut VecDeque<Option<Box<[u8]>>>) {
    match filter {
        Filter::And(items) | Filter::Or(items) => {
            items.iter().for_each(|item| collect_asserted(item, out));
        }
        Filter::Not(item) => collect_asserted(item, out),
        Filter::Constant(_) | Filter::Entries(_) => {}
        Filter::Equality(assertion)
        | Filter::GreaterOrEqual(assertion)
        | Filter::LessOrEqual(assertion)
        | Filter::InChain { assertion, .. } => out.push_back(Some(assertion.normal.clone())),
        Filter::Extensible {
            attribute, normal, ..
        } => {
            if attribute.is_some() {
                out.push_back(Some(normal.clone()));
            }
        }
        Filter::Present(_)
        | Filter::ObjectClass { .. }
        | Filter::Approximate { .. }
        | Filter::Substrings { .. } => out.push_back(None),
    }
}

/// A stored entry with the requester's rights.
pub(crate) struct VisibleStoredEntry<'v, 's> {
    pub(crate) entry: EntryView<'v>,
    pub(crate) view: &'v View<'s>,
    pub(crate) rights: EntryRights<'v>,
    pub(crate) requester: RequesterRights<'v>,
    /// True if rights differ from entry to entry, so that the filter still contains hidden
    /// attributes.
    pub(crate) check: bool,
    /// True if rights differ from value to value.
    pub(crate) by_value: bool,
    pub(crate) groups: KnownGroupNames,
}

/// The groups of an entry that items of a filter asked for, each attribute computed once.
#[derive(Default)]
pub(crate) struct KnownGroupNames(RefCell<Vec<(AttributeIndex, Rc<ComputedValues>)>>);

impl KnownGroupNames {
    fn get(&self, attribute: AttributeIndex) -> Option<Rc<ComputedValues>> {
        let known = self.0.borrow();
        let known = known.iter().find(|(known, _)| *known == attribute);
        known.map(|(_, values)| Rc::clone(values))
    }
}

impl VisibleStoredEntry<'_, '_> {
    fn hides(&self, description: &AttributeDescription, value: Option<&[u8]>) -> bool {
        let rights = match value {
            Some(value) if self.by_value => self.rights.value(description, value),
            _ if self.check || self.by_value => self.rights.attribute(description),
            _ => return false,
        };
        !rights.allows(Rights::SEARCH)
    }

    /// Returns the values of a computed attribute; `None` if the store fails.
    fn computed_values(&self, computed: Computed) -> Option<Rc<ComputedValues>> {
        let Computed::Groups(attribute) = computed else {
            let values = computed.values(self.requester, self.view, self.entry.id());
            return values.ok().map(Rc::new);
        };
        if let Some(known) = self.groups.get(attribute) {
            return Some(known);
        }
        let values = computed.values(self.requester, self.view, self.entry.id());
        let values = values.ok().map(Rc::new)?;
        let mut known = self.groups.0.borrow_mut();
        known.push((attribute, Rc::clone(&values)));
        Some(values)
    }

    /// Visits the values of a computed attribute that may be searched.
    fn visit_computed(
        &self,
        computed: Computed,
        description: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        let Some(values) = self.computed_values(computed) else {
            return Truth::Undefined;
        };
        let mut truth = Truth::False;
        for value in values.as_slice() {
            if self.by_value && self.hides(description, Some(value)) {
                continue;
            }
            truth = truth.or(visit(value));
            if truth.is_true() {
                break;
            }
        }
        truth
    }

    /// Visits the values that may be searched.
    fn visit(&self, stored: &StoredSelector, visit: &mut dyn FnMut(&[u8]) -> Truth) -> Truth {
        if !self.check && !self.by_value {
            return FilterSubject::<StoredSelector>::values(&self.entry, stored, visit);
        }
        let mut truth = Truth::False;
        for &id in &stored.ids {
            let (Some(values), Some(info)) =
                (self.entry.values_of(id), self.view.attributes().get(id))
            else {
                continue;
            };
            let description = &info.description;
            let named = *description == stored.selector;
            if !self.by_value && !named && self.hides(description, None) {
                continue;
            }
            for value in values {
                if self.by_value && self.hides(description, Some(value)) {
                    continue;
                }
                truth = truth.or(visit(value));
                if truth.is_true() {
                    return truth;
                }
            }
        }
        truth
    }
}

impl FilterSubject<ValueSource> for VisibleStoredEntry<'_, '_> {
    fn values(&self, attribute: &ValueSource, visit: &mut dyn FnMut(&[u8]) -> Truth) -> Truth {
        match attribute {
            ValueSource::Hidden => Truth::Undefined,
            ValueSource::Stored(stored, asserted)
                if self.hides(&stored.selector, asserted.as_deref()) =>
            {
                Truth::Undefined
            }
            ValueSource::Stored(stored, _) => self.visit(stored, visit),
            ValueSource::Computed(_, description) if self.hides(description, None) => {
                Truth::Undefined
            }
            ValueSource::Computed(computed, description) => {
                self.visit_computed(*computed, description, visit)
            }
        }
    }

    fn present(&self, attribute: &ValueSource) -> Truth {
        match attribute {
            ValueSource::Hidden => Truth::Undefined,
            ValueSource::Stored(stored, _) if self.hides(&stored.selector, None) => {
                Truth::Undefined
            }
            ValueSource::Stored(stored, _) if !self.check && !self.by_value => {
                FilterSubject::<StoredSelector>::present(&self.entry, stored)
            }
            // Every entry has object classes, so their presence is no secret.
            ValueSource::Stored(stored, _)
                if stored.selector.attribute == self.view.schema().object_class_attribute() =>
            {
                Truth::True
            }
            ValueSource::Stored(stored, _) => self.visit(stored, &mut |_| Truth::True),
            ValueSource::Computed(_, description) if self.hides(description, None) => {
                Truth::Undefined
            }
            ValueSource::Computed(computed @ Computed::Groups(_), description) => {
                self.visit_computed(*computed, description, &mut |_| Truth::True)
            }
            ValueSource::Computed(..) => Truth::True,
        }
    }

    /// A filter item without an attribute sees only attributes that may be searched.
    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        FilterSubject::<StoredSelector>::all_values(&self.entry, &mut |attribute, value| {
            visit_searchable(&self.rights, attribute, value, visit)
        })
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        FilterSubject::<StoredSelector>::dn_values(&self.entry, &mut |attribute, value| {
            visit_searchable(&self.rights, attribute, value, visit)
        })
    }

    fn number(&self) -> Option<u64> {
        Some(self.entry.id().0)
    }
}
