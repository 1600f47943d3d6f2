//! Matching rules (RFC 4517, section 4).

mod truth;

use std::borrow::Cow;
use std::cmp::Ordering;
use thiserror::Error;

pub use truth::Truth;

use crate::registry::Schema;

/// The value does not have the form its matching rule needs.
///
/// In a filter the item becomes Undefined; in an update the value is refused (invalidAttributeSyntax).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the value does not have the syntax its matching rule needs")]
pub struct InvalidValue;

/// A matching rule: how values of some syntax are compared.
#[derive(Debug)]
pub struct MatchingRule {
    /// Numeric object identifier.
    pub oid: &'static str,
    /// Short name.
    pub name: &'static str,
    /// OID of the assertion syntax.
    pub syntax: &'static str,
}

/// A substrings assertion prepared for one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubstringAssertion {
    initial: Option<Box<[u8]>>,
    any: Vec<Box<[u8]>>,
    final_: Option<Box<[u8]>>,
}

impl SubstringAssertion {
    /// What the normal form must start with.
    #[must_use]
    pub fn initial(&self) -> Option<&[u8]> {
        self.initial.as_deref()
    }

    /// What the normal form must contain, in this order and without overlap.
    pub fn any(&self) -> impl Iterator<Item = &[u8]> {
        self.any.iter().map(|piece| &**piece)
    }

    /// What the normal form must end with.
    #[must_use]
    pub fn final_(&self) -> Option<&[u8]> {
        self.final_.as_deref()
    }

    /// Whether a value, given in its rule's normal form, matches.
    #[must_use]
    pub fn matches(&self, _value_normal: &[u8]) -> bool {
        todo!()
    }
}

impl PartialEq for MatchingRule {
    fn eq(&self, other: &MatchingRule) -> bool {
        self.oid == other.oid
    }
}

impl Eq for MatchingRule {}

impl MatchingRule {
    /// A rule by name or OID, in any case.
    #[must_use]
    pub fn find(_name_or_oid: &str) -> Option<&'static MatchingRule> {
        todo!()
    }

    /// The normal form of an attribute value: equal values have equal bytes, and where the rule's family has
    /// an ordering, comparing bytes gives the rule's order. Equality, ordering and substrings rules of one
    /// family (caseIgnoreMatch, caseIgnoreOrderingMatch, caseIgnoreSubstringsMatch) share one normal form.
    /// Borrowed when the value is its own normal form.
    ///
    /// # Errors
    /// [`InvalidValue`] when the value has no normal form under this rule.
    pub fn normalise<'v>(
        &self,
        _schema: &Schema,
        _value: &'v [u8],
    ) -> Result<Cow<'v, [u8]>, InvalidValue> {
        todo!()
    }

    /// The normal form of an assertion value; it differs from [`normalise`](Self::normalise) for rules whose assertion
    /// syntax is not the attribute's (objectIdentifierFirstComponentMatch).
    ///
    /// # Errors
    /// [`InvalidValue`] when the assertion makes no sense: a filter item with it is Undefined.
    pub fn normalise_assertion<'v>(
        &self,
        _schema: &Schema,
        _assertion: &'v [u8],
    ) -> Result<Cow<'v, [u8]>, InvalidValue> {
        todo!()
    }

    /// Whether a raw attribute value matches a normalised assertion. Plain ASCII text is compared in place,
    /// without allocation. Undefined when the value is invalid.
    #[must_use]
    pub fn matches(&self, _schema: &Schema, _assertion_normal: &[u8], _value: &[u8]) -> Truth {
        todo!()
    }

    /// How a raw attribute value stands to a normalised assertion; `None` when the value is invalid.
    #[must_use]
    pub fn compare(
        &self,
        _schema: &Schema,
        _value: &[u8],
        _assertion_normal: &[u8],
    ) -> Option<Ordering> {
        todo!()
    }

    /// Prepares a substrings assertion (RFC 4518, section 2.6, with the initial, any and final variants).
    ///
    /// # Errors
    /// [`InvalidValue`] when a piece has no prepared form or the rule is no substrings rule.
    pub fn substring_assertion(
        &self,
        _schema: &Schema,
        _initial: Option<&[u8]>,
        _any: &[&[u8]],
        _final: Option<&[u8]>,
    ) -> Result<SubstringAssertion, InvalidValue> {
        todo!()
    }

    /// Whether a raw value matches a prepared substrings assertion of this rule.
    #[must_use]
    pub fn substring_matches(
        &self,
        _schema: &Schema,
        _assertion: &SubstringAssertion,
        _value: &[u8],
    ) -> Truth {
        todo!()
    }
}
