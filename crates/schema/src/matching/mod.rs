//! Matching rules (RFC 4517, section 4).
//!
//! A rule is a *normal form* (how a value becomes comparable octets) and a *relation* (what is asked about two
//! of them). Equality, ordering and substrings rules of one family share the normal form, so one index serves
//! all of them.

mod approximate;
mod certificate;
mod compare;
mod der;
mod normal;
mod numbers;
mod oids;
mod substring;
mod table;
mod text;
mod time;
mod truth;

use std::borrow::Cow;
use std::cmp::Ordering;
use thiserror::Error;

pub use approximate::ApproximateAssertion;
pub use substring::SubstringAssertion;
pub use truth::Truth;

pub(crate) use der::{is_certificate, is_certificate_list, is_private_key};
pub(crate) use numbers::{is_bit_string, is_integer, is_uuid};
pub(crate) use oids::first_component;
pub(crate) use text::split_uid;
pub(crate) use time::{is_csn, is_generalized_time};

use crate::prep::{Case, SHORT, prepare_short};
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
    pub(crate) form: Form,
    pub(crate) relation: Relation,
}

/// How a value becomes comparable octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    CaseIgnore,
    CaseExact,
    CaseIgnoreIa5,
    CaseExactIa5,
    CaseIgnoreList,
    NumericString,
    Telephone,
    Integer,
    Boolean,
    BitString,
    GeneralizedTime,
    OctetString,
    ObjectIdentifier,
    OidFirstComponent,
    IntegerFirstComponent,
    Dn,
    NameAndOptionalUid,
    Uuid,
    Csn,
    /// Serial number and issuer.
    Certificate,
    /// Issuer and time.
    CertificateList,
    /// Compared octet by octet; an assertion in the GSER form of RFC 4523 is Undefined.
    Encoded,
}

/// What a rule asks about a value and an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equality,
    /// As an extensible match: the value is less than the assertion (RFC 4517, section 4.2.3).
    Ordering,
    Substrings,
    /// All bits of the assertion are set in the value.
    BitAnd,
    /// Some bit of the assertion is set in the value.
    BitOr,
    /// The value is an immediate child of the assertion.
    DnOneLevel,
    /// The value is the assertion or below it.
    DnSubtree,
    /// The value is below the assertion.
    DnSubordinate,
    /// The value is above the assertion.
    DnSuperior,
    /// Names are equal, and so are their identifiers as far as both have one.
    NameAndPerhapsUid,
    /// The server id within a CSN.
    ServerId,
    /// The value leads to the assertion, directly or through the same attribute of the entries it names.
    InChain,
}

/// OID of LDAP_MATCHING_RULE_IN_CHAIN ([MS-ADTS], section 3.1.1.3.4.4.3).
pub const IN_CHAIN: &str = "1.2.840.113556.1.4.1941";

impl PartialEq for MatchingRule {
    fn eq(&self, other: &MatchingRule) -> bool {
        self.oid == other.oid
    }
}

impl Eq for MatchingRule {}

impl MatchingRule {
    /// A rule by name or OID, in any case.
    #[must_use]
    pub fn find(name_or_oid: &str) -> Option<&'static MatchingRule> {
        table::RULES
            .iter()
            .find(|rule| rule.oid == name_or_oid || rule.name.eq_ignore_ascii_case(name_or_oid))
    }

    /// Every rule the server knows.
    #[must_use]
    pub fn all() -> &'static [MatchingRule] {
        table::RULES
    }

    /// Whether two rules have the same normal forms, so that an index made with one serves the other.
    #[must_use]
    pub fn same_normal_form(&self, other: &MatchingRule) -> bool {
        self.form == other.form
    }

    /// Whether values of this rule's attributes match approximately by the sound of their words (`~=`).
    #[must_use]
    pub fn sounds(&self) -> bool {
        matches!(
            self.form,
            Form::CaseIgnore | Form::CaseExact | Form::CaseIgnoreIa5 | Form::CaseExactIa5
        )
    }

    /// The rule by which `~=` compares values of attributes with this equality rule, where it has one that goes by
    /// something else than sound.
    pub(crate) fn approximate(&self) -> Option<&'static MatchingRule> {
        (self.form == Form::NameAndOptionalUid).then_some(&table::UNIQUE_MEMBER_APPROXIMATE)
    }

    /// Whether normal forms are texts, of which people can make sense.
    pub(crate) fn normalises_text(&self) -> bool {
        matches!(
            self.form,
            Form::CaseIgnore
                | Form::CaseExact
                | Form::CaseIgnoreIa5
                | Form::CaseExactIa5
                | Form::CaseIgnoreList
                | Form::NumericString
                | Form::Telephone
        )
    }

    /// Whether case matters, for rules whose normal form of texts is the prepared text.
    pub(crate) fn text_case(&self) -> Option<Case> {
        match self.form {
            Form::CaseIgnore | Form::CaseIgnoreIa5 => Some(Case::Ignore),
            Form::CaseExact | Form::CaseExactIa5 => Some(Case::Exact),
            _ => None,
        }
    }

    /// Whether a value is certain to have a normal form, without its being made: plain text under a rule for text.
    pub(crate) fn takes_text(&self, value: &[u8]) -> bool {
        self.text_case().is_some() && !value.is_empty() && value.is_ascii()
    }

    /// Whether normal forms are those of distinguished names.
    pub(crate) fn normalises_names(&self) -> bool {
        matches!(self.form, Form::Dn | Form::NameAndOptionalUid)
    }

    /// Whether a client may name the rule in an extensible match on an attribute with this equality rule and
    /// syntax: the syntaxes agree, the attribute's is a narrower kind of Directory String, or the attribute's own
    /// rule has the same normal form.
    pub(crate) fn applies_to(&self, equality: Option<&MatchingRule>, syntax: &str) -> bool {
        self.syntax == syntax
            || (self.syntax == table::DIRECTORY_STRING && table::NARROWER_STRINGS.contains(&syntax))
            || equality.is_some_and(|rule| rule.form == self.form)
            // Their assertions have syntaxes of their own.
            || matches!(
                (self.form, syntax),
                (Form::Certificate, table::CERTIFICATE)
                    | (Form::CertificateList, table::CERTIFICATE_LIST)
            )
    }

    /// Whether normal forms compare, so that values can be put in order by the rule: ordering and equality rules do.
    #[must_use]
    pub fn orders(&self) -> bool {
        matches!(self.relation, Relation::Ordering | Relation::Equality)
    }

    /// The normal form of an attribute value: equal values have equal octets, and where the rule's family has an
    /// ordering, comparing octets gives the rule's order. Equality, ordering and substrings rules of one family
    /// (caseIgnoreMatch, caseIgnoreOrderingMatch, caseIgnoreSubstringsMatch) share one normal form.
    /// Borrowed when the value is its own normal form.
    ///
    /// # Errors
    /// [`InvalidValue`] when the value has no normal form under this rule.
    pub fn normalise<'v>(
        &self,
        schema: &Schema,
        value: &'v [u8],
    ) -> Result<Cow<'v, [u8]>, InvalidValue> {
        normal::value(self.form, schema, value)
    }

    /// Whether a value matches when its normal form is that of the assertion, so that an index of normal forms can
    /// answer. Orderings, bit tests and tests of names above and below are no equality, whatever attribute they are
    /// asked about.
    #[must_use]
    pub fn is_equality(&self) -> bool {
        self.relation == Relation::Equality
    }

    /// The normal form of an assertion value; it differs from [`normalise`](Self::normalise) for rules whose
    /// assertion syntax is not the attribute's (objectIdentifierFirstComponentMatch).
    ///
    /// # Errors
    /// [`InvalidValue`] when the assertion makes no sense: a filter item with it is Undefined.
    pub fn normalise_assertion<'v>(
        &self,
        schema: &Schema,
        assertion: &'v [u8],
    ) -> Result<Cow<'v, [u8]>, InvalidValue> {
        normal::assertion(self.form, self.relation, schema, assertion)
    }

    /// Whether a raw attribute value matches a normalised assertion. Plain ASCII text is compared in place,
    /// without allocation. Undefined when the value is invalid.
    #[must_use]
    pub fn matches(&self, schema: &Schema, assertion_normal: &[u8], value: &[u8]) -> Truth {
        compare::matches(self.form, self.relation, schema, assertion_normal, value)
    }

    /// How a raw attribute value stands to a normalised assertion; `None` when the value is invalid.
    #[must_use]
    pub fn compare(
        &self,
        schema: &Schema,
        value: &[u8],
        assertion_normal: &[u8],
    ) -> Option<Ordering> {
        let normal = self.normalise(schema, value).ok()?;
        Some((*normal).cmp(assertion_normal))
    }

    /// Prepares a substrings assertion (RFC 4518, section 2.6, with the initial, any and final variants).
    ///
    /// # Errors
    /// [`InvalidValue`] when a piece has no prepared form or the rule is no substrings rule.
    pub fn substring_assertion(
        &self,
        initial: Option<&[u8]>,
        any: &[&[u8]],
        final_: Option<&[u8]>,
    ) -> Result<SubstringAssertion, InvalidValue> {
        if self.relation != Relation::Substrings {
            return Err(InvalidValue);
        }
        SubstringAssertion::prepare(self.form, initial, any, final_)
    }

    /// Whether a raw value matches a prepared substrings assertion of this rule. Undefined when the value is invalid.
    #[must_use]
    pub fn substring_matches(
        &self,
        schema: &Schema,
        assertion: &SubstringAssertion,
        value: &[u8],
    ) -> Truth {
        let mut buffer = [0; SHORT];
        let short = match self.form {
            Form::CaseIgnore | Form::CaseIgnoreIa5 => {
                prepare_short(value, Case::Ignore, &mut buffer)
            }
            Form::CaseExact | Form::CaseExactIa5 => prepare_short(value, Case::Exact, &mut buffer),
            _ => None,
        };
        if let Some(normal) = short {
            return assertion.matches(normal).into();
        }
        match self.normalise(schema, value) {
            Ok(normal) => assertion.matches(&normal).into(),
            Err(InvalidValue) => Truth::Undefined,
        }
    }
}
