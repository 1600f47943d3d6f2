//! Equality: the entries that have a value, in normal form.
//!
//! There is no separate index for ordering or for `initial*`. Keys are normal forms, and their byte
//! order is the order of the rule. So both are ranges of the equality keys.

use super::definition::{IndexedValue, KeySink, KindContext, KindDefinition, Lookup, Support};
use crate::ids::AttributeId;
use crate::index::key;
use crate::index::key_range::KeyRange;
use fulgurite_schema::{
    Assertion, AttributeSelector, Filter, MatchingRule, Schema, SubstringAssertion,
};

/// Kind code of the keys of equality.
pub(crate) const CODE: u8 = b'=';

pub(super) const DEFINITION: KindDefinition = KindDefinition {
    code: CODE,
    sign: "=",
    rule: Some(|attribute| attribute.equality),
    support: |attribute| match attribute.equality {
        Some(_) => Support::Yes,
        None => Support::No("the attribute has no equality rule"),
    },
    keys,
    lookup,
    recommended,
};

/// Returns the range of all values of an attribute.
pub(crate) fn all_values(attribute: AttributeId) -> KeyRange {
    KeyRange::prefix(attribute, CODE, &[])
}

fn keys(
    context: &KindContext<'_>,
    value: &mut IndexedValue<'_>,
    scratch: &mut Vec<u8>,
    sink: &mut dyn KeySink,
) {
    let (schema, text) = (value.schema(), value.value);
    let Some(normal) = context.rule.and_then(|rule| value.normal(rule)) else {
        return;
    };
    if let Some(classes) = context.classes {
        let name = std::str::from_utf8(text).ok();
        // A class implies its superior classes.
        if let Some(class) = name.and_then(|name| schema.object_class(name)) {
            return classes.of(class.index).iter().for_each(|key| sink.key(key));
        }
    }
    key::posting(scratch, context.id, CODE, normal);
    sink.key(scratch);
}

fn lookup(context: &KindContext<'_>, item: &Filter<AttributeSelector>) -> Option<Lookup> {
    if let Some(classes) = context.classes {
        return match item {
            Filter::ObjectClass {
                attribute, class, ..
            } => Some(Lookup::Posting {
                key: classes.own(*class)?.to_vec(),
                exact: attribute.options().is_none(),
            }),
            _ => None,
        };
    }
    match item {
        Filter::Equality(assertion) => {
            let exact = context.rule == Some(assertion.rule)
                && key::is_literal(&assertion.normal)
                && assertion.attribute.options().is_none();
            equal(context, assertion.rule, &assertion.normal, exact)
        }
        Filter::Extensible { rule, normal, .. } => equal(context, rule, normal, false),
        Filter::GreaterOrEqual(assertion) => ordered(context, assertion, KeyRange::at_least),
        Filter::LessOrEqual(assertion) => ordered(context, assertion, KeyRange::at_most),
        Filter::Substrings { rule, pieces, .. } => initial(context, rule, pieces),
        _ => None,
    }
}

fn equal(
    context: &KindContext<'_>,
    rule: &MatchingRule,
    normal: &[u8],
    exact: bool,
) -> Option<Lookup> {
    context.rule_like(rule)?;
    let mut key = Vec::new();
    key::posting(&mut key, context.id, CODE, normal);
    Some(Lookup::Posting { key, exact })
}

fn ordered(
    context: &KindContext<'_>,
    assertion: &Assertion<AttributeSelector>,
    range: impl FnOnce(AttributeId, u8, &[u8]) -> KeyRange,
) -> Option<Lookup> {
    context.rule_like(assertion.rule)?;
    let range = range(context.id, CODE, &assertion.normal);
    let exact = range.exact && assertion.attribute.options().is_none();
    Some(Lookup::Range { range, exact })
}

/// Returns the values that begin with the initial piece.
fn initial(
    context: &KindContext<'_>,
    rule: &MatchingRule,
    pieces: &SubstringAssertion,
) -> Option<Lookup> {
    context.rule_like(rule)?;
    let range = KeyRange::prefix(context.id, CODE, pieces.initial()?);
    let exact = false;
    Some(Lookup::Range { range, exact })
}

fn recommended<'f>(
    _: &Schema,
    item: &'f Filter<AttributeSelector>,
) -> Option<&'f AttributeSelector> {
    match item {
        Filter::ObjectClass { attribute, .. } => Some(attribute),
        Filter::Equality(assertion)
        | Filter::GreaterOrEqual(assertion)
        | Filter::LessOrEqual(assertion)
        | Filter::InChain { assertion, .. } => Some(&assertion.attribute),
        Filter::Extensible {
            attribute: Some(attribute),
            rule,
            dn_attributes: false,
            ..
        } if rule.is_equality() => Some(attribute),
        _ => None,
    }
}
