//! One change of an attribute.

use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::Attribute;

/// One modification whose attribute and values are known to make sense by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) operation: ModifyOperation,
    pub(crate) attribute: Attribute,
}

/// Why nothing can be deleted of an attribute that is not there.
pub(crate) fn no_such_attribute(name: &str) -> String {
    format!("modify/delete: {name}: no such attribute")
}

/// Why a value cannot be deleted that the attribute does not have.
pub(crate) fn no_such_value(name: &str) -> String {
    format!("modify/delete: {name}: no such value")
}
