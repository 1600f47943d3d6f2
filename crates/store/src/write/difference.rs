//! The difference between two records of an entry, in index keys.
//!
//! Adding one member to a group of 100,000 makes one key, and removing one makes one; the other values are compared
//! as bytes but not normalised.

use rustc_hash::FxHashSet;

use crate::attributes::AttributeTable;
use crate::entry_view::TypedRecord;
use crate::ids::AttributeId;
use crate::index::{EmitSource, Index, Indexes, emit, key};
use crate::record::{Record, Values};
use fulgurite_schema::{AttributeIndex, Schema};

/// Keys of the postings that an entry leaves and enters, ascending.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) gone: Vec<Vec<u8>>,
    pub(super) come: Vec<Vec<u8>>,
}

impl Difference {
    pub(super) fn between(
        indexes: &Indexes,
        schema: &Schema,
        table: &AttributeTable,
        (old, new): (&Record<'_>, &Record<'_>),
        shift: &Shift<'_>,
    ) -> Difference {
        let fed = |(attribute, _): &&(AttributeIndex, &[u8])| indexes.is_fed_by(*attribute);
        let mut removed = ValueList(shift.removed.iter().filter(fed).copied().collect());
        let mut added = ValueList(shift.added.iter().filter(fed).copied().collect());
        for (id, (before, after)) in changed(old, new, &shift.settled) {
            let attribute = table.get(id).map(|info| info.description.attribute);
            let Some(attribute) = attribute.filter(|attribute| indexes.is_fed_by(*attribute))
            else {
                continue;
            };
            removed
                .0
                .extend(only_in_first(before, after).map(|value| (attribute, value)));
            added
                .0
                .extend(only_in_first(after, before).map(|value| (attribute, value)));
        }
        let alone = ValueList(shift.alone.iter().filter(fed).copied().collect());
        let alone = keys(indexes, schema, &alone);
        let come = keys(indexes, schema, &added);
        let mut gone = keys(indexes, schema, &removed);
        gone.retain(|key| !holds(&come, key));
        let keys = Keys {
            indexes,
            schema,
            table,
            new,
            alone,
        };
        keys.retain_unshared(&mut gone);
        Difference { gone, come }
    }
}

/// Differences that are known before records are compared: single values of attributes with many.
#[derive(Default)]
pub(super) struct Shift<'a> {
    /// The attributes; their values are not compared.
    pub(super) settled: Vec<AttributeId>,
    pub(super) removed: Vec<(AttributeIndex, &'a [u8])>,
    pub(super) added: Vec<(AttributeIndex, &'a [u8])>,
    /// Those removed whose hash no other value of the attribute has.
    pub(super) alone: Vec<(AttributeIndex, &'a [u8])>,
}

/// Some values with their types.
#[derive(Default)]
struct ValueList<'a>(Vec<(AttributeIndex, &'a [u8])>);

impl EmitSource for ValueList<'_> {
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8])) {
        self.0
            .iter()
            .for_each(|(attribute, value)| visit(*attribute, value));
    }
}

/// The values of an attribute before and after.
type Pair<'a> = (Option<Values<'a>>, Option<Values<'a>>);

/// Attributes whose values are not the same in both.
fn changed<'a>(
    old: &Record<'a>,
    new: &Record<'a>,
    settled: &[AttributeId],
) -> Vec<(AttributeId, Pair<'a>)> {
    let mut settled = settled.to_vec();
    settled.sort_unstable();
    let is_open = |(id, _): &(AttributeId, Values<'a>)| settled.binary_search(id).is_err();
    let mut changed = Vec::new();
    for (id, after) in new.attributes().filter(is_open) {
        let before = old.values(id);
        if !before.is_some_and(|before| before.same(&after)) {
            changed.push((id, (before, Some(after))));
        }
    }
    for (id, before) in old.attributes().filter(is_open) {
        if new.values(id).is_none() {
            changed.push((id, (Some(before), None)));
        }
    }
    changed
}

/// The values that only one of two lists has.
fn only_in_first<'a>(
    first: Option<Values<'a>>,
    second: Option<Values<'a>>,
) -> impl Iterator<Item = &'a [u8]> {
    let others = second.filter(|values| values.len() > FEW);
    let others: FxHashSet<&[u8]> = others.into_iter().flatten().collect();
    let few = second.filter(|values| values.len() <= FEW);
    let is_in_second = move |value: &[u8]| match &few {
        Some(few) => few.iter().any(|other| other == value),
        None => others.contains(value),
    };
    first
        .into_iter()
        .flatten()
        .filter(move |value| !is_in_second(value))
}

/// So many values are looked through one by one.
const FEW: usize = 8;

/// The keys of some values, ascending, each once.
fn keys(indexes: &Indexes, schema: &Schema, values: &ValueList<'_>) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    if values.0.is_empty() {
        return keys;
    }
    emit(
        indexes,
        schema,
        values,
        &|_| true,
        &mut Vec::new(),
        &mut |key| keys.push(key.to_vec()),
    );
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Whether a key is among some that ascend.
fn holds(keys: &[Vec<u8>], key: &[u8]) -> bool {
    keys.binary_search_by(|other| other.as_slice().cmp(key))
        .is_ok()
}

/// What decides whether a key that one value made is made by another one too.
struct Keys<'k> {
    indexes: &'k Indexes,
    schema: &'k Schema,
    table: &'k AttributeTable,
    new: &'k Record<'k>,
    /// Keys of values whose hash no other value of their attribute has.
    alone: Vec<Vec<u8>>,
}

impl Keys<'_> {
    /// Takes out of `gone` the keys that remaining values of the entry still make.
    fn retain_unshared(&self, gone: &mut Vec<Vec<u8>>) {
        gone.retain(|key| {
            let parts = key::parts(key);
            !parts.is_some_and(|(index, kind, _)| {
                kind == key::Kind::Presence as u8 && self.is_present(index)
            })
        });
        let affected: FxHashSet<AttributeId> = gone
            .iter()
            .filter_map(|key| Some((key, key::parts(key)?)))
            .filter(|(key, parts)| self.may_be_shared(key, parts))
            .map(|(_, parts)| parts.0)
            .collect();
        if affected.is_empty() {
            return;
        }
        let wanted = |index: &Index| affected.contains(&index.id);
        let source = TypedRecord {
            record: *self.new,
            table: self.table,
        };
        let mut scratch = Vec::new();
        let mut shared = vec![false; gone.len()];
        emit(
            self.indexes,
            self.schema,
            &source,
            &wanted,
            &mut scratch,
            &mut |key| {
                let found = gone.binary_search_by(|other| other.as_slice().cmp(key));
                if let Some(shared) = found.ok().and_then(|at| shared.get_mut(at)) {
                    *shared = true;
                }
            },
        );
        let mut shared = shared.into_iter();
        gone.retain(|_| !shared.next().unwrap_or(false));
    }

    /// Whether the entry has values in an index.
    fn is_present(&self, index: AttributeId) -> bool {
        let mut indexes = self.indexes.list().iter();
        let index = indexes.find(|other| other.id == index);
        index.is_some_and(|index| self.feeding(index).any(|values| !values.is_empty()))
    }

    /// The attributes of the entry that are in an index.
    fn feeding(&self, index: &Index) -> impl Iterator<Item = Values<'_>> {
        let indexed = self.schema.attribute_at(index.attribute);
        let feeds = |id: AttributeId| {
            let attribute = self.table.get(id).map(|info| info.description.attribute);
            attribute.is_some_and(|a| indexed.covers(a))
        };
        let rows = self.new.attributes();
        rows.filter(move |(id, _)| feeds(*id))
            .map(|(_, values)| values)
    }

    /// Whether a key may be made by more than one value of the entry. It is not when it stands for one value alone, the
    /// literal normal form of it or its hash, and only one attribute of the entry is in the index: the values of one
    /// attribute differ in normal form.
    fn may_be_shared(&self, key: &[u8], parts: &(AttributeId, u8, Vec<u8>)) -> bool {
        let (index_id, kind, value) = parts;
        let mut indexes = self.indexes.list().iter();
        let Some(index) = indexes.find(|index| index.id == *index_id) else {
            return true;
        };
        let lone = key::is_literal(value) || holds(&self.alone, key);
        if *kind == key::Kind::Presence as u8 {
            return false;
        }
        if *kind != key::Kind::Equality as u8 || !lone || index.object_class {
            return true;
        }
        self.feeding(index).count() > 1
    }
}
