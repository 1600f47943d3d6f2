//! Looking up the attributes of a record by number, mostly in stored order.

use super::reader::{AttributeIter, Record};
use super::values::Values;
use crate::ids::AttributeId;

/// Finds attributes of a record. An attribute behind the last one found is reached by steps from
/// there, any other one from the start. So finding all of them in stored order is one pass.
pub(crate) struct InOrder<'a> {
    record: Record<'a>,
    /// The attributes behind the last one found.
    rest: AttributeIter<'a>,
}

impl<'a> InOrder<'a> {
    pub(crate) fn of(record: &Record<'a>) -> InOrder<'a> {
        InOrder {
            record: *record,
            rest: record.attributes(),
        }
    }

    /// Returns the values of an attribute.
    pub(crate) fn values(&mut self, id: AttributeId) -> Option<Values<'a>> {
        let mut ahead = self.rest.clone();
        if let Some((_, values)) = ahead.find(|(other, _)| *other == id) {
            self.rest = ahead;
            return Some(values);
        }
        self.record.values(id)
    }
}
