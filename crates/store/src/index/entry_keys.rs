//! The index keys of an entry: the postings that list it.

use super::indexes::{Index, Indexes};
use super::kinds::{IndexedValue, KINDS, KeySink};
use super::source::ValueSource;
use fulgurite_schema::Schema;

/// Makes index keys of entries.
#[derive(Clone, Copy)]
pub(crate) struct KeyMaker<'a> {
    indexes: &'a Indexes,
    schema: &'a Schema,
}

impl<'a> KeyMaker<'a> {
    pub(crate) fn new(indexes: &'a Indexes, schema: &'a Schema) -> KeyMaker<'a> {
        KeyMaker { indexes, schema }
    }

    /// Calls `visit` with the key of every posting that lists the entry. A key may come more than
    /// once. `scratch` is room for one key.
    pub(crate) fn each_key(
        self,
        entry: &dyn ValueSource,
        scratch: &mut Vec<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        self.emit(entry, &|_| true, scratch, &mut KeyVisitor(visit));
    }

    /// As [`each_key`](Self::each_key), for the indexes that are `wanted`.
    pub(crate) fn each_key_of(
        self,
        entry: &dyn ValueSource,
        wanted: &dyn Fn(&Index) -> bool,
        scratch: &mut Vec<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        self.emit(entry, wanted, scratch, &mut KeyVisitor(visit));
    }

    /// As [`each_key_of`](Self::each_key_of), for a sink that has a shorter form for grams.
    pub(crate) fn emit(
        self,
        entry: &dyn ValueSource,
        wanted: &dyn Fn(&Index) -> bool,
        scratch: &mut Vec<u8>,
        sink: &mut dyn KeySink,
    ) {
        entry.each(&mut |attribute, value| {
            for index in self.indexes.fed_by(attribute) {
                if wanted(index) {
                    self.emit_value(index, value, scratch, sink);
                }
            }
        });
    }

    fn emit_value(
        self,
        index: &Index,
        value: &[u8],
        scratch: &mut Vec<u8>,
        sink: &mut dyn KeySink,
    ) {
        let mut value = IndexedValue::new(self.schema, value);
        for (kind, definition) in &KINDS {
            if index.has(*kind) {
                let context = self.indexes.context(index, *kind);
                (definition.keys)(&context, &mut value, scratch, sink);
            }
        }
    }
}

/// A sink that takes keys only.
struct KeyVisitor<'f>(&'f mut dyn FnMut(&[u8]));

impl KeySink for KeyVisitor<'_> {
    fn key(&mut self, key: &[u8]) {
        (self.0)(key);
    }
}
