//! The postings an entry belongs to.

use super::indexes::{Index, Indexes};
use super::key::{self, Kind};
use crate::ids::AttributeId;
use fulgurite_schema::{AttributeIndex, Entry, Schema};

/// Marks the start of a normal form in its grams. It cannot collide harmfully: answers from grams are tested.
pub(crate) const START: u8 = 2;
/// Marks the end. The last octet of a value and this mark make a gram of two octets, so that every octet of a value begins
/// some gram.
pub(crate) const END: u8 = 3;
const GRAM_LEN: usize = 3;

/// Something with attributes: an entry on its way in, or a record.
pub(crate) trait EmitSource {
    /// Calls `visit` for every value with its attribute type.
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]));
}

impl EmitSource for Entry {
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8])) {
        for attribute in &self.attributes {
            attribute
                .values
                .iter()
                .for_each(|value| visit(attribute.description.attribute, value));
        }
    }
}

/// Takes the keys of the postings that list an entry; some of them may come more than once.
pub(crate) trait KeySink {
    /// The key of a posting.
    fn key(&mut self, key: &[u8]);

    /// The grams of a value in normal form, for who has shorter forms for them than keys. `scratch` is room for one key.
    fn grams(&mut self, index: AttributeId, normal: &[u8], scratch: &mut Vec<u8>) {
        each_gram(normal, |gram| match key::of_gram(index, gram) {
            Some(key) => self.key(&key),
            None => {
                key::posting(scratch, index, Kind::Gram, gram);
                self.key(scratch);
            }
        });
    }
}

/// A sink that wants keys only.
struct Keys<'f>(&'f mut dyn FnMut(&[u8]));

impl KeySink for Keys<'_> {
    fn key(&mut self, key: &[u8]) {
        (self.0)(key);
    }
}

/// Calls `sink` with the key of every posting that lists the entry, of the indexes that are `wanted`; with some of them
/// more than once. `scratch` is room for one key.
pub(crate) fn emit(
    indexes: &Indexes,
    schema: &Schema,
    entry: &dyn EmitSource,
    wanted: &dyn Fn(&Index) -> bool,
    scratch: &mut Vec<u8>,
    sink: &mut dyn FnMut(&[u8]),
) {
    emit_to(indexes, schema, entry, wanted, scratch, &mut Keys(sink));
}

/// As [`emit`], to a sink that may take grams in a form of its own.
pub(crate) fn emit_to(
    indexes: &Indexes,
    schema: &Schema,
    entry: &dyn EmitSource,
    wanted: &dyn Fn(&Index) -> bool,
    scratch: &mut Vec<u8>,
    sink: &mut dyn KeySink,
) {
    entry.each(&mut |attribute, value| {
        for index in indexes.fed_by(attribute).filter(|index| wanted(index)) {
            emit_value(indexes, schema, index, value, scratch, sink);
        }
    });
}

fn emit_value(
    indexes: &Indexes,
    schema: &Schema,
    index: &Index,
    value: &[u8],
    scratch: &mut Vec<u8>,
    sink: &mut dyn KeySink,
) {
    if index.presence {
        key::posting(scratch, index.id, Kind::Presence, &[]);
        sink.key(scratch);
    }
    // A value without normal form matches no assertion: it needs no key.
    let normal = index
        .equality
        .and_then(|rule| rule.normalise(schema, value).ok());
    if let Some(normal) = &normal {
        emit_equality(indexes, schema, index, value, normal, scratch, sink);
    }
    let Some(rule) = index.substring else { return };
    match normal {
        // Rules of one family share the normal form.
        Some(normal)
            if index
                .equality
                .is_some_and(|equality| equality.same_normal_form(rule)) =>
        {
            sink.grams(index.id, &normal, scratch);
        }
        _ => {
            if let Ok(normal) = rule.normalise(schema, value) {
                sink.grams(index.id, &normal, scratch);
            }
        }
    }
}

fn emit_equality(
    indexes: &Indexes,
    schema: &Schema,
    index: &Index,
    value: &[u8],
    normal: &[u8],
    scratch: &mut Vec<u8>,
    sink: &mut dyn KeySink,
) {
    if index.object_class {
        let class = std::str::from_utf8(value)
            .ok()
            .and_then(|name| schema.object_class(name));
        if let Some(class) = class {
            return indexes
                .class_keys(class.index)
                .iter()
                .for_each(|key| sink.key(key));
        }
    }
    key::posting(scratch, index.id, Kind::Equality, normal);
    sink.key(scratch);
}

/// Calls `gram` with the grams of a value in normal form, in their order; some may come more than once.
pub(crate) fn each_gram(normal: &[u8], mut gram: impl FnMut(&[u8])) {
    match normal {
        [] => gram(&[START, END]),
        [single] => {
            gram(&[START, *single, END]);
            gram(&[*single, END]);
        }
        [first, second, ..] => {
            gram(&[START, *first, *second]);
            normal.windows(GRAM_LEN).for_each(&mut gram);
            if let [.., before, last] = normal {
                gram(&[*before, *last, END]);
                gram(&[*last, END]);
            }
        }
    }
}

/// How to find values that contain a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GramLookup {
    /// In the posting of this gram.
    One(Gram),
    /// In the postings of all grams that begin so: the piece is too short for a gram of its own.
    Beginning(Gram),
}

/// A gram, or the beginning of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gram {
    octets: [u8; GRAM_LEN],
    len: usize,
}

impl Gram {
    /// The first octets of a text, as many as a gram has.
    fn of(text: &[u8]) -> Gram {
        let mut octets = [0; GRAM_LEN];
        let places = octets.iter_mut().zip(text);
        places.for_each(|(to, from)| *to = *from);
        Gram {
            octets,
            len: text.len().min(GRAM_LEN),
        }
    }

    pub(crate) fn octets(&self) -> &[u8] {
        self.octets.get(..self.len).unwrap_or_default()
    }
}

/// The grams that every value with this piece has. `initial` and `last` say whether it is an end of the value.
pub(crate) fn grams_of_piece(piece: &[u8], initial: bool, last: bool) -> Vec<GramLookup> {
    if piece.is_empty() {
        return Vec::new();
    }
    let mut padded = Vec::with_capacity(piece.len() + 2);
    padded.extend(initial.then_some(START));
    padded.extend_from_slice(piece);
    padded.extend(last.then_some(END));
    match padded.len() {
        0..GRAM_LEN if last => vec![GramLookup::One(Gram::of(&padded))],
        0..GRAM_LEN => vec![GramLookup::Beginning(Gram::of(&padded))],
        _ => padded
            .windows(GRAM_LEN)
            .map(|gram| GramLookup::One(Gram::of(gram)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn grams(value: &[u8]) -> BTreeSet<Vec<u8>> {
        let mut found = BTreeSet::new();
        let mut insert = |key: &[u8]| {
            found.insert(key::parts(key).unwrap().2);
        };
        Keys(&mut insert).grams(AttributeId(1), value, &mut Vec::new());
        found
    }

    fn holds(grams: &BTreeSet<Vec<u8>>, lookup: &GramLookup) -> bool {
        match lookup {
            GramLookup::One(gram) => grams.contains(gram.octets()),
            GramLookup::Beginning(head) => grams.iter().any(|gram| gram.starts_with(head.octets())),
        }
    }

    proptest! {
        #[test]
        fn every_piece_of_a_value_is_found(value in "[ab]{0,7}", from in 0_usize..8, len in 1_usize..8) {
            let value = value.as_bytes();
            let grams = grams(value);
            let from = from.min(value.len());
            let to = (from + len).min(value.len());
            for lookup in grams_of_piece(&value[from..to], false, false) {
                prop_assert!(holds(&grams, &lookup), "{lookup:?}");
            }
            for lookup in grams_of_piece(&value[..to], true, false) {
                prop_assert!(holds(&grams, &lookup), "{lookup:?}");
            }
            for lookup in grams_of_piece(&value[from..], false, true) {
                prop_assert!(holds(&grams, &lookup), "{lookup:?}");
            }
        }
    }
}
