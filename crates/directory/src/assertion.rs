//! The assertion control (RFC 4528): whether its filter is true of an entry, as far as the client may know.

use fulgurite_access::{EntryRights, Level};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{
    AttributeIndex, AttributeSelector, Entry, EntrySubject, Filter, FilterSubject, Schema, Truth,
};

use crate::answer::Answer;

/// Refuses unless the filter is true of the entry, which has its computed attributes.
pub(crate) fn require(
    schema: &Schema,
    rights: EntryRights<'_>,
    entry: &Entry,
    filter: &Filter<AttributeSelector>,
) -> Answer {
    let judged = Judged {
        schema,
        rights,
        subject: EntrySubject { schema, entry },
    };
    if filter.test(schema, &judged).is_true() {
        Ok(())
    } else {
        Err(LdapResult::new(ResultCode::AssertionFailed))
    }
}

/// An entry of which only that can be said which the client could find out by searching.
struct Judged<'a> {
    schema: &'a Schema,
    rights: EntryRights<'a>,
    subject: EntrySubject<'a>,
}

impl Judged<'_> {
    /// Asking for a type asks for its subtypes too, so it takes the right to all of them.
    fn hides(&self, attribute: AttributeIndex) -> bool {
        let subtypes = &self.schema.attribute_at(attribute).subtypes;
        let hidden = |&subtype: &AttributeIndex| self.rights.attribute(subtype) < Level::Search;
        subtypes.iter().any(hidden)
    }
}

impl FilterSubject<AttributeSelector> for Judged<'_> {
    fn values(
        &self,
        attribute: &AttributeSelector,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        if self.hides(attribute.attribute) {
            return Truth::Undefined;
        }
        self.subject.values(attribute, visit)
    }

    fn present(&self, attribute: &AttributeSelector) -> Truth {
        if self.hides(attribute.attribute) {
            return Truth::Undefined;
        }
        self.subject.present(attribute)
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.subject.all_values(&mut |attribute, value| {
            if self.rights.attribute(attribute) < Level::Search {
                return Truth::False;
            }
            visit(attribute, value)
        })
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.subject.dn_values(&mut |attribute, value| {
            if self.rights.attribute(attribute) < Level::Search {
                return Truth::False;
            }
            visit(attribute, value)
        })
    }
}
