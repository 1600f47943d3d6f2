//! An entry as a filter sees it on behalf of somebody: computed attributes are there, hidden ones are not.
//!
//! An item about an attribute that may not be searched is Undefined; so is one that asserts a value which may not. Of
//! what an item covers besides the attribute it names (subtypes, forms with options), and of single values, those that
//! may not be searched are passed over.

use std::collections::VecDeque;

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Filter, FilterSubject, Schema, Truth,
};
use fulgurite_store::{AttributeId, EntryView, StoredSelector, View};

use crate::core::foundation::Core;
use crate::rights::computed::{Computed, RequesterRights};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::visible_entry::visit_searchable;

/// Where the values of a filter item are.
#[derive(Clone, Debug)]
pub(crate) enum ValueSource {
    /// In the record. The value asserted, where single values may be hidden.
    Stored(StoredSelector, Option<Box<[u8]>>),
    /// They follow from the entry's place.
    Computed(Computed, AttributeDescription),
    /// Nobody tells: the item is Undefined.
    Hidden,
}

/// A filter prepared for the entries of one view.
#[derive(Debug)]
pub(crate) struct PreparedFilter {
    /// None until a candidate has to be tested.
    filter: Option<Filter<ValueSource>>,
    /// Whether it says of every entry what the filter as sent says of the record alone: then what the store
    /// calls exact is exact.
    pub(crate) plain: bool,
}

impl PreparedFilter {
    /// Looks at a filter; prepares it unless what the store finds by it needs no test in all likelihood.
    pub(crate) fn new(
        filter: &Filter<AttributeSelector>,
        core: &Core,
        view: &View<'_>,
        decisions: &Decisions<'_>,
    ) -> PreparedFilter {
        let facts = EntryFacts::new(core, view, EntrySource::Missing);
        if let Filter::Equality(assertion) = filter
            && decisions.uniform()
            && !decisions.by_value()
            && Computed::of(&core.types, assertion.attribute.attribute).is_none()
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
        PreparedFilter::prepared(filter.clone(), core, view, decisions)
    }

    /// The filter, prepared: `source` is what this was made of.
    pub(crate) fn prepare(
        &mut self,
        source: &Filter<AttributeSelector>,
        core: &Core,
        view: &View<'_>,
        decisions: &Decisions<'_>,
    ) {
        if self.filter.is_none() {
            *self = PreparedFilter::prepared(source.clone(), core, view, decisions);
        }
    }

    /// Whether an entry matches; not unless it has been prepared.
    pub(crate) fn admits(&self, schema: &Schema, seen: &VisibleStoredEntry<'_, '_>) -> bool {
        let filter = self.filter.as_ref();
        filter.is_some_and(|filter| filter.test(schema, seen).is_true())
    }

    /// With decisions that are the same for every entry, what may not be searched is taken out here.
    fn prepared(
        filter: Filter<AttributeSelector>,
        core: &Core,
        view: &View<'_>,
        decisions: &Decisions<'_>,
    ) -> PreparedFilter {
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
            // A value that may not be asserted is hidden although the attribute is not, and the other way round.
            if !decisions.by_value() && !may_search(&selector) {
                plain = false;
                return ValueSource::Hidden;
            }
            if let Some(computed) = Computed::of(&core.types, selector.attribute) {
                plain = false;
                if !computed.may_be_told(decisions) {
                    return ValueSource::Hidden;
                }
                return ValueSource::Computed(computed, selector);
            }
            let covered = view.attributes().covered(view.schema(), &selector);
            let all = covered.len();
            let projection = covered.iter().copied().filter(|id| {
                let info = view.attributes().get(*id);
                decisions.by_value() || info.is_some_and(|info| may_search(&info.description))
            });
            let ids: Box<[AttributeId]> = projection.collect();
            plain &= ids.len() == all;
            ValueSource::Stored(StoredSelector { selector, ids }, value)
        });
        PreparedFilter {
            filter: Some(filter),
            plain,
        }
    }
}

/// The values that items assert, in the order in which [`Filter::map`] visits their selectors.
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

/// One entry, seen with somebody's rights.
pub(crate) struct VisibleStoredEntry<'v, 's> {
    pub(crate) entry: EntryView<'v>,
    pub(crate) view: &'v View<'s>,
    pub(crate) rights: EntryRights<'v>,
    pub(crate) requester: RequesterRights<'v>,
    /// Whether rights differ from entry to entry, so that the filter was not prepared for them.
    pub(crate) check: bool,
    /// Whether they differ from value to value.
    pub(crate) by_value: bool,
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
            ValueSource::Computed(computed, _) => {
                match computed.value(self.requester, self.view, self.entry.id()) {
                    Ok(value) => visit(&value),
                    Err(_) => Truth::Undefined,
                }
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
            // Every entry has classes: that there are some is no secret, whichever of them are.
            ValueSource::Stored(stored, _)
                if stored.selector.attribute == self.view.schema().object_class_attribute() =>
            {
                Truth::True
            }
            ValueSource::Stored(stored, _) => self.visit(stored, &mut |_| Truth::True),
            ValueSource::Computed(_, description) if self.hides(description, None) => {
                Truth::Undefined
            }
            ValueSource::Computed(..) => Truth::True,
        }
    }

    /// A filter that names no attribute looks at those the asker may search, as if there were no others.
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
