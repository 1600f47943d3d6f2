//! A matching rule, and what callers ask of it.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::form::{Content, Form, Normalise, Test};
use super::invalid::InvalidValue;
use super::prepare::{Case, SHORT, prepare_short};
use super::resolver::NameResolver;
use super::substring::SubstringAssertion;
use super::truth::Truth;

/// OID of LDAP_MATCHING_RULE_IN_CHAIN ([MS-ADTS], section 3.1.1.3.4.4.3).
pub const IN_CHAIN: &str = "1.2.840.113556.1.4.1941";

/// A matching rule: how values of some syntax are compared.
///
/// `table.rs` has one row for each rule. A row holds functions, so a rule is its row and functions
/// in its family's file.
#[derive(Debug)]
pub struct MatchingRule {
    /// Numeric object identifier.
    pub oid: &'static str,
    /// Short name.
    pub name: &'static str,
    /// OID of the assertion syntax.
    pub syntax: &'static str,
    /// The purpose of the rule.
    pub(crate) kind: RuleKind,
    /// The normal form of the rule's family.
    pub(super) form: &'static Form,
    /// Makes the normal form of an assertion.
    pub(super) assertion: Normalise,
    /// Tests a value.
    pub(super) test: Test,
    /// Syntaxes of attributes to which a client may apply the rule, besides `syntax`.
    pub(super) applicable: &'static [&'static str],
    /// True if the subschema publishes the rule.
    pub(crate) published: bool,
    /// The rule by which `~=` compares values, if it is neither this rule nor the sound of words.
    pub(super) approximate: Option<&'static MatchingRule>,
    /// The rule by which `=` compares values that carry their places in an order.
    pub(super) ordered: Option<&'static MatchingRule>,
}

/// The purpose of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleKind {
    /// Equality of values; an index of normal forms can answer.
    Equality,
    /// Order of values. As an extensible match: the value is less than the assertion (RFC 4517,
    /// section 4.2.3).
    Ordering,
    /// Pieces of values.
    Substrings,
    /// Names that lead to the assertion, directly or through the same attribute of the entries that
    /// they name.
    InChain,
    /// Another test of one value, which only an extensible match asks for.
    Test,
}

impl PartialEq for MatchingRule {
    fn eq(&self, other: &MatchingRule) -> bool {
        self.oid == other.oid
    }
}

impl Eq for MatchingRule {}

impl MatchingRule {
    /// Returns true if two rules have the same normal forms, so that an index made with one serves
    /// the other.
    #[must_use]
    pub fn same_normal_form(&self, other: &MatchingRule) -> bool {
        std::ptr::eq(self.form, other.form)
    }

    /// Returns true if values of this rule's attributes match approximately by the sound of their
    /// words (`~=`).
    #[must_use]
    pub fn compares_sounds(&self) -> bool {
        self.form.case.is_some()
    }

    /// Returns the rule by which `~=` compares values of attributes with this equality rule. It is
    /// `None` if sound or equality decides.
    pub(crate) fn approximate(&self) -> Option<&'static MatchingRule> {
        self.approximate
    }

    /// Returns the rule by which `=` compares values that carry their places in an order. Their
    /// attributes have this equality rule.
    pub(crate) fn ordered(&self) -> Option<&'static MatchingRule> {
        self.ordered
    }

    /// Returns true if normal forms are text that people can read.
    pub(crate) fn normalises_text(&self) -> bool {
        self.form.content == Content::Text
    }

    /// Returns whether case matters, for rules whose normal form is prepared text.
    pub(crate) fn text_case(&self) -> Option<Case> {
        self.form.case
    }

    /// Returns true if a value certainly has a normal form: plain text under a rule for text.
    pub(crate) fn takes_text(&self, value: &[u8]) -> bool {
        self.text_case().is_some() && !value.is_empty() && value.is_ascii()
    }

    /// Returns true if normal forms are those of distinguished names.
    pub(crate) fn normalises_names(&self) -> bool {
        self.form.content == Content::Name
    }

    /// Returns true if a client may name the rule in an extensible match on an attribute.
    ///
    /// `equality` and `syntax` are those of the attribute. The rule applies if it is for that
    /// syntax, or if the attribute's own rule has the same normal form.
    pub(crate) fn applies_to(&self, equality: Option<&MatchingRule>, syntax: &str) -> bool {
        self.syntax == syntax
            || self.applicable.contains(&syntax)
            || equality.is_some_and(|rule| self.same_normal_form(rule))
    }

    /// Returns true if values can be put in order by this rule: ordering and equality rules do.
    #[must_use]
    pub fn orders(&self) -> bool {
        matches!(self.kind, RuleKind::Ordering | RuleKind::Equality)
    }

    /// Returns true if a value matches exactly when its normal form is that of the assertion. An
    /// index of normal forms can answer such a rule. Orderings, bit tests and tests of names above
    /// and below are no equality.
    #[must_use]
    pub fn is_equality(&self) -> bool {
        self.kind == RuleKind::Equality
    }

    /// Returns the normal form of an attribute value, borrowed if the value is its own normal form.
    ///
    /// Equal values have equal bytes. If the rule's family has an ordering, the order of bytes is
    /// that ordering. The equality, ordering and substrings rules of one family (caseIgnoreMatch,
    /// caseIgnoreOrderingMatch, caseIgnoreSubstringsMatch) share one normal form.
    ///
    /// # Errors
    /// [`InvalidValue`] if the value has no normal form under this rule.
    #[inline]
    pub fn normalise<'v>(
        &self,
        names: &dyn NameResolver,
        value: &'v [u8],
    ) -> Result<Cow<'v, [u8]>, InvalidValue> {
        (self.form.normalise)(names, value)
    }

    /// Returns the normal form of an assertion value. It differs from
    /// [`normalise`](Self::normalise) for rules whose assertion syntax is not the attribute's
    /// (objectIdentifierFirstComponentMatch).
    ///
    /// # Errors
    /// [`InvalidValue`] if the assertion makes no sense; a filter item with it is Undefined.
    pub fn normalise_assertion<'v>(
        &self,
        names: &dyn NameResolver,
        assertion: &'v [u8],
    ) -> Result<Cow<'v, [u8]>, InvalidValue> {
        (self.assertion)(names, assertion)
    }

    /// Tests a stored attribute value against a normalised assertion. Plain ASCII text is compared
    /// in place, without allocation. Returns Undefined if the value is invalid.
    #[must_use]
    #[inline]
    pub fn matches(
        &self,
        names: &dyn NameResolver,
        assertion_normal: &[u8],
        value: &[u8],
    ) -> Truth {
        match self.test {
            Test::Stored(test) => test(names, assertion_normal, value),
            Test::Normal(test) => match self.normalise(names, value) {
                Ok(normal) => test(&normal, assertion_normal).into(),
                Err(InvalidValue) => Truth::Undefined,
            },
        }
    }

    /// Returns the order of a stored attribute value and a normalised assertion; `None` if the
    /// value is invalid.
    #[must_use]
    pub fn compare(
        &self,
        names: &dyn NameResolver,
        value: &[u8],
        assertion_normal: &[u8],
    ) -> Option<Ordering> {
        let normal = self.normalise(names, value).ok()?;
        Some((*normal).cmp(assertion_normal))
    }

    /// Prepares a substrings assertion (RFC 4518, section 2.6, with the initial, any and final
    /// variants).
    ///
    /// # Errors
    /// [`InvalidValue`] if a piece has no prepared form or the rule is no substrings rule.
    pub fn substring_assertion<'p>(
        &self,
        initial: Option<&'p [u8]>,
        any: impl Iterator<Item = &'p [u8]> + Clone,
        final_: Option<&'p [u8]>,
    ) -> Result<SubstringAssertion, InvalidValue> {
        match self.form.piece {
            Some(prepare) if self.kind == RuleKind::Substrings => {
                SubstringAssertion::prepare(prepare, initial, any, final_)
            }
            _ => Err(InvalidValue),
        }
    }

    /// Tests a stored value against a prepared substrings assertion of this rule. Returns Undefined
    /// if the value is invalid.
    #[must_use]
    pub fn substring_matches(
        &self,
        names: &dyn NameResolver,
        assertion: &SubstringAssertion,
        value: &[u8],
    ) -> Truth {
        let mut buffer = [0; SHORT];
        // The case is a constant in each call, so that the compiler folds it into the loop.
        let short = match self.form.case {
            Some(Case::Ignore) => prepare_short(value, Case::Ignore, &mut buffer),
            Some(Case::Exact) => prepare_short(value, Case::Exact, &mut buffer),
            None => None,
        };
        if let Some(normal) = short {
            return assertion.matches(normal).into();
        }
        match self.normalise(names, value) {
            Ok(normal) => assertion.matches(&normal).into(),
            Err(InvalidValue) => Truth::Undefined,
        }
    }
}
