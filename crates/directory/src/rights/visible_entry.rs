//! An entry as a filter sees it on behalf of somebody: what may not be searched is not there.
//!
//! An item about an attribute that may not be searched is Undefined. Of the attributes that an item covers besides the
//! one it names, subtypes and forms with options, those that may not be searched are passed over.

use fulgurite_access::{EntryRights, Rights};
use fulgurite_schema::{
    Attribute, AttributeDescription, AttributeIndex, AttributeSelector, Entry, EntrySubject,
    FilterSubject, Schema, Truth,
};

/// An entry that is in no store, or a copy of one that is, seen with somebody's rights.
pub(crate) struct VisibleEntry<'e> {
    pub(crate) schema: &'e Schema,
    pub(crate) entry: &'e Entry,
    pub(crate) rights: EntryRights<'e>,
    /// The right that values are tested by: to search, or to authenticate.
    pub(crate) needed: Rights,
}

/// Visits a value, whatever attribute it is of, if it may be searched.
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
