//! An entry as filters of access rules see it: with the groups that the database computes.

use std::rc::Rc;

use fulgurite_schema::{AttributeIndex, AttributeSelector, FilterSubject, Truth};

/// The names of groups; `None` if they cannot be read, so that no filter about them is true.
pub(crate) type KnownGroups = Option<Rc<[Vec<u8>]>>;

/// A subject with the groups of its entry.
pub(crate) struct WithGroups<'e, S> {
    pub(crate) subject: &'e S,
    /// Returns the groups that an attribute lists; `None` for an attribute that is not computed.
    pub(crate) groups: &'e dyn Fn(&AttributeSelector) -> Option<KnownGroups>,
}

impl<S: FilterSubject<AttributeSelector>> FilterSubject<AttributeSelector> for WithGroups<'_, S> {
    fn values(
        &self,
        attribute: &AttributeSelector,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        match (self.groups)(attribute) {
            None => self.subject.values(attribute, visit),
            Some(None) => Truth::Undefined,
            Some(Some(groups)) => {
                let truths = groups.iter().map(|group| visit(group));
                truths.fold(Truth::False, Truth::or)
            }
        }
    }

    fn present(&self, attribute: &AttributeSelector) -> Truth {
        match (self.groups)(attribute) {
            None => self.subject.present(attribute),
            Some(None) => Truth::Undefined,
            Some(Some(groups)) => (!groups.is_empty()).into(),
        }
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.subject.all_values(visit)
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.subject.dn_values(visit)
    }

    fn number(&self) -> Option<u64> {
        self.subject.number()
    }
}
