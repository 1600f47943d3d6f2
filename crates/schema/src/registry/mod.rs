//! The schema: attribute types and object classes by number, name and OID.

mod attribute_type;
mod builder;
mod object_class;

use std::borrow::Cow;
use std::sync::Arc;

pub use attribute_type::{AttributeIndex, AttributeType, Usage};
pub use builder::{Builtin, SchemaBuilder, SchemaError};
pub use object_class::{ClassKind, ObjectClass, ObjectClassIndex};

use crate::check::{CheckOptions, CheckedEntry, SchemaViolation};
use crate::description::{AttributeDescription, DescriptionError};
use crate::entry::Entry;

/// Everything the directory knows about attributes and classes. Immutable; share it in an `Arc`.
#[derive(Debug)]
pub struct Schema {
    attributes: Vec<AttributeType>,
    classes: Vec<ObjectClass>,
}

impl Schema {
    /// The system schema with core, cosine, inetorgperson and nis (RFC 2307).
    #[must_use]
    pub fn standard() -> Arc<Schema> {
        todo!()
    }

    /// An attribute type by name or OID, in any case. No allocation.
    #[must_use]
    pub fn attribute(&self, _name_or_oid: &str) -> Option<&AttributeType> {
        todo!()
    }

    /// The attribute type at an index of this schema.
    ///
    /// # Panics
    /// When the index comes from another, larger schema.
    #[must_use]
    pub fn attribute_at(&self, index: AttributeIndex) -> &AttributeType {
        &self.attributes[index.0 as usize]
    }

    /// All attribute types, by index.
    #[must_use]
    pub fn attributes(&self) -> &[AttributeType] {
        &self.attributes
    }

    /// An object class by name or OID, in any case. No allocation.
    #[must_use]
    pub fn object_class(&self, _name_or_oid: &str) -> Option<&ObjectClass> {
        todo!()
    }

    /// The object class at an index of this schema.
    ///
    /// # Panics
    /// When the index comes from another, larger schema.
    #[must_use]
    pub fn object_class_at(&self, index: ObjectClassIndex) -> &ObjectClass {
        &self.classes[index.0 as usize]
    }

    /// All object classes, by index.
    #[must_use]
    pub fn object_classes(&self) -> &[ObjectClass] {
        &self.classes
    }

    /// Parses an attribute description, e.g. `cn;lang-de`.
    ///
    /// # Errors
    /// [`DescriptionError`] for an unknown type or a malformed text.
    pub fn describe(&self, text: &[u8]) -> Result<AttributeDescription, DescriptionError> {
        AttributeDescription::parse(self, text)
    }

    /// Normal form of a value under its attribute's equality rule; the value itself when the type has none;
    /// `None` when the value is invalid.
    #[must_use]
    pub fn normal_value<'v>(
        &self,
        attribute: AttributeIndex,
        value: &'v [u8],
    ) -> Option<Cow<'v, [u8]>> {
        match self.attribute_at(attribute).equality {
            None => Some(Cow::Borrowed(value)),
            Some(rule) => rule.normalise(self, value).ok(),
        }
    }

    /// The normal forms (under objectIdentifierMatch) of the class and of every class derived from it: an
    /// entry whose objectClass holds one of them is of this class. `None` for an unknown class.
    #[must_use]
    pub fn class_closure(&self, _name_or_oid: &str) -> Option<Vec<&str>> {
        todo!()
    }

    /// Checks a whole entry against the schema.
    ///
    /// # Errors
    /// The first [`SchemaViolation`] found.
    pub fn check(
        &self,
        entry: Entry,
        options: &CheckOptions,
    ) -> Result<CheckedEntry, SchemaViolation> {
        crate::check::check(self, entry, options)
    }
}
