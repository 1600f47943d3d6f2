//! Hashes by which single values are found among many.

use crate::attributes::AttributeTable;
use crate::bytes::stable_hash;
use crate::error::Damage;
use crate::ids::AttributeId;
use crate::record::Record;
use fulgurite_schema::{AttributeDescription, AttributeIndex, Schema};

/// Returns the hash of a value's normal form: values are equal if their normal forms are.
pub(crate) fn hash(schema: &Schema, attribute: AttributeIndex, value: &[u8]) -> u64 {
    match schema.normal_value(attribute, value) {
        Some(normal) => stable_hash(&normal),
        None => stable_hash(value),
    }
}

/// Returns the values of one attribute of a record with their hashes.
pub(crate) fn hashed<'r>(
    schema: &'r Schema,
    table: &AttributeTable,
    record: &Record<'r>,
    number: AttributeId,
) -> Result<impl Iterator<Item = (u64, &'r [u8])> + use<'r>, Damage> {
    let info = table.get(number).ok_or(Damage::Attribute)?;
    let attribute = info.description.attribute;
    let values = record.values(number).ok_or(Damage::Record)?;
    Ok(values
        .into_iter()
        .map(move |value| (hash(schema, attribute, value), value)))
}

/// Returns a test for values that equal `value` under the attribute's equality rule.
pub(crate) fn same_as<'v>(
    schema: &'v Schema,
    description: &AttributeDescription,
    value: &'v [u8],
) -> impl FnMut(&[u8]) -> bool + use<'v> {
    let attribute = description.attribute;
    let normal = schema.normal_value(attribute, value);
    move |held| match &normal {
        Some(normal) => schema.normal_value(attribute, held).as_ref() == Some(normal),
        None => held == value,
    }
}
