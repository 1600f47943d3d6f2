//! The schema: attribute types and object classes by number, name and OID.

use std::borrow::Cow;

use super::attribute_type::{AttributeIndex, AttributeType};
use super::content_rule::ContentRule;
use super::error::SchemaError;
use super::name_table::NameTable;
use super::object_class::{ObjectClass, ObjectClassIndex};
use crate::matching::MatchingRule;
use crate::syntax::Syntax;

/// Everything the directory knows about attributes and classes. Immutable; share it in an `Arc`.
#[derive(Debug)]
pub struct Schema {
    pub(super) parts: Parts,
    /// Attribute options, lower case; one that ends in `-` is a prefix.
    options: Vec<String>,
    object_class_attribute: AttributeIndex,
    top: ObjectClassIndex,
    extensible_object: ObjectClassIndex,
}

/// Resolved definitions.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) attributes: Vec<AttributeType>,
    pub(super) attribute_names: NameTable,
    pub(super) classes: Vec<ObjectClass>,
    pub(super) class_names: NameTable,
    pub(super) content_rules: Vec<ContentRule>,
    /// Texts of the syntaxes that files define.
    pub(super) defined_syntaxes: Vec<String>,
    /// Texts of the name forms, which are published and not enforced.
    pub(super) name_forms: Vec<String>,
    /// Texts of the structure rules, which are published and not enforced.
    pub(super) structure_rules: Vec<String>,
}

impl Schema {
    /// Puts a schema together from resolved definitions.
    pub(super) fn assemble(parts: Parts, options: Vec<String>) -> Result<Schema, SchemaError> {
        let missing = |what: &str| SchemaError::Definition {
            origin: "system".to_owned(),
            line: 0,
            reason: format!("'{what}' is not defined"),
        };
        let class = |name: &str| {
            let number = parts.class_names.get(name.as_bytes());
            number.map(ObjectClassIndex).ok_or_else(|| missing(name))
        };
        let object_class = parts.attribute_names.get(b"objectClass");
        Ok(Schema {
            object_class_attribute: object_class
                .map(AttributeIndex)
                .ok_or_else(|| missing("objectClass"))?,
            top: class("top")?,
            extensible_object: class("extensibleObject")?,
            parts,
            options,
        })
    }

    /// Returns an attribute type by name or OID, in any case. No allocation.
    #[must_use]
    pub fn attribute(&self, name_or_oid: &str) -> Option<&AttributeType> {
        self.attribute_by_bytes(name_or_oid.as_bytes())
    }

    /// Returns the attribute type as [`attribute`](Self::attribute) does, for a name that need not
    /// be UTF-8.
    #[must_use]
    pub fn attribute_by_bytes(&self, name_or_oid: &[u8]) -> Option<&AttributeType> {
        self.parts
            .attribute_names
            .get(name_or_oid)
            .and_then(|number| self.parts.attributes.get(number as usize))
    }

    /// Returns the attribute type at an index of this schema.
    ///
    /// # Panics
    /// When the index comes from another, larger schema.
    #[must_use]
    pub fn attribute_at(&self, index: AttributeIndex) -> &AttributeType {
        &self.parts.attributes[index.0 as usize]
    }

    /// Returns all attribute types, by index.
    #[must_use]
    pub fn attributes(&self) -> &[AttributeType] {
        &self.parts.attributes
    }

    /// Returns the index of objectClass.
    #[must_use]
    pub fn object_class_attribute(&self) -> AttributeIndex {
        self.object_class_attribute
    }

    /// Returns an object class by name or OID, in any case. No allocation.
    #[must_use]
    pub fn object_class(&self, name_or_oid: &str) -> Option<&ObjectClass> {
        self.object_class_by_bytes(name_or_oid.as_bytes())
    }

    /// Returns the class as [`object_class`](Self::object_class) does, for a value of objectClass,
    /// which need not be UTF-8.
    #[must_use]
    pub fn object_class_by_bytes(&self, name_or_oid: &[u8]) -> Option<&ObjectClass> {
        self.parts
            .class_names
            .get(name_or_oid)
            .and_then(|number| self.parts.classes.get(number as usize))
    }

    /// Returns the object class at an index of this schema.
    ///
    /// # Panics
    /// When the index comes from another, larger schema.
    #[must_use]
    pub fn object_class_at(&self, index: ObjectClassIndex) -> &ObjectClass {
        &self.parts.classes[index.0 as usize]
    }

    /// Returns all object classes, by index.
    #[must_use]
    pub fn object_classes(&self) -> &[ObjectClass] {
        &self.parts.classes
    }

    /// Returns the class every entry is of.
    #[must_use]
    pub fn top(&self) -> ObjectClassIndex {
        self.top
    }

    /// Returns the class that allows every user attribute.
    #[must_use]
    pub fn extensible_object(&self) -> ObjectClassIndex {
        self.extensible_object
    }

    /// Returns true if an attribute option, in lower case, is valid on this server. Valid options
    /// are language tags (RFC 3866), `binary` (RFC 4522), and options named when the schema was
    /// built. `lang-` alone is a range, for selecting.
    #[must_use]
    pub fn knows_option(&self, option: &str) -> bool {
        option == "binary"
            || option.starts_with("lang-")
            || self
                .options
                .iter()
                .any(|known| option == known || (known.ends_with('-') && option.starts_with(known)))
    }

    /// Returns the normal form of a value under its attribute's equality rule. It is the value
    /// itself if the type has no rule, and `None` if the value is invalid.
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

    /// Returns the normal forms (under objectIdentifierMatch) of the class and of every class
    /// derived from it. An entry whose objectClass holds one of them is of this class. `None` for
    /// an unknown class.
    #[must_use]
    pub fn class_closure(&self, name_or_oid: &str) -> Option<Vec<&str>> {
        let class = self.object_class(name_or_oid)?;
        Some(
            class
                .subclasses
                .iter()
                .map(|&sub| self.object_class_at(sub).oid.as_str())
                .collect(),
        )
    }

    /// Returns the numeric OID of a class, attribute type or matching rule. A name may mean
    /// different things in different places; classes come first because objectClass is where names
    /// are values.
    pub(crate) fn oid_of(&self, name: &str) -> Option<&str> {
        if let Some(class) = self.object_class(name) {
            return Some(&class.oid);
        }
        if let Some(attribute) = self.attribute(name) {
            return Some(&attribute.oid);
        }
        MatchingRule::find(name).map(|rule| rule.oid)
    }

    /// Returns the content rule of a structural class.
    pub(crate) fn content_rule(&self, class: ObjectClassIndex) -> Option<&ContentRule> {
        self.parts
            .content_rules
            .iter()
            .find(|rule| rule.class == class)
    }

    /// Returns a built-in syntax by OID; the same as [`Syntax::find`].
    #[must_use]
    pub fn syntax(&self, oid: &str) -> Option<&'static Syntax> {
        Syntax::find(oid)
    }
}
