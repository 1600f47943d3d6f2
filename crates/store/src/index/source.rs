//! The attribute values of which index keys are made.

use crate::attributes::AttributeTable;
use crate::record::Record;
use fulgurite_schema::{AttributeIndex, Entry};

/// A list of attribute values: of an entry that is being added, or of a record.
pub(crate) trait ValueSource {
    /// Calls `visit` for every value with its attribute type.
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]));
}

impl ValueSource for Entry {
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8])) {
        for attribute in &self.attributes {
            attribute
                .values
                .iter()
                .for_each(|value| visit(attribute.description.attribute, value));
        }
    }
}

/// A record with the types of its attributes.
pub(crate) struct TypedRecord<'a> {
    pub(crate) record: Record<'a>,
    pub(crate) table: &'a AttributeTable,
}

impl ValueSource for TypedRecord<'_> {
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8])) {
        for (id, values) in self.record.attributes() {
            let Some(info) = self.table.get(id) else {
                continue;
            };
            values
                .iter()
                .for_each(|value| visit(info.description.attribute, value));
        }
    }
}
