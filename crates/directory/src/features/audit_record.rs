//! The content of a record of the log of changes, for each form of it.

use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::Attribute;

use crate::core::connection::Connection;
use crate::request::change::Change;

/// The first lines of a record.
pub(crate) struct RecordHeader<'r> {
    /// `add`, `modify`, `modrdn` or `delete`.
    pub(crate) operation: &'static str,
    /// The time in seconds since 1970.
    pub(crate) seconds: u64,
    /// The time as text (RFC 3339).
    pub(crate) time: String,
    pub(crate) suffix: &'r str,
    pub(crate) author: &'r str,
    /// The connection and its authenticated name; `None` for a change by the server itself.
    pub(crate) connection: Option<(&'r Connection, &'r str)>,
    pub(crate) dn: &'r str,
}

/// The part of a record that its operation decides.
pub(crate) enum AuditBody<'r> {
    /// The attributes of a new entry.
    Add(&'r [Attribute]),
    /// Changes in their order.
    Modify(Vec<&'r Change>),
    /// A new name.
    Rename {
        new_rdn: &'r str,
        delete_old_rdn: bool,
        new_superior: Option<&'r str>,
    },
    Delete,
}

/// Returns the word for a change in both forms of the log.
pub(super) const fn operation_name(operation: ModifyOperation) -> &'static str {
    match operation {
        ModifyOperation::Add => "add",
        ModifyOperation::Delete => "delete",
        ModifyOperation::Replace => "replace",
        ModifyOperation::Increment => "increment",
    }
}
