//! Questions of rules about entries.

use fulgurite_ldap::Scope;
use fulgurite_schema::{AttributeDescription, AttributeSelector, Filter};

/// An entry that a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryRef<'n> {
    /// The target of the decision.
    Target,
    /// Another one, by the normal form of its name. It need not exist.
    Entry(&'n str),
}

/// Looks at entries on behalf of rules with `filter=`, `dnattr=`, `group=` and `set=`. No access
/// rule applies to it.
///
/// The owner of the entries implements it over the operation's snapshot. Rules and operation so see
/// the same entries. A failure of the store looks like a missing entry. Nothing is granted by it,
/// except by a rule with a negative filter.
pub trait Facts {
    /// Visits the values of just that attribute, without its subtypes; none for a missing entry.
    fn values(
        &self,
        of: EntryRef<'_>,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]),
    );

    /// Returns true if the attribute has this name, given in normal form, as a value. The syntax is
    /// DN or Name and Optional UID.
    fn lists(&self, of: EntryRef<'_>, attribute: &AttributeDescription, name: &str) -> bool;

    /// Returns true if the filter is True of the entry.
    fn matches(&self, of: EntryRef<'_>, filter: &Filter<AttributeSelector>) -> bool;

    /// Visits the values that a rule's search finds.
    fn search(&self, search: &RuleSearch<'_>, visit: &mut dyn FnMut(&[u8]));
}

/// A search that a rule with `set=` makes.
#[derive(Clone, Copy, Debug)]
pub struct RuleSearch<'q> {
    /// The name of the base in normal form.
    pub base: &'q str,
    /// The entries below the base that it covers.
    pub scope: Scope,
    /// It must be True of an entry.
    pub filter: &'q Filter<AttributeSelector>,
    /// The attributes to visit; empty for the normal forms of the entries' names.
    pub attributes: &'q [AttributeDescription],
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

    fn search(&self, _: &RuleSearch<'_>, _: &mut dyn FnMut(&[u8])) {}
}
