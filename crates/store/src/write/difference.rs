//! The difference between two records of an entry, in index keys.
//!
//! Adding a member to a group of 100,000 makes one key, and removing one makes one. The other
//! values are compared as bytes and not normalised.

use rustc_hash::FxHashSet;

use crate::attributes::AttributeTable;
use crate::ids::AttributeId;
use crate::index::{Index, Indexes, KeyMaker, TypedRecord, ValueSource, equality, key};
use crate::record::{Record, Values};
use fulgurite_schema::{AttributeIndex, Schema};

/// Keys of the postings that lose and gain an entry, ascending.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) removed_keys: Vec<Vec<u8>>,
    pub(super) added_keys: Vec<Vec<u8>>,
}

impl Difference {
    pub(super) fn between(
        indexes: &Indexes,
        schema: &Schema,
        table: &AttributeTable,
        (old, new): (&Record<'_>, &Record<'_>),
        known: &KnownChanges<'_>,
    ) -> Difference {
        let fed = |(attribute, _): &&(AttributeIndex, &[u8])| indexes.is_fed_by(*attribute);
        let mut removed = ValueList(known.removed.iter().filter(fed).copied().collect());
        let mut added = ValueList(known.added.iter().filter(fed).copied().collect());
        let mut skipped = known.skipped.clone();
        skipped.sort_unstable();
        let type_of = |id| {
            let attribute = table.get(id)?.description.attribute;
            let matters = indexes.is_fed_by(attribute) && skipped.binary_search(&id).is_err();
            matters.then_some(attribute)
        };
        for (attribute, (before, after)) in changed(old, new, type_of) {
            only_in_first(before, after, |value| removed.0.push((attribute, value)));
            only_in_first(after, before, |value| added.0.push((attribute, value)));
        }
        let last_of_hash = ValueList(known.last_of_hash.iter().filter(fed).copied().collect());
        let last_of_hash = keys(indexes, schema, &last_of_hash);
        let added_keys = keys(indexes, schema, &added);
        let mut removed_keys = keys(indexes, schema, &removed);
        removed_keys.retain(|key| !holds(&added_keys, key));
        let keys = KeySharing {
            indexes,
            schema,
            table,
            new,
            last_of_hash,
        };
        debug_assert!(
            known.last_of_hash.len() <= known.removed.len(),
            "only a removed value is the last of its hash"
        );
        keys.retain_unshared(&mut removed_keys);
        // Pending postings take the last change of an id, so no key may come and go.
        debug_assert!(
            !removed_keys.iter().any(|key| holds(&added_keys, key)),
            "a key is either removed or added"
        );
        Difference {
            removed_keys,
            added_keys,
        }
    }
}

/// Changes that are known before records are compared: single overflow values.
#[derive(Default)]
pub(super) struct KnownChanges<'a> {
    /// The attributes of these changes. Their values are not compared.
    pub(super) skipped: Vec<AttributeId>,
    pub(super) removed: Vec<(AttributeIndex, &'a [u8])>,
    pub(super) added: Vec<(AttributeIndex, &'a [u8])>,
    /// Removed values whose hash no other value of the attribute has.
    pub(super) last_of_hash: Vec<(AttributeIndex, &'a [u8])>,
}

/// Some values with their types.
#[derive(Default)]
struct ValueList<'a>(Vec<(AttributeIndex, &'a [u8])>);

impl ValueSource for ValueList<'_> {
    fn each(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8])) {
        self.0
            .iter()
            .for_each(|(attribute, value)| visit(*attribute, value));
    }
}

/// The values of an attribute before and after.
type ValuePair<'a> = (Option<Values<'a>>, Option<Values<'a>>);

/// Returns the attributes whose values differ, of those that have a type.
fn changed<'a>(
    old: &Record<'a>,
    new: &Record<'a>,
    type_of: impl Fn(AttributeId) -> Option<AttributeIndex>,
) -> Vec<(AttributeIndex, ValuePair<'a>)> {
    let mut changed = Vec::new();
    for id in new.ids() {
        let Some(attribute) = type_of(id) else {
            continue;
        };
        let (before, after) = (old.values(id), new.values(id));
        let stays = before
            .zip(after)
            .is_some_and(|(one, other)| one.same(&other));
        if !stays {
            changed.push((attribute, (before, after)));
        }
    }
    for id in old.ids() {
        if let Some(attribute) = type_of(id)
            && new.values(id).is_none()
        {
            changed.push((attribute, (old.values(id), None)));
        }
    }
    changed
}

/// Visits the values that only the first of two lists has.
fn only_in_first<'a>(
    first: Option<Values<'a>>,
    second: Option<Values<'a>>,
    mut visit: impl FnMut(&'a [u8]),
) {
    let Some(first) = first else { return };
    let Some(second) = second else {
        return first.into_iter().for_each(visit);
    };
    if second.len() <= FEW {
        let is_new = |value: &&[u8]| !second.iter().any(|other| other == *value);
        return first.into_iter().filter(is_new).for_each(visit);
    }
    let others: FxHashSet<&[u8]> = second.into_iter().collect();
    for value in first {
        if !others.contains(value) {
            visit(value);
        }
    }
}

/// Number of values up to which a linear search is used.
const FEW: usize = 8;

/// Returns the keys of some values, ascending, each once.
fn keys(indexes: &Indexes, schema: &Schema, values: &ValueList<'_>) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    if values.0.is_empty() {
        return keys;
    }
    let mut scratch = Vec::with_capacity(key::LITERAL_LEN + 16);
    KeyMaker::new(indexes, schema).each_key(values, &mut scratch, &mut |key| {
        keys.push(key.to_vec());
    });
    keys.sort_unstable();
    keys.dedup();
    debug_assert!(keys.is_sorted_by(|a, b| a < b), "keys ascend, each once");
    keys
}

/// Returns true if a key is among ascending keys.
fn holds(keys: &[Vec<u8>], key: &[u8]) -> bool {
    debug_assert!(keys.is_sorted(), "a binary search needs ascending keys");
    keys.binary_search_by(|other| other.as_slice().cmp(key))
        .is_ok()
}

/// Decides if two values of an entry make the same key.
struct KeySharing<'k> {
    indexes: &'k Indexes,
    schema: &'k Schema,
    table: &'k AttributeTable,
    new: &'k Record<'k>,
    /// Keys of values whose hash no other value of their attribute has.
    last_of_hash: Vec<Vec<u8>>,
}

impl KeySharing<'_> {
    /// Removes from `removed_keys` the keys that remaining values of the entry still make.
    fn retain_unshared(&self, removed_keys: &mut Vec<Vec<u8>>) {
        debug_assert!(
            removed_keys.is_sorted(),
            "a binary search needs ascending keys"
        );
        let is_presence = |key: &[u8]| key::kind_code(key) == Some(key::PRESENCE_CODE);
        removed_keys.retain(|key| {
            let index = key::attribute(key).filter(|_| is_presence(key));
            !index.is_some_and(|index| self.is_present(index))
        });
        let affected: FxHashSet<AttributeId> = removed_keys
            .iter()
            .filter(|key| !is_presence(key))
            .filter_map(|key| Some((key, key::attribute(key)?)))
            .filter(|(key, index)| self.may_be_shared(key, *index))
            .map(|(_, index)| index)
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
        let mut shared = vec![false; removed_keys.len()];
        let keys = KeyMaker::new(self.indexes, self.schema);
        keys.each_key_of(&source, &wanted, &mut scratch, &mut |key| {
            let found = removed_keys.binary_search_by(|other| other.as_slice().cmp(key));
            if let Some(shared) = found.ok().and_then(|at| shared.get_mut(at)) {
                *shared = true;
            }
        });
        let mut shared = shared.into_iter();
        removed_keys.retain(|_| !shared.next().unwrap_or(false));
    }

    /// Returns true if the entry has values in an index.
    fn is_present(&self, index: AttributeId) -> bool {
        let mut indexes = self.indexes.list().iter();
        let index = indexes.find(|other| other.id == index);
        let has_values = |id| {
            let values = self.new.values(id);
            values.is_some_and(|values| !values.is_empty())
        };
        index.is_some_and(|index| self.feeding(index).any(has_values))
    }

    /// Returns the attributes of the entry that are in an index.
    fn feeding(&self, index: &Index) -> impl Iterator<Item = AttributeId> {
        let indexed = self.schema.attribute_at(index.attribute);
        self.new.ids().filter(|id| {
            let attribute = self.table.get(*id).map(|info| info.description.attribute);
            attribute.is_some_and(|attribute| indexed.covers(attribute))
        })
    }

    /// Returns true if more than one value of the entry may make a key. A key with the literal
    /// normal form of a value or its hash is made by that value only. The condition is that only
    /// one attribute of the entry is in the index. The values of one attribute differ in normal
    /// form.
    fn may_be_shared(&self, key: &[u8], index: AttributeId) -> bool {
        let mut indexes = self.indexes.list().iter();
        let Some(index) = indexes.find(|other| other.id == index) else {
            return true;
        };
        let is_equality = key::kind_code(key) == Some(equality::CODE);
        if !is_equality || index.object_class {
            return true;
        }
        let is_lone = key::has_literal(key) || holds(&self.last_of_hash, key);
        !is_lone || self.feeding(index).count() > 1
    }
}
