//! An entry in memory as a filter sees it with the requester's rights.
//!
//! A filter item about an attribute that may not be searched is Undefined. Hidden subtypes and
//! hidden forms with options are skipped.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_schema::{
    Attribute, AttributeDescription, AttributeIndex, AttributeSelector, Entry, EntrySubject,
    FilterSubject, Schema, Truth,
};

/// A generated entry, or a copy of a stored one, with the requester's rights.
pub(crate) struct VisibleEntry<'e> {
    pub(crate) schema: &'e Schema,
    pub(crate) entry: &'e Entry,
    pub(crate) rights: EntryRights<'e>,
    /// The right that a test of values needs: search or auth.
    pub(crate) needed: Rights,
}

/// Visits a value of any attribute if it may be searched.
pub(crate) fn visit_searchable(
    rights: &EntryRights<'_>,
    attribute: AttributeIndex,
    value: &[u8],
    visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth,
) -> Truth {
    let description = AttributeDescription::plain(attribute);
    if rights.value(&description, value).allows(Rights::SEARCH) {
        visit(attribute, value)
    } else {
        Truth::False
    }
}

impl VisibleEntry<'_> {
    fn whole(&self) -> EntrySubject<'_> {
        EntrySubject {
            schema: self.schema,
            entry: self.entry,
        }
    }

    fn hides(&self, description: &AttributeDescription) -> bool {
        !self.rights.attribute(description).allows(self.needed)
    }

    fn shows(&self, held: &Attribute, value: &[u8]) -> bool {
        let rights = self.rights.value(&held.description, value);
        rights.allows(self.needed)
    }

    fn covered<'a>(
        &'a self,
        asked: &'a AttributeDescription,
    ) -> impl Iterator<Item = &'a Attribute> + 'a {
        self.entry.attributes.iter().filter(move |held| {
            let held = &held.description;
            asked.covers(self.schema, held) && (held == asked || !self.hides(held))
        })
    }
}

impl FilterSubject<AttributeSelector> for VisibleEntry<'_> {
    fn values(
        &self,
        attribute: &AttributeSelector,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        if self.hides(attribute) {
            return Truth::Undefined;
        }
        let mut truth = Truth::False;
        for held in self.covered(attribute) {
            for value in held.values.iter().filter(|value| self.shows(held, value)) {
                truth = truth.or(visit(value));
                if truth.is_true() {
                    return truth;
                }
            }
        }
        truth
    }

    fn present(&self, attribute: &AttributeSelector) -> Truth {
        if self.hides(attribute) {
            return Truth::Undefined;
        }
        if attribute.attribute == self.schema.object_class_attribute() {
            return Truth::True;
        }
        let mut covered = self.covered(attribute);
        covered
            .any(|held| held.values.iter().any(|value| self.shows(held, value)))
            .into()
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.whole().all_values(&mut |attribute, value| {
            visit_searchable(&self.rights, attribute, value, visit)
        })
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.whole().dn_values(&mut |attribute, value| {
            visit_searchable(&self.rights, attribute, value, visit)
        })
    }
}
