//! One change of an attribute.

use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::Attribute;

/// One change of an attribute, resolved and checked without a look at the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) operation: ModifyOperation,
    pub(crate) attribute: Attribute,
}

/// Returns the text for a missing attribute.
pub(crate) fn no_such_attribute(name: &str) -> String {
    debug_assert!(!name.is_empty(), "an attribute has a name");
    format!("modify/delete: {name}: no such attribute")
}

/// Returns the text for a missing value.
pub(crate) fn no_such_value(name: &str) -> String {
    debug_assert!(!name.is_empty(), "an attribute has a name");
    format!("modify/delete: {name}: no such value")
}
