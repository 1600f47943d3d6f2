//! Attributes of generated entries, set by name.

use fulgurite_schema::{AttributeDescription, Entry, Schema};

/// Sets an attribute, if the schema defines it.
pub(super) fn set(
    schema: &Schema,
    entry: &mut Entry,
    name: &str,
    values: impl IntoIterator<Item: AsRef<str>>,
) {
    if let Some(attribute) = schema.attribute(name) {
        let bytes = |value: &dyn AsRef<str>| value.as_ref().as_bytes().to_vec();
        let values = values.into_iter().map(|value| bytes(&value));
        let description = AttributeDescription::plain(attribute.index);
        entry.set(&description, values.collect());
    }
}
