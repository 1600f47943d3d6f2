//! Moving the values of large attributes out of a record.

use crate::error::Damage;
use crate::ids::AttributeId;
use crate::record::{self, Record};

/// Attributes with more values than this overflow, unless a test sets another bound.
pub(crate) const INLINE_MAX: usize = 256;

/// A record without the values of its large attributes, and the numbers of these.
pub(crate) struct SplitRecord {
    pub(crate) record: Vec<u8>,
    pub(crate) attributes: Vec<AttributeId>,
}

/// Moves the attributes of more than `inline_max` values out of a record that contains them. `None`
/// if there is no such attribute. Overflow values stay where they are.
pub(crate) fn split(whole: &Record<'_>, inline_max: usize) -> Result<Option<SplitRecord>, Damage> {
    if whole.has_few_values(inline_max) {
        return Ok(None);
    }
    let attributes: Vec<AttributeId> = whole
        .attributes()
        .filter(|(_, values)| values.len() > inline_max && !values.are_overflow())
        .map(|(id, _)| id)
        .collect();
    if attributes.is_empty() {
        return Ok(None);
    }
    let record = record::without_values(whole, &attributes).ok_or(Damage::Record)?;
    Ok(Some(SplitRecord { record, attributes }))
}
