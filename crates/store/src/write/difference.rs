//! The difference between two records of an entry, in index keys.
//!
//! Adding one member to a group of 100,000 makes one key, and removing one makes one; the other values are compared
//! as bytes but not normalised.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::attributes::AttributeTable;
use crate::entry_view::TypedRecord;
use crate::ids::AttributeId;
use crate::index::{EmitSource, Index, Indexes, emit, key};
use crate::record::{Record, Values};
use fulgurite_schema::{AttributeIndex, Schema};

/// Keys of the postings that an entry leaves and enters.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) gone: BTreeSet<Vec<u8>>,
    pub(super) come: BTreeSet<Vec<u8>>,
}

impl Difference {
    pub(super) fn between(
        indexes: &Indexes,
        schema: &Schema,
        table: &AttributeTable,
        old: &Record<'_>,
        new: &Record<'_>,
    ) -> Difference {
        let (mut removed, mut added) = (ValueList::default(), ValueList::default());
        for id in changed(old, new) {
            let attribute = table.get(id).map(|info| info.description.attribute);
            let Some(attribute) = attribute.filter(|attribute| indexes.is_fed_by(*attribute))
            else {
                continue;
            };
            let (before, after) = (old.values(id), new.values(id));
            removed
                .0
                .extend(only_in_first(before, after).map(|value| (attribute, value)));
            added
                .0
                .extend(only_in_first(after, before).map(|value| (attribute, value)));
        }
        let come = keys(indexes, schema, &added);
        let mut gone = keys(indexes, schema, &removed);
        gone.retain(|key| !come.contains(key));
        retain_unshared(indexes, schema, table, new, &mut gone);
        Difference { gone, come }
    }
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

/// Attributes whose values are not the same in both.
fn changed(old: &Record<'_>, new: &Record<'_>) -> BTreeSet<AttributeId> {
    let differs = |id: &AttributeId| match (old.values(*id), new.values(*id)) {
        (Some(before), Some(after)) => !before.same(&after),
        _ => true,
    };
    old.attributes()
        .chain(new.attributes())
        .map(|(id, _)| id)
        .filter(differs)
        .collect()
}

fn only_in_first<'a>(
    first: Option<Values<'a>>,
    second: Option<Values<'a>>,
) -> impl Iterator<Item = &'a [u8]> {
    let second: FxHashSet<&[u8]> = second.into_iter().flatten().collect();
    first
        .into_iter()
        .flatten()
        .filter(move |value| !second.contains(value))
}

fn keys(indexes: &Indexes, schema: &Schema, values: &dyn EmitSource) -> BTreeSet<Vec<u8>> {
    let mut keys = BTreeSet::new();
    emit(
        indexes,
        schema,
        values,
        &|_| true,
        &mut Vec::new(),
        &mut |key| {
            if !keys.contains(key) {
                keys.insert(key.to_vec());
            }
        },
    );
    keys
}

/// Takes out of `gone` the keys that remaining values of the entry still make.
fn retain_unshared(
    indexes: &Indexes,
    schema: &Schema,
    table: &AttributeTable,
    new: &Record<'_>,
    gone: &mut BTreeSet<Vec<u8>>,
) {
    let may_share = |key: &Vec<u8>| {
        key::parts(key).is_none_or(|parts| shares_keys(indexes, schema, table, new, &parts))
    };
    let affected: FxHashSet<AttributeId> = gone
        .iter()
        .filter(|key| may_share(key))
        .filter_map(|key| Some(key::parts(key)?.0))
        .collect();
    if affected.is_empty() {
        return;
    }
    let wanted = |index: &Index| affected.contains(&index.id);
    emit(
        indexes,
        schema,
        &TypedRecord {
            record: *new,
            table,
        },
        &wanted,
        &mut Vec::new(),
        &mut |key| {
            gone.remove(key);
        },
    );
}

/// Whether a key may be made by more than one value of the entry. It is not when it holds the literal normal form of a
/// value, and only one attribute of the entry is in the index: the values of one attribute differ in normal form.
fn shares_keys(
    indexes: &Indexes,
    schema: &Schema,
    table: &AttributeTable,
    new: &Record<'_>,
    parts: &(AttributeId, u8, Vec<u8>),
) -> bool {
    let (index_id, kind, value) = parts;
    let Some(index) = indexes.list().iter().find(|index| index.id == *index_id) else {
        return true;
    };
    if *kind != key::Kind::Equality as u8 || !key::is_literal(value) || index.object_class {
        return true;
    }
    let feeds = |id: AttributeId| {
        let attribute = table.get(id).map(|info| info.description.attribute);
        attribute.is_some_and(|a| schema.attribute_at(index.attribute).covers(a))
    };
    new.attributes().filter(|(id, _)| feeds(*id)).count() > 1
}
