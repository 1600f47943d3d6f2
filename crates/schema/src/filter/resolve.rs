//! From a filter as received to one that can be evaluated.

use std::sync::Arc;

use fulgurite_ldap as ldap;

use super::{Assertion, AttributeSelector, Filter};
use crate::matching::{ApproximateAssertion, MatchingRule, RuleKind, Truth};
use crate::registry::{AttributeType, Schema};

/// OID of structuralObjectClass (RFC 4512, section 3.4.6).
const STRUCTURAL_OBJECT_CLASS: &str = "2.5.21.9";

impl Filter<AttributeSelector> {
    /// Resolves attribute descriptions and rules, and normalises assertion values. Never fails:
    /// what makes no sense becomes [`Filter::Constant`] Undefined (RFC 4511, section 4.5.1.7).
    #[must_use]
    pub fn resolve(schema: &Schema, filter: &ldap::Filter<'_>) -> Filter<AttributeSelector> {
        let all = |items: &[ldap::Filter<'_>]| {
            items
                .iter()
                .map(|item| Filter::resolve(schema, item))
                .collect()
        };
        match filter {
            ldap::Filter::And(items) if items.is_empty() => Filter::Constant(Truth::True),
            ldap::Filter::Or(items) if items.is_empty() => Filter::Constant(Truth::False),
            ldap::Filter::And(items) => Filter::And(all(items)),
            ldap::Filter::Or(items) => Filter::Or(all(items)),
            ldap::Filter::Not(item) => Filter::Not(Box::new(Filter::resolve(schema, item))),
            item => item_of(schema, item).unwrap_or(Filter::Constant(Truth::Undefined)),
        }
    }
}

/// Returns an item, or `None` when it is Undefined.
fn item_of(schema: &Schema, item: &ldap::Filter<'_>) -> Option<Filter<AttributeSelector>> {
    match item {
        ldap::Filter::Present(attribute) => Some(Filter::Present(schema.describe(attribute).ok()?)),
        ldap::Filter::Equality(assertion) => equality(schema, assertion, Places::Ignored),
        ldap::Filter::Approximate(assertion) => approximate(schema, assertion),
        ldap::Filter::GreaterOrEqual(assertion) => {
            compared(schema, assertion, |attribute| attribute.ordering).map(Filter::GreaterOrEqual)
        }
        ldap::Filter::LessOrEqual(assertion) => {
            compared(schema, assertion, |attribute| attribute.ordering).map(Filter::LessOrEqual)
        }
        ldap::Filter::Substrings(substrings) => {
            let attribute = schema.describe(substrings.attribute).ok()?;
            let rule = schema.attribute_at(attribute.attribute).substring?;
            let pieces = rule
                .substring_assertion(substrings.initial, substrings.any.iter(), substrings.final_)
                .ok()?;
            Some(Filter::Substrings {
                attribute,
                rule,
                pieces: Arc::new(pieces),
            })
        }
        ldap::Filter::Extensible(extensible) => extensible_of(schema, extensible),
        ldap::Filter::And(_) | ldap::Filter::Or(_) | ldap::Filter::Not(_) => None,
    }
}

/// How places count in values that carry them: `{0}first`, `{1}second`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Places {
    Ignored,
    /// As in slapd, in an extensible match.
    Counted,
}

fn equality(
    schema: &Schema,
    assertion: &ldap::Assertion<'_>,
    places: Places,
) -> Option<Filter<AttributeSelector>> {
    let attribute = schema.describe(assertion.attribute).ok()?;
    if names_classes(schema, &attribute) {
        let class = schema.object_class_by_bytes(assertion.value)?;
        let implied_by = class
            .subclasses
            .iter()
            .map(|&sub| schema.object_class_at(sub).oid.as_bytes().into())
            .collect();
        return Some(Filter::ObjectClass {
            attribute,
            class: class.index,
            implied_by,
        });
    }
    let kind = schema.attribute_at(attribute.attribute);
    if places == Places::Ignored
        && let Some(rule) = kind.ordered_equality()
    {
        return by_rule(schema, attribute, rule, assertion.value);
    }
    asserted(schema, attribute, kind.equality?, assertion.value).map(Filter::Equality)
}

/// Returns an item whose rule clients need not name.
fn by_rule(
    schema: &Schema,
    attribute: AttributeSelector,
    rule: &'static MatchingRule,
    value: &[u8],
) -> Option<Filter<AttributeSelector>> {
    let normal = rule.normalise_assertion(schema, value).ok()?;
    Some(Filter::Extensible {
        attribute_type: Some(attribute.attribute),
        attribute: Some(attribute),
        rule,
        normal: normal.into(),
        dn_attributes: false,
    })
}

/// Resolves `~=`: by sound if values are words, by the rule's approximate rule if it has one,
/// otherwise by equality. Values that carry their places in an order are compared by equality.
fn approximate(
    schema: &Schema,
    assertion: &ldap::Assertion<'_>,
) -> Option<Filter<AttributeSelector>> {
    let attribute = schema.describe(assertion.attribute).ok()?;
    let kind = schema.attribute_at(attribute.attribute);
    if let Some(rule) = kind.ordered_equality() {
        return by_rule(schema, attribute, rule, assertion.value);
    }
    match kind.equality {
        Some(rule) if rule.compares_sounds() => {
            rule.normalise_assertion(schema, assertion.value).ok()?;
            Some(Filter::Approximate {
                attribute,
                rule,
                words: ApproximateAssertion::new(assertion.value),
            })
        }
        Some(rule) => match rule.approximate() {
            Some(rule) => by_rule(schema, attribute, rule, assertion.value),
            None => equality(schema, assertion, Places::Ignored),
        },
        None => None,
    }
}

/// Returns true if values are classes, so that asking for one asks for those derived from it too.
fn names_classes(schema: &Schema, attribute: &AttributeSelector) -> bool {
    attribute.attribute == schema.object_class_attribute()
        || schema.attribute_at(attribute.attribute).oid == STRUCTURAL_OBJECT_CLASS
}

fn compared(
    schema: &Schema,
    assertion: &ldap::Assertion<'_>,
    rule: impl Fn(&AttributeType) -> Option<&'static MatchingRule>,
) -> Option<Assertion<AttributeSelector>> {
    let attribute = schema.describe(assertion.attribute).ok()?;
    let rule = rule(schema.attribute_at(attribute.attribute))?;
    asserted(schema, attribute, rule, assertion.value)
}

fn asserted(
    schema: &Schema,
    attribute: AttributeSelector,
    rule: &'static MatchingRule,
    value: &[u8],
) -> Option<Assertion<AttributeSelector>> {
    let normal = rule.normalise_assertion(schema, value).ok()?;
    Some(Assertion {
        attribute,
        rule,
        normal: normal.into(),
    })
}

fn extensible_of(
    schema: &Schema,
    extensible: &ldap::Extensible<'_>,
) -> Option<Filter<AttributeSelector>> {
    let attribute = extensible
        .attribute
        .map(|text| schema.describe(text))
        .transpose()
        .ok()?;
    // Without a rule it is an equality match. Classes are in no name.
    if let (None, Some(described), Some(text)) = (extensible.rule, &attribute, extensible.attribute)
        && (!extensible.dn_attributes || names_classes(schema, described))
    {
        let assertion = ldap::Assertion {
            attribute: text,
            value: extensible.value,
        };
        return equality(schema, &assertion, Places::Counted);
    }
    let attribute_type = attribute
        .as_ref()
        .map(|attribute| schema.attribute_at(attribute.attribute));
    let rule = match extensible.rule {
        Some(name) => MatchingRule::find(std::str::from_utf8(name).ok()?)?,
        None => attribute_type?.equality?,
    };
    let applies = |kind: &AttributeType| {
        rule.applies_to(kind.equality, kind.syntax.oid)
            || (rule.kind == RuleKind::InChain && kind.syntax.is_name())
    };
    if attribute_type.is_some_and(|kind| !applies(kind)) {
        return None;
    }
    // A substrings rule by name would need the asterisk form of RFC 4517, section 3.3.30, as its
    // assertion.
    if rule.kind == RuleKind::Substrings {
        return None;
    }
    let normal = rule.normalise_assertion(schema, extensible.value).ok()?;
    if rule.kind == RuleKind::InChain {
        // Without an attribute there are no names to follow.
        return in_chain(attribute?, attribute_type?, normal.into());
    }
    Some(Filter::Extensible {
        attribute,
        attribute_type: attribute_type.map(|kind| kind.index),
        rule,
        normal: normal.into(),
        dn_attributes: extensible.dn_attributes,
    })
}

/// Returns a chain from the values of an attribute to a name.
fn in_chain(
    attribute: AttributeSelector,
    attribute_type: &AttributeType,
    normal: Box<[u8]>,
) -> Option<Filter<AttributeSelector>> {
    Some(Filter::InChain {
        attribute_type: attribute.attribute,
        assertion: Assertion {
            attribute,
            rule: attribute_type.equality?,
            normal,
        },
    })
}
