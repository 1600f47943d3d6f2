//! Keys derived from a password (`authPassword`). A new password removes them, or the old one would
//! still be valid.

use std::collections::HashSet;

use fulgurite_schema::{AttributeIndex, Entry};

use crate::core::foundation::Core;

/// Returns true if keys are derived from the values of the attribute, which are passwords.
pub(crate) fn derives_keys(core: &Core, attribute: AttributeIndex) -> bool {
    let schema = &core.schema;
    let password = schema.attribute_at(core.types.user_password.attribute);
    debug_assert!(
        password.subtypes.contains(&password.index),
        "a type is among its subtypes"
    );
    password.subtypes.contains(&attribute)
}

/// Returns the passwords of an entry, each with its attribute.
pub(crate) fn passwords(core: &Core, entry: &Entry) -> HashSet<(AttributeIndex, Vec<u8>)> {
    let attributes = entry.attributes.iter();
    let passwords = attributes.filter(|held| derives_keys(core, held.description.attribute));
    let values = passwords.flat_map(|held| {
        let attribute = held.description.attribute;
        held.values
            .iter()
            .map(move |value| (attribute, value.clone()))
    });
    values.collect()
}

/// Removes the derived keys from an entry, except those in `kept`.
pub(crate) fn drop_but(core: &Core, entry: &mut Entry, kept: &HashSet<&[u8]>) {
    let Some(keys) = &core.types.auth_password else {
        return;
    };
    entry.attributes.retain_mut(|held| {
        if held.description.attribute != keys.attribute {
            return true;
        }
        let before = held.values.len();
        held.values.retain(|value| kept.contains(value.as_slice()));
        debug_assert!(
            held.values.len() <= before.min(kept.len()),
            "values are distinct"
        );
        !held.values.is_empty()
    });
}
