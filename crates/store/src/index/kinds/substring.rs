//! Substring: the entries that have a value with a gram, three bytes of its normal form.

use super::definition::{IndexedValue, KeySink, KindContext, KindDefinition, Lookup, Support};
use crate::index::gram::{self, CODE, GramLookup};
use crate::index::key;
use crate::index::key_range::KeyRange;
use fulgurite_schema::{AttributeSelector, Filter, Schema};

pub(super) const DEFINITION: KindDefinition = KindDefinition {
    code: CODE,
    sign: "~",
    rule: Some(|attribute| attribute.substring),
    support: |attribute| match attribute.substring {
        Some(_) => Support::Yes,
        None => Support::No("the attribute has no substrings rule"),
    },
    keys,
    lookup,
    recommended,
};

fn keys(
    context: &KindContext<'_>,
    value: &mut IndexedValue<'_>,
    scratch: &mut Vec<u8>,
    sink: &mut dyn KeySink,
) {
    if let Some(normal) = context.rule.and_then(|rule| value.normal(rule)) {
        sink.grams(context.id, normal, scratch);
    }
}

/// Returns the postings of the grams of all pieces.
fn lookup(context: &KindContext<'_>, item: &Filter<AttributeSelector>) -> Option<Lookup> {
    let Filter::Substrings { rule, pieces, .. } = item else {
        return None;
    };
    context.rule_like(rule)?;
    let initial = pieces.initial().into_iter();
    let last = pieces.final_().into_iter();
    let mut grams: Vec<GramLookup> = Vec::new();
    grams.extend(initial.flat_map(|piece| gram::grams_of_piece(piece, true, false)));
    grams.extend(last.flat_map(|piece| gram::grams_of_piece(piece, false, true)));
    let any = pieces.any();
    grams.extend(any.flat_map(|piece| gram::grams_of_piece(piece, false, false)));
    // The beginning of a gram is a range of keys, which only helps where there is no whole gram.
    let is_whole = |gram: &GramLookup| matches!(gram, GramLookup::One(_));
    if grams.iter().any(is_whole) {
        grams.retain(is_whole);
    }
    let lookups = grams.iter().map(|gram| match gram {
        GramLookup::One(gram) => {
            let mut key = Vec::new();
            key::posting(&mut key, context.id, CODE, gram.bytes());
            Lookup::Posting { key, exact: false }
        }
        GramLookup::Beginning(head) => Lookup::Range {
            range: KeyRange::prefix(context.id, CODE, head.bytes()),
            exact: false,
        },
    });
    Some(Lookup::All(lookups.collect()))
}

fn recommended<'f>(
    _: &Schema,
    item: &'f Filter<AttributeSelector>,
) -> Option<&'f AttributeSelector> {
    match item {
        Filter::Substrings { attribute, .. } => Some(attribute),
        _ => None,
    }
}
