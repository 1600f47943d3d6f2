//! Attribute types as the rest of the server sees them: resolved and inherited (RFC 4512, section
//! 2.5).

use crate::definition::Usage;
use crate::matching::MatchingRule;
use crate::syntax::Syntax;

/// Position of an attribute type within one [`Schema`](crate::Schema) value.
///
/// Another set of schema files numbers differently, so the index must not be written to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeIndex(pub u32);

/// An attribute type with everything it inherits from its superiors filled in.
#[derive(Clone, Debug)]
pub struct AttributeType {
    /// Position in the schema.
    pub index: AttributeIndex,
    /// Numeric object identifier.
    pub oid: String,
    /// Short names as declared, the first being the one shown. May be empty.
    pub names: Vec<String>,
    /// DESC.
    pub description: Option<String>,
    /// OBSOLETE.
    pub obsolete: bool,
    /// Direct supertype.
    pub superior: Option<AttributeIndex>,
    /// This type and everything derived from it, transitively, in ascending order.
    pub subtypes: Vec<AttributeIndex>,
    /// Syntax of values, inherited. A syntax defined by X-SUBST appears as what it substitutes.
    pub syntax: &'static Syntax,
    /// Suggested upper bound of a value's length, `{n}` after the syntax; never enforced.
    pub length_hint: Option<u32>,
    /// Equality rule, inherited.
    pub equality: Option<&'static MatchingRule>,
    /// Ordering rule, inherited.
    pub ordering: Option<&'static MatchingRule>,
    /// Substrings rule, inherited.
    pub substring: Option<&'static MatchingRule>,
    /// SINGLE-VALUE.
    pub single_value: bool,
    /// COLLECTIVE (RFC 3671).
    pub collective: bool,
    /// NO-USER-MODIFICATION.
    pub no_user_modification: bool,
    /// USAGE.
    pub usage: Usage,
    /// The name used in normal forms: the first name, or the OID, in lower case.
    pub key_name: String,
    /// True if the type is in force without being published.
    pub(crate) hidden: bool,
    /// RFC 4512 text as published in the subschema.
    pub(crate) published: String,
    /// True if values, or the names of entries below one parent, carry places in an order.
    pub(crate) is_ordered: bool,
}

impl AttributeType {
    /// Returns the first declared name, or the numeric OID of a nameless type.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }

    /// Returns true if the attribute is kept by the server rather than by users: returned for `+`,
    /// not for `*`.
    #[must_use]
    pub fn is_operational(&self) -> bool {
        self.usage != Usage::UserApplications
    }

    /// Returns true if values carry their places in an order: `{0}first`, `{1}second`
    /// (draft-chu-ldap-xordered).
    #[must_use]
    pub fn has_ordered_values(&self) -> bool {
        self.published.contains("X-ORDERED 'VALUES'")
    }

    /// Returns the rule of `=` for values that carry their places in an order; `None` for others.
    pub(crate) fn ordered_equality(&self) -> Option<&'static MatchingRule> {
        self.equality.filter(|_| self.is_ordered)?.ordered()
    }

    /// Returns true if `other` is this type or derives from it.
    #[must_use]
    pub fn covers(&self, other: AttributeIndex) -> bool {
        self.index == other || self.subtypes.binary_search(&other).is_ok()
    }
}
