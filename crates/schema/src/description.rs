//! Attribute descriptions: a type with options (RFC 4512, section 2.5).

use std::borrow::Cow;
use thiserror::Error;

use crate::registry::{AttributeIndex, Schema};

/// Why a text is no attribute description of this schema.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DescriptionError {
    /// The type is not defined.
    #[error("{0}: attribute type undefined")]
    UnknownType(String),
    /// An option is neither a language tag, nor `binary`, nor a configured one.
    #[error("{0}: unrecognized option")]
    UnknownOption(String),
    /// The option `binary` on a type whose values are not transferred that way (RFC 4522, section
    /// 2).
    #[error("{0}: option \"binary\" not supported with type")]
    BinaryOption(String),
    /// A language range where one attribute has to be named.
    #[error("{0}: inappropriate use of tag range option")]
    Range(String),
    /// Two semicolons in a row, or one at the end.
    #[error("{0}: zero length option is invalid")]
    EmptyOption(String),
    /// The text is not `type *(";" option)`.
    #[error("{0}: AttributeDescription contains inappropriate characters")]
    Malformed(String),
}

impl DescriptionError {
    /// Returns the reason without the text of the description.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            DescriptionError::UnknownType(_) => "attribute type undefined",
            DescriptionError::UnknownOption(_) => "unrecognized option",
            DescriptionError::BinaryOption(_) => "option \"binary\" not supported with type",
            DescriptionError::Range(_) => "inappropriate use of tag range option",
            DescriptionError::EmptyOption(_) => "zero length option is invalid",
            DescriptionError::Malformed(_) => {
                "AttributeDescription contains inappropriate characters"
            }
        }
    }
}

/// An attribute type with its options in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeDescription {
    /// The type.
    pub attribute: AttributeIndex,
    /// Options, lower case, sorted, each once, joined by `;`.
    options: Option<Box<str>>,
}

impl AttributeDescription {
    /// Returns a type without options.
    #[must_use]
    pub fn plain(attribute: AttributeIndex) -> AttributeDescription {
        AttributeDescription {
            attribute,
            options: None,
        }
    }

    /// Options in canonical form (`lang-de;x-foo`), without the type; `None` when there are none.
    #[must_use]
    pub fn options(&self) -> Option<&str> {
        self.options.as_deref()
    }

    /// Returns true if the description has this option, given in lower case.
    #[must_use]
    pub fn has_option(&self, option: &str) -> bool {
        self.options()
            .is_some_and(|options| options.split(';').any(|held| held == option))
    }

    /// Returns true if an option is a language range (RFC 3866, section 2.3): fit for asking, not
    /// for holding values.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.options()
            .is_some_and(|options| options.split(';').any(|option| option.ends_with('-')))
    }

    /// Returns `cn` or `cn;lang-de`: first name of the type, options in lower case and
    /// sorted.
    #[must_use]
    pub fn text<'s>(&self, schema: &'s Schema) -> Cow<'s, str> {
        let name = schema.attribute_at(self.attribute).name();
        match self.options() {
            None => Cow::Borrowed(name),
            Some(options) => Cow::Owned(format!("{name};{options}")),
        }
    }

    /// Returns true if a request for `self` also yields `other`. The type of `other` is then the
    /// same or a subtype, and its options include those of `self`. `other` has the same type or a
    /// subtype, and at least the options of `self`. A language range (`lang-de-`) is matched by
    /// prefix and takes in the language itself (RFC 3866, section 2.3).
    #[must_use]
    pub fn covers(&self, schema: &Schema, other: &AttributeDescription) -> bool {
        schema.attribute_at(self.attribute).covers(other.attribute)
            && options_cover(self.options(), other.options())
    }

    /// Parses `type *(";" option)`; surrounding spaces are an error.
    ///
    /// # Errors
    /// [`DescriptionError`] for an unknown type or a malformed text.
    pub fn parse(schema: &Schema, text: &[u8]) -> Result<AttributeDescription, DescriptionError> {
        // Most have no option, and then a name that is known is all there is to see.
        if let Some(attribute) = schema.attribute_by_bytes(text) {
            return Ok(AttributeDescription::plain(attribute.index));
        }
        let malformed = || DescriptionError::Malformed(String::from_utf8_lossy(text).into_owned());
        let text = std::str::from_utf8(text).map_err(|_| malformed())?;
        let (name, options) = match text.split_once(';') {
            None => (text, None),
            Some((name, options)) => (name, Some(options)),
        };
        let Some(attribute) = schema.attribute(name) else {
            return Err(if crate::oid::is_descriptor_or_oid(name) {
                DescriptionError::UnknownType(text.to_owned())
            } else {
                malformed()
            });
        };
        let Some(given) = options else {
            return Ok(AttributeDescription::plain(attribute.index));
        };
        let Some(options) = canonical_options(given) else {
            return Err(if given.split(';').any(str::is_empty) {
                DescriptionError::EmptyOption(text.to_owned())
            } else {
                malformed()
            });
        };
        let mut binary = false;
        for option in options.split(';') {
            binary |= option == "binary";
            if !schema.knows_option(option) {
                return Err(DescriptionError::UnknownOption(text.to_owned()));
            }
        }
        if binary && !attribute.syntax.requires_binary() {
            return Err(DescriptionError::BinaryOption(text.to_owned()));
        }
        Ok(AttributeDescription {
            attribute: attribute.index,
            options: Some(options),
        })
    }
}

impl Schema {
    /// Parses an attribute description, e.g. `cn;lang-de`.
    ///
    /// # Errors
    /// [`DescriptionError`] for an unknown type or a malformed text.
    pub fn describe(&self, text: &[u8]) -> Result<AttributeDescription, DescriptionError> {
        AttributeDescription::parse(self, text)
    }

    /// Parses as [`describe`](Self::describe) does, for an attribute that holds values: a language
    /// range names none.
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
}

/// Returns true if a description with options `asked` covers one with options `held`.
pub(crate) fn options_cover(asked: Option<&str>, held: Option<&str>) -> bool {
    let Some(asked) = asked else { return true };
    let Some(held) = held else { return false };
    asked.split(';').all(|wanted| {
        let range = wanted.strip_suffix('-');
        held.split(';').any(|option| {
            option == wanted || range.is_some_and(|tag| option == tag || option.starts_with(wanted))
        })
    })
}

fn canonical_options(text: &str) -> Option<Box<str>> {
    let mut options: Vec<String> = Vec::new();
    for option in text.split(';') {
        let valid = !option.is_empty()
            && option
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !valid {
            return None;
        }
        options.push(option.to_ascii_lowercase());
    }
    options.sort_unstable();
    options.dedup();
    Some(options.join(";").into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchemaBuilder;

    #[test]
    fn descriptions() {
        let schema = SchemaBuilder::standard()
            .attribute_option("x-")
            .build()
            .unwrap();
        let text = |d: &str| {
            schema
                .describe(d.as_bytes())
                .map(|d| d.text(&schema).into_owned())
        };
        assert_eq!(text("CommonName").as_deref(), Ok("cn"));
        assert_eq!(
            text("2.5.4.3;X-b;Lang-DE;x-b").as_deref(),
            Ok("cn;lang-de;x-b")
        );
        assert_eq!(
            text("cn;foo"),
            Err(DescriptionError::UnknownOption("cn;foo".to_owned()))
        );
        assert_eq!(
            text("nosuch"),
            Err(DescriptionError::UnknownType("nosuch".to_owned()))
        );
        for bad in ["cn;", "cn;;x-a", "cn;x-a;"] {
            assert_eq!(
                text(bad),
                Err(DescriptionError::EmptyOption(bad.to_owned())),
                "{bad}"
            );
        }
        for bad in ["cn;binary", "jpegPhoto;binary", "member;x-a;binary"] {
            assert_eq!(
                text(bad),
                Err(DescriptionError::BinaryOption(bad.to_owned())),
                "{bad}"
            );
        }
        for bad in ["", "cn; x-a", "c n", ";x-a", "cn;lang-ä"] {
            assert_eq!(
                text(bad),
                Err(DescriptionError::Malformed(bad.to_owned())),
                "{bad}"
            );
        }
        let range = schema.describe(b"cn;lang-en-").unwrap();
        assert!(range.is_range() && !schema.describe(b"cn;lang-en").unwrap().is_range());
        assert!(matches!(
            schema.describe(b"\xff"),
            Err(DescriptionError::Malformed(_))
        ));
    }

    #[test]
    fn subtypes_and_options_are_covered() {
        let schema = Schema::standard();
        let covers = |a: &str, b: &str| {
            let describe = |d: &str| schema.describe(d.as_bytes()).unwrap();
            describe(a).covers(&schema, &describe(b))
        };
        assert!(covers("name", "cn") && covers("name", "cn;lang-de") && covers("cn", "cn;lang-de"));
        assert!(
            covers("cn;lang-de", "cn;lang-de;lang-fr")
                && covers("cn;lang-en-", "cn;lang-en-us")
                && covers("cn;lang-en-", "cn;lang-en")
                && covers("cn;lang-", "cn;lang-en")
                && !covers("cn;lang-en-", "cn;lang-eng")
        );
        assert!(
            !covers("cn", "name")
                && !covers("cn;lang-de", "cn")
                && !covers("cn;lang-de", "cn;lang-en")
        );
        assert!(covers("userCertificate", "userCertificate;binary"));
        assert!(covers("distinguishedName", "member") && !covers("cn;lang-en", "cn;lang-en-us"));
    }
}
