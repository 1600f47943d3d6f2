//! Approximate: the entries that have a value with a word of this sound.
//!
//! An assertion matches if its words occur in a value in their order. The index finds the entries
//! with all of the words, in any value and order. The filter is tested on these entries.

use super::definition::{IndexedValue, KeySink, KindContext, KindDefinition, Lookup, Support};
use crate::index::key;
use crate::index::key_list::KeyList;
use fulgurite_policy::IndexKind;
use fulgurite_schema::{ApproximateAssertion, AttributeSelector, Filter, Schema};

/// Kind code of the keys of sounds.
const CODE: u8 = b'~';

pub(super) const DEFINITION: KindDefinition = KindDefinition {
    code: CODE,
    sign: "~=",
    rule: None,
    // `~=` means equality for values without sounds.
    support: |attribute| match attribute.equality {
        Some(rule) if rule.compares_sounds() => Support::Yes,
        Some(_) => Support::Instead(IndexKind::Equality),
        None => Support::No("the attribute has no equality rule"),
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
    for sound in ApproximateAssertion::new(value.value).words() {
        key::posting(scratch, context.id, CODE, sound.as_bytes());
        sink.key(scratch);
    }
}

fn lookup(context: &KindContext<'_>, item: &Filter<AttributeSelector>) -> Option<Lookup> {
    let Filter::Approximate { words, .. } = item else {
        return None;
    };
    let (count, bytes) = words.words().fold((0, 0), |(count, bytes), sound| {
        (count + 1, bytes + sound.len())
    });
    let mut keys = KeyList::with_capacity(count, bytes);
    for sound in words.words() {
        keys.push(context.id, CODE, sound.as_bytes());
    }
    Some(Lookup::AllPostings(keys))
}

fn recommended<'f>(
    _: &Schema,
    item: &'f Filter<AttributeSelector>,
) -> Option<&'f AttributeSelector> {
    match item {
        Filter::Approximate { attribute, .. } => Some(attribute),
        _ => None,
    }
}
