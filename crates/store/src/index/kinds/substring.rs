//! Substring: the entries that have a value with a gram, three bytes of its normal form.

use super::definition::{IndexedValue, KeySink, KindContext, KindDefinition, Lookup, Support};
use crate::index::gram::{self, CODE, GRAM_LEN, GramLookup, PieceEnd};
use crate::index::key_list::KeyList;
use crate::index::key_range::KeyRange;
use fulgurite_schema::{AttributeSelector, Filter, Schema, SubstringAssertion};

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
    let mut grams_max = 0;
    each_piece(pieces, |piece, _| grams_max += piece.len());
    let mut keys = KeyList::with_capacity(grams_max, grams_max * GRAM_LEN);
    each_gram(pieces, |gram| {
        if let GramLookup::One(gram) = gram {
            keys.push(context.id, CODE, gram.bytes());
        }
    });
    if !keys.is_empty() {
        return Some(Lookup::AllPostings(keys));
    }
    // The beginning of a gram is a range of keys, which only helps where there is no whole gram.
    let mut ranges = Vec::new();
    each_gram(pieces, |gram| {
        if let GramLookup::Beginning(head) = gram {
            ranges.push(KeyRange::prefix(context.id, CODE, head.bytes()));
        }
    });
    Some(Lookup::AllRanges(ranges))
}

/// Visits the grams of all pieces: first those of the ends of a value.
fn each_gram(pieces: &SubstringAssertion, mut visit: impl FnMut(GramLookup)) {
    each_piece(pieces, |piece, at| {
        gram::each_gram_of_piece(piece, at, &mut visit);
    });
}

fn each_piece(pieces: &SubstringAssertion, mut visit: impl FnMut(&[u8], PieceEnd)) {
    if let Some(piece) = pieces.initial() {
        visit(piece, PieceEnd::Start);
    }
    if let Some(piece) = pieces.final_() {
        visit(piece, PieceEnd::End);
    }
    pieces.any().for_each(|piece| visit(piece, PieceEnd::Any));
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
