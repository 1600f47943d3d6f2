//! Testing filters against records: attributes by number, no entry decoded.

use super::entry::{AttributeView, EntryView};
use super::state::View;
use crate::ids::AttributeId;
use crate::names::DnCache;
use fulgurite::Snapshot;
use fulgurite_schema::{
    AttributeIndex, AttributeSelector, Dn, Filter, FilterSubject, Truth, visit_dn,
};

/// The descriptions that a filter's attribute covers. Made by [`compile_filter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSelector {
    /// The attribute of the filter.
    pub selector: AttributeSelector,
    /// Numbers of the covered descriptions, ascending.
    pub ids: Box<[AttributeId]>,
}

/// Prepares a filter for tests of many entries of a view; [`EntryView`] is a subject of it. Prepare
/// it again after the view has been refreshed: it lacks attributes that are new to the store.
#[must_use]
pub fn compile_filter<T: Snapshot>(
    view: &View<'_, T>,
    filter: Filter<AttributeSelector>,
) -> Filter<StoredSelector> {
    filter.map(&mut |selector: AttributeSelector| {
        let ids = view.attributes().covered(view.schema(), &selector);
        StoredSelector { selector, ids }
    })
}

impl FilterSubject<StoredSelector> for EntryView<'_> {
    fn values(&self, attribute: &StoredSelector, visit: &mut dyn FnMut(&[u8]) -> Truth) -> Truth {
        self.visit(&attribute.ids, visit)
    }

    fn present(&self, attribute: &StoredSelector) -> Truth {
        attribute
            .ids
            .iter()
            .any(|id| self.values_of(*id).is_some_and(|v| !v.is_empty()))
            .into()
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        let mut truth = Truth::False;
        for attribute in self.attributes() {
            for value in attribute.values {
                truth = truth.or(visit(attribute.info.description.attribute, value));
                if truth.is_true() {
                    return truth;
                }
            }
        }
        truth
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        let mut text = String::new();
        let name = self
            .write_dn(&mut DnCache::new(), &mut text)
            .ok()
            .and_then(|()| Dn::parse(self.schema, &text).ok());
        let Some(name) = name else {
            return Truth::Undefined;
        };
        visit_dn(&name, visit)
    }

    fn number(&self) -> Option<u64> {
        Some(self.id.0)
    }
}

impl FilterSubject<AttributeSelector> for EntryView<'_> {
    fn values(
        &self,
        attribute: &AttributeSelector,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        self.visit(&self.attributes.covered(self.schema, attribute), visit)
    }

    fn present(&self, attribute: &AttributeSelector) -> Truth {
        let covered = |a: AttributeView<'_>| attribute.covers(self.schema, &a.info.description);
        self.attributes()
            .any(|a| !a.values.is_empty() && covered(a))
            .into()
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        FilterSubject::<StoredSelector>::all_values(self, visit)
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        FilterSubject::<StoredSelector>::dn_values(self, visit)
    }

    fn number(&self) -> Option<u64> {
        Some(self.id.0)
    }
}
