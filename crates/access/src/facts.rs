//! What rules may have to know of entries.

use fulgurite_ldap::Scope;
use fulgurite_schema::{AttributeDescription, AttributeSelector, Filter};

/// An entry that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryRef<'n> {
    /// The one that is decided about.
    Target,
    /// Another one, by the normal form of its name. It need not exist.
    Entry(&'n str),
}

/// Looks at entries on behalf of rules with `filter=`, `dnattr=`, `group=` and `set=`. No access
/// rule applies to it.
///
/// Whoever keeps the entries implements it over the snapshot that the operation works on, so that
/// rules see what the operation sees. A failure of the store looks like an entry that is not there:
/// nothing is granted by it, unless by a rule whose negative filter asks for that.
pub trait Facts {
    /// Visits the values of just that attribute, without its subtypes; none for a missing entry.
    fn values(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    );

    /// Returns true if one of the values of an attribute of DN or Name-and-Optional-UID syntax is
    /// that name, given in normal form.
    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool;

    /// Returns true if the filter is True of the entry.
    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool;

    /// Visits the values of attributes of all entries in scope that the filter is True of; without
    /// attributes, the normal forms of their names.
    fn select(
        &self,
        base: &str,
        scope: Scope,
        filter: &Filter<AttributeSelector>,
        attributes: &[AttributeDescription],
        visit: &mut dyn FnMut(&[u8]),
    );
}

/// Knows no entries: where only names are decided about.
#[derive(Clone, Copy, Debug)]
pub struct NoFacts;

impl Facts for NoFacts {
    fn values(&self, _: EntryRef<'_>, _: &AttributeDescription, _: &mut dyn FnMut(&[u8])) {}

    fn lists(&self, _: EntryRef<'_>, _: &AttributeDescription, _: &str) -> bool {
        false
    }

    fn matches(&self, _: EntryRef<'_>, _: &Filter<AttributeSelector>) -> bool {
        false
    }

    fn select(
        &self,
        _: &str,
        _: Scope,
        _: &Filter<AttributeSelector>,
        _: &[AttributeDescription],
        _: &mut dyn FnMut(&[u8]),
    ) {
    }
}
