//! The bind state of an entry: the values that binds change, in a separate row.
//!
//! ```text
//! record        the values that updates wrote, also of these attributes
//! bind_state    id -> a record without a name: the values that binds made of them; no values hide those above
//! ```
//!
//! A bind writes this small row and nothing else: no record, no index, no log. Readers see the
//! entry with the values of the row. An update that gives an attribute other values writes the
//! record, and the row loses the attribute.

use fulgurite_schema::{AttributeDescription, Schema};

/// The attribute types of which binds change the values, without options.
pub const BIND_STATE_ATTRIBUTES: [&str; 6] = [
    "pwdAccountLockedTime",
    "pwdFailureTime",
    "pwdGraceUseTime",
    "pwdLastSuccess",
    "pwdAccountTmpLockoutEnd",
    "authTimestamp",
];

/// Returns true if binds change the values of a description.
pub(crate) fn holds(schema: &Schema, description: &AttributeDescription) -> bool {
    let name = schema.attribute_at(description.attribute).name();
    let mut names = BIND_STATE_ATTRIBUTES.iter();
    description.options().is_none() && names.any(|of_binds| name.eq_ignore_ascii_case(of_binds))
}
