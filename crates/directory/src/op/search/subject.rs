//! An entry as a filter sees it on behalf of somebody: computed attributes are there, hidden ones are not.

use fulgurite_access::{Decisions, EntryRights, NoFacts, Rights};
use fulgurite_schema::{AttributeIndex, AttributeSelector, Filter, FilterSubject, Schema, Truth};
use fulgurite_store::{EntryView, StoredSelector, View};

use crate::computed::Computed;
use crate::known::Known;

/// Where the values of a filter item are.
#[derive(Clone, Debug)]
pub(crate) enum Selector {
    /// In the record.
    Stored(StoredSelector),
    /// They follow from the entry's place.
    Computed(Computed, AttributeIndex),
    /// Nobody tells: the item is Undefined.
    Hidden,
}

/// A filter prepared for the entries of one view.
#[derive(Debug)]
pub(crate) struct Tested {
    pub(crate) filter: Filter<Selector>,
    /// Whether it says of every entry what the filter as sent says of the record alone: then what the store
    /// calls exact is exact.
    pub(crate) plain: bool,
}

impl Tested {
    /// Prepares a filter. With decisions that are the same for every entry, what may not be searched is taken out here.
    pub(crate) fn new(
        filter: Filter<AttributeSelector>,
        known: &Known,
        view: &View<'_>,
        decisions: &Decisions<'_>,
    ) -> Tested {
        let mut plain = decisions.uniform();
        let rights = decisions.at("", &NoFacts);
        let filter = filter.map(&mut |selector: AttributeSelector| {
            if decisions.uniform() && !may_search(view.schema(), rights, selector.attribute) {
                plain = false;
                return Selector::Hidden;
            }
            if let Some(computed) = Computed::of(known, selector.attribute) {
                plain = false;
                return Selector::Computed(computed, selector.attribute);
            }
            let ids = view.attributes().covered(view.schema(), &selector);
            Selector::Stored(StoredSelector { selector, ids })
        });
        Tested { filter, plain }
    }
}

/// Searching a type searches its subtypes too, so it takes the right to all of them.
fn may_search(schema: &Schema, rights: EntryRights<'_>, attribute: AttributeIndex) -> bool {
    schema
        .attribute_at(attribute)
        .subtypes
        .iter()
        .all(|&subtype| rights.attribute_type(subtype).allows(Rights::SEARCH))
}

/// One entry, seen with somebody's rights.
pub(crate) struct Seen<'v, 's> {
    pub(crate) entry: EntryView<'v>,
    pub(crate) view: &'v View<'s>,
    pub(crate) rights: EntryRights<'v>,
    /// Whether rights differ from entry to entry, so that the filter was not prepared for them.
    pub(crate) check: bool,
}

impl Seen<'_, '_> {
    fn hides(&self, attribute: AttributeIndex) -> bool {
        self.check && !may_search(self.view.schema(), self.rights, attribute)
    }
}

impl FilterSubject<Selector> for Seen<'_, '_> {
    fn values(&self, attribute: &Selector, visit: &mut dyn FnMut(&[u8]) -> Truth) -> Truth {
        match attribute {
            Selector::Hidden => Truth::Undefined,
            Selector::Stored(stored) if self.hides(stored.selector.attribute) => Truth::Undefined,
            Selector::Stored(stored) => {
                FilterSubject::<StoredSelector>::values(&self.entry, stored, visit)
            }
            Selector::Computed(_, index) if self.hides(*index) => Truth::Undefined,
            Selector::Computed(computed, _) => match computed.value(self.view, self.entry.id()) {
                Ok(value) => visit(&value),
                Err(_) => Truth::Undefined,
            },
        }
    }

    fn present(&self, attribute: &Selector) -> Truth {
        match attribute {
            Selector::Hidden => Truth::Undefined,
            Selector::Stored(stored) if self.hides(stored.selector.attribute) => Truth::Undefined,
            Selector::Stored(stored) => {
                FilterSubject::<StoredSelector>::present(&self.entry, stored)
            }
            Selector::Computed(_, index) if self.hides(*index) => Truth::Undefined,
            Selector::Computed(..) => Truth::True,
        }
    }

    /// A filter that names no attribute looks at those the asker may search, as if there were no others.
    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        let rights = self.rights;
        FilterSubject::<StoredSelector>::all_values(&self.entry, &mut |attribute, value| {
            if !rights.attribute_type(attribute).allows(Rights::SEARCH) {
                return Truth::False;
            }
            visit(attribute, value)
        })
    }

    fn number(&self) -> Option<u64> {
        Some(self.entry.id().0)
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        let rights = self.rights;
        FilterSubject::<StoredSelector>::dn_values(&self.entry, &mut |attribute, value| {
            if !rights.attribute_type(attribute).allows(Rights::SEARCH) {
                return Truth::False;
            }
            visit(attribute, value)
        })
    }
}
