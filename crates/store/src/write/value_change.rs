//! A change of single values of an attribute.

use fulgurite_schema::AttributeDescription;

/// A change of single [overflow values](crate::Values::are_overflow) of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// The attribute.
    pub description: AttributeDescription,
    /// Stored values, in any spelling. They are removed first.
    pub removed: Vec<Vec<u8>>,
    /// Values that are not stored, in their order.
    pub added: Vec<Vec<u8>>,
}
