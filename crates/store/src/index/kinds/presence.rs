//! Presence: the entries that have a value.

use super::definition::{IndexedValue, KeySink, KindContext, KindDefinition, Lookup, Support};
use crate::index::key::{self, PRESENCE_CODE};
use fulgurite_schema::{AttributeSelector, Filter, Schema};

pub(super) const DEFINITION: KindDefinition = KindDefinition {
    code: PRESENCE_CODE,
    sign: "=*",
    rule: None,
    support: |_| Support::Yes,
    keys,
    lookup,
    recommended,
};

fn keys(
    context: &KindContext<'_>,
    _: &mut IndexedValue<'_>,
    scratch: &mut Vec<u8>,
    sink: &mut dyn KeySink,
) {
    key::posting(scratch, context.id, PRESENCE_CODE, &[]);
    sink.key(scratch);
}

fn lookup(context: &KindContext<'_>, item: &Filter<AttributeSelector>) -> Option<Lookup> {
    let Filter::Present(selector) = item else {
        return None;
    };
    let mut key = Vec::new();
    key::posting(&mut key, context.id, PRESENCE_CODE, &[]);
    let exact = selector.options().is_none();
    Some(Lookup::Posting { key, exact })
}

fn recommended<'f>(
    schema: &Schema,
    item: &'f Filter<AttributeSelector>,
) -> Option<&'f AttributeSelector> {
    match item {
        // Every entry has classes.
        Filter::Present(selector) if selector.attribute != schema.object_class_attribute() => {
            Some(selector)
        }
        _ => None,
    }
}
