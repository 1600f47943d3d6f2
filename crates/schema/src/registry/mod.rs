//! The schema: attribute types and object classes by number, name and OID.

mod attribute_type;
mod attributes;
mod builder;
mod classes;
mod forms;
mod names;
mod object_class;
mod publish;
mod resolve;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub use attribute_type::{AttributeIndex, AttributeType, Usage};
pub use builder::{SchemaBuilder, SchemaError};
pub(crate) use classes::ContentRule;
use forms::Forms;
pub use object_class::{ClassKind, ObjectClass, ObjectClassIndex};

use crate::check::{CheckOptions, CheckedEntry, SchemaViolation};
use crate::description::{AttributeDescription, DescriptionError};
use crate::entry::Entry;
use crate::matching::MatchingRule;
use crate::syntax::Syntax;
use names::Names;

/// Everything the directory knows about attributes and classes. Immutable; share it in an `Arc`.
#[derive(Debug)]
pub struct Schema {
    attributes: Vec<AttributeType>,
    attribute_names: Names,
    classes: Vec<ObjectClass>,
    class_names: Names,
    content_rules: Vec<ContentRule>,
    /// Texts of the syntaxes that files define.
    defined_syntaxes: Vec<String>,
    /// Texts of name forms and structure rules: published, not enforced.
    forms: Forms,
    /// Attribute options, lower case; one that ends in `-` is a prefix.
    options: Vec<String>,
    object_class_attribute: AttributeIndex,
    top: ObjectClassIndex,
    extensible_object: ObjectClassIndex,
}

impl Schema {
    /// The system schema with core, cosine, inetorgperson and nis (RFC 2307). Built once per process.
    #[must_use]
    pub fn standard() -> Arc<Schema> {
        static STANDARD: OnceLock<Arc<Schema>> = OnceLock::new();
        let build = || match SchemaBuilder::standard().build() {
            Ok(schema) => Arc::new(schema),
            Err(error) => unreachable!("the built-in schema does not resolve: {error}"),
        };
        Arc::clone(STANDARD.get_or_init(build))
    }

    fn assemble(
        attributes: Vec<AttributeType>,
        attribute_names: Names,
        classes: Vec<ObjectClass>,
        class_names: Names,
        content_rules: Vec<ContentRule>,
        defined_syntaxes: Vec<String>,
        forms: Forms,
    ) -> Result<Schema, SchemaError> {
        let missing = |what: &str| SchemaError::Definition {
            origin: "system".to_owned(),
            line: 0,
            reason: format!("'{what}' is not defined"),
        };
        let class = |name: &str| {
            class_names
                .get(name.as_bytes())
                .map(ObjectClassIndex)
                .ok_or_else(|| missing(name))
        };
        Ok(Schema {
            object_class_attribute: AttributeIndex(
                attribute_names
                    .get(b"objectClass")
                    .ok_or_else(|| missing("objectClass"))?,
            ),
            top: class("top")?,
            extensible_object: class("extensibleObject")?,
            attributes,
            attribute_names,
            classes,
            class_names,
            content_rules,
            defined_syntaxes,
            forms,
            options: Vec::new(),
        })
    }

    /// An attribute type by name or OID, in any case. No allocation.
    #[must_use]
    pub fn attribute(&self, name_or_oid: &str) -> Option<&AttributeType> {
        self.attribute_by_octets(name_or_oid.as_bytes())
    }

    /// [`attribute`](Self::attribute) for a name that need not be UTF-8.
    #[must_use]
    pub fn attribute_by_octets(&self, name_or_oid: &[u8]) -> Option<&AttributeType> {
        self.attribute_names
            .get(name_or_oid)
            .and_then(|number| self.attributes.get(number as usize))
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

    /// The index of objectClass.
    #[must_use]
    pub fn object_class_attribute(&self) -> AttributeIndex {
        self.object_class_attribute
    }

    /// An object class by name or OID, in any case. No allocation.
    #[must_use]
    pub fn object_class(&self, name_or_oid: &str) -> Option<&ObjectClass> {
        self.object_class_by_octets(name_or_oid.as_bytes())
    }

    /// [`object_class`](Self::object_class) for a value of objectClass, which need not be UTF-8.
    #[must_use]
    pub fn object_class_by_octets(&self, name_or_oid: &[u8]) -> Option<&ObjectClass> {
        self.class_names
            .get(name_or_oid)
            .and_then(|number| self.classes.get(number as usize))
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

    /// The class every entry is of.
    #[must_use]
    pub fn top(&self) -> ObjectClassIndex {
        self.top
    }

    /// The class that allows every user attribute.
    #[must_use]
    pub fn extensible_object(&self) -> ObjectClassIndex {
        self.extensible_object
    }

    /// Parses an attribute description, e.g. `cn;lang-de`.
    ///
    /// # Errors
    /// [`DescriptionError`] for an unknown type or a malformed text.
    pub fn describe(&self, text: &[u8]) -> Result<AttributeDescription, DescriptionError> {
        AttributeDescription::parse(self, text)
    }

    /// [`describe`](Self::describe) for an attribute that holds values: a language range names none.
    ///
    /// # Errors
    /// [`DescriptionError`], a range among them.
    pub fn describe_one(&self, text: &[u8]) -> Result<AttributeDescription, DescriptionError> {
        let description = self.describe(text)?;
        if description.is_range() {
            let text = String::from_utf8_lossy(text).into_owned();
            return Err(DescriptionError::Range(text));
        }
        Ok(description)
    }

    /// Whether an attribute option, in lower case, is one of this server: a language tag (RFC 3866), `binary`
    /// (RFC 4522), or one named when the schema was built. `lang-` alone is a range, for selecting.
    #[must_use]
    pub fn knows_option(&self, option: &str) -> bool {
        option == "binary"
            || option.starts_with("lang-")
            || self
                .options
                .iter()
                .any(|known| option == known || (known.ends_with('-') && option.starts_with(known)))
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

    /// The numeric OID a name stands for: class, attribute type, matching rule. A name may mean different
    /// things in different places; classes come first because objectClass is where names are values.
    pub(crate) fn oid_of(&self, name: &str) -> Option<&str> {
        if let Some(class) = self.object_class(name) {
            return Some(&class.oid);
        }
        if let Some(attribute) = self.attribute(name) {
            return Some(&attribute.oid);
        }
        MatchingRule::find(name).map(|rule| rule.oid)
    }

    /// The content rule of a structural class.
    pub(crate) fn content_rule(&self, class: ObjectClassIndex) -> Option<&ContentRule> {
        self.content_rules.iter().find(|rule| rule.class == class)
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

    /// A built-in syntax by OID; the same as [`Syntax::find`].
    #[must_use]
    pub fn syntax(&self, oid: &str) -> Option<&'static Syntax> {
        Syntax::find(oid)
    }
}
