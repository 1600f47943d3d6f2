//! Two states of an entry as one: of each attribute and value, the change with the greater number.
//!
//! The result does not depend on the order in which states come, nor on how often. So servers that
//! have heard of the same changes have the same entry.
//!
//! ```text
//!   attribute   the later of both clearings; values with that number from the side that has it
//!   value       the later of its changes, if that is later than the clearing
//!   RDN         the later one; its values are shown beside those of the attribute
//!   entryCSN    the later one, with modifiersName and modifyTimestamp
//! ```

use std::collections::{HashMap, HashSet};

use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::PackedCsn;

use super::stamps::{AttributeStamps, EntryStamps, ValueKey, ValueStamp, value_key};
use crate::core::well_known_types::WellKnownTypes;

/// A state of an entry.
#[derive(Clone, Copy)]
pub(super) struct EntrySide<'s> {
    pub(super) entry: &'s Entry,
    pub(super) csn: Option<PackedCsn>,
    pub(super) stamps: &'s EntryStamps,
}

/// The outcome for the values of an entry.
pub(super) struct Joined {
    /// The attributes. The name and the values that it shows are still to be set.
    pub(super) entry: Entry,
    pub(super) stamps: EntryStamps,
    pub(super) takes_leaf: bool,
    /// Numbers of the parts that the given state has later.
    pub(super) news: Vec<PackedCsn>,
    /// True if the held state has a part later.
    pub(super) keeps: bool,
}

/// The join of two states.
pub(super) struct Join<'j> {
    pub(super) schema: &'j Schema,
    pub(super) types: &'j WellKnownTypes,
    pub(super) held: EntrySide<'j>,
    pub(super) given: EntrySide<'j>,
}

impl Join<'_> {
    /// Joins the states. Attributes that are not copied stay as they are.
    pub(super) fn run(&self, is_copied: &dyn Fn(&AttributeDescription) -> bool) -> Joined {
        let (held, given) = (&self.held, &self.given);
        let takes_newest = given.csn > held.csn;
        let mut joined = Joined {
            entry: Entry::new(held.entry.dn.clone()),
            stamps: EntryStamps {
                of: held.csn.max(given.csn),
                base: held.stamps.base.max(given.stamps.base),
                leaf: held.stamps.leaf.max(given.stamps.leaf),
                deleted: held.stamps.deleted.max(given.stamps.deleted),
                announced: held.stamps.announced.max(given.stamps.announced),
                ..EntryStamps::default()
            },
            takes_leaf: given.stamps.leaf > held.stamps.leaf,
            news: Vec::new(),
            keeps: given.stamps.deleted < held.stamps.deleted,
        };
        joined.compare(held.csn, given.csn);
        joined.compare(held.stamps.base, given.stamps.base);
        joined.compare(held.stamps.leaf, given.stamps.leaf);
        let newest = if takes_newest { given } else { held };
        for description in self.descriptions(newest.entry) {
            let side = match (self.types.is_stamp(&description), is_copied(&description)) {
                (_, false) => held,
                (true, true) => newest,
                (false, true) => {
                    self.join_attribute(&mut joined, &description, takes_newest);
                    continue;
                }
            };
            let attribute = side.entry.attribute(&description);
            joined.entry.attributes.extend(attribute.cloned());
        }
        self.join_absent(&mut joined);
        joined.stamps.tidy();
        joined
    }

    /// Returns the attributes of both states, those of the newest one first.
    fn descriptions(&self, newest: &Entry) -> Vec<AttributeDescription> {
        let mut all: Vec<AttributeDescription> = Vec::new();
        for entry in [newest, self.held.entry, self.given.entry] {
            for attribute in &entry.attributes {
                if !all.contains(&attribute.description) {
                    all.push(attribute.description.clone());
                }
            }
        }
        all
    }

    fn join_attribute(
        &self,
        joined: &mut Joined,
        description: &AttributeDescription,
        takes_newest: bool,
    ) {
        let name = description.text(self.schema);
        let stamps = self.join_stamps(joined, &name);
        let cleared = [
            self.held.stamps.cleared(&name),
            self.given.stamps.cleared(&name),
        ];
        let from_given = match cleared[0] == cleared[1] {
            true => takes_newest,
            false => cleared[1] > cleared[0],
        };
        let held = own_values(self.schema, &self.held, description);
        let given = own_values(self.schema, &self.given, description);
        let sides = match takes_newest {
            true => [(&given, from_given), (&held, !from_given)],
            false => [(&held, !from_given), (&given, from_given)],
        };
        let mut values = Vec::new();
        let mut taken = HashSet::new();
        for (side, has_cleared) in sides {
            for (key, value) in side {
                let is_here = match stamps.values.get(key) {
                    Some(stamp) => stamp.is_here,
                    None => has_cleared,
                };
                if is_here && taken.insert(*key) {
                    values.push(value.to_vec());
                }
            }
        }
        if !values.is_empty() {
            joined.entry.attributes.push(Attribute {
                description: description.clone(),
                values,
            });
        }
        joined.stamps.attributes.insert(name.into_owned(), stamps);
    }

    /// Joins the numbers of attributes that neither state has.
    fn join_absent(&self, joined: &mut Joined) {
        for side in [self.held.stamps, self.given.stamps] {
            for name in side.attributes.keys() {
                if !joined.stamps.attributes.contains_key(name) {
                    let stamps = self.join_stamps(joined, name);
                    joined.stamps.attributes.insert(name.clone(), stamps);
                }
            }
        }
    }

    fn join_stamps(&self, joined: &mut Joined, name: &str) -> AttributeStamps {
        let (held, given) = (self.held.stamps, self.given.stamps);
        joined.compare(held.cleared(name), given.cleared(name));
        let cleared = held.cleared(name).max(given.cleared(name));
        let mut values = std::collections::BTreeMap::<ValueKey, ValueStamp>::new();
        for (own, other, is_given) in [(held, given, false), (given, held, true)] {
            let stamps = own.attributes.get(name);
            for (key, stamp) in stamps.into_iter().flat_map(|stamps| &stamps.values) {
                let number = Some(stamp.csn);
                let other = other.value(name, key).map(|other| other.csn);
                if number > other {
                    values.insert(*key, *stamp);
                }
                if number > cleared && number > other {
                    match is_given {
                        true => joined.news.push(stamp.csn),
                        false => joined.keeps = true,
                    }
                } else if number == other {
                    values.entry(*key).or_insert(*stamp);
                }
            }
        }
        values.retain(|_, value| {
            let number = Some(value.csn);
            number > cleared || (number == cleared && value.is_here)
        });
        AttributeStamps { cleared, values }
    }
}

impl Joined {
    /// Returns true if a deletion has made others forget a part that the held state has later. They
    /// must hear of the outcome. The place is such a part, too.
    pub(super) fn keeps_forgotten(&self, keeps_place: bool) -> bool {
        (self.keeps || keeps_place) && self.stamps.deleted.is_some()
    }

    fn compare(&mut self, held: Option<PackedCsn>, given: Option<PackedCsn>) {
        match given {
            Some(csn) if given > held => self.news.push(csn),
            _ => self.keeps |= held > given,
        }
    }
}

/// Returns the values of an attribute, without those that are there because of the name.
fn own_values<'e>(
    schema: &Schema,
    side: &EntrySide<'e>,
    description: &AttributeDescription,
) -> Vec<(ValueKey, &'e [u8])> {
    let Some(held) = side.entry.attribute(description) else {
        return Vec::new();
    };
    let named = named_keys(schema, &side.entry.dn, description);
    let name = description.text(schema);
    let values = held.values.iter().map(|value| {
        let key = value_key(schema, description.attribute, value);
        (key, value.as_slice())
    });
    let is_own = |key: &ValueKey| {
        let stamp = side.stamps.value(&name, key);
        !named.contains(key) || stamp.is_some_and(|stamp| stamp.is_here)
    };
    values.filter(|(key, _)| is_own(key)).collect()
}

/// Returns the values of an attribute in a name.
fn named_keys(schema: &Schema, dn: &Dn, description: &AttributeDescription) -> Vec<ValueKey> {
    // An entry that is aside for a moment has the name of its UUID.
    let is_set_by_users = !schema
        .attribute_at(description.attribute)
        .no_user_modification;
    let is_plain = description.options().is_none() && is_set_by_users;
    let avas = dn.rdn().into_iter().flat_map(|rdn| rdn.avas());
    let avas = avas.filter(|ava| is_plain && ava.attribute == description.attribute);
    avas.map(|ava| value_key(schema, ava.attribute, ava.value))
        .collect()
}

/// Adds the values of the name, and notes which of them the entry has anyway.
pub(super) fn show_name(schema: &Schema, entry: &mut Entry, stamps: &mut EntryStamps) {
    let avas: Vec<_> = match entry.dn.rdn() {
        Some(rdn) => rdn
            .avas()
            .map(|ava| (ava.attribute, ava.value.to_vec()))
            .collect(),
        None => return,
    };
    for (kind, value) in avas {
        let description = AttributeDescription::plain(kind);
        if entry.has_value(schema, kind, &value) {
            let name = description.text(schema);
            let key = value_key(schema, kind, &value);
            let cleared = stamps.cleared(&name);
            let held = stamps.attributes.entry(name.into_owned()).or_default();
            held.cleared = held.cleared.max(cleared);
            if let Some(csn) = cleared {
                let stamp = ValueStamp { csn, is_here: true };
                held.values.entry(key).or_insert(stamp);
            }
            continue;
        }
        match entry.attribute_mut(&description) {
            Some(held) if schema.attribute_at(kind).single_value => held.values = vec![value],
            Some(held) => held.values.insert(0, value),
            None => entry.push(&description, value),
        }
    }
    stamps.tidy();
}

/// Orders attributes and values as in another state, and any others behind them.
///
/// A slapd that follows can lose a value of the name if its attribute has moved behind entryCSN.
pub(super) fn order_like(entry: &mut Entry, model: &Entry) {
    let of_model = model.attributes.iter().map(|held| &held.description);
    let of_model: Vec<_> = of_model.collect();
    entry.attributes.sort_by_cached_key(|attribute| {
        let place = of_model
            .iter()
            .position(|held| **held == attribute.description);
        place.unwrap_or(usize::MAX)
    });
    for attribute in &mut entry.attributes {
        let Some(other) = model.attribute(&attribute.description) else {
            continue;
        };
        if attribute.values != other.values {
            let places = other.values.iter().zip(0..);
            let places: HashMap<&[u8], usize> =
                places.map(|(value, place)| (&value[..], place)).collect();
            attribute
                .values
                .sort_by_key(|value| places.get(&value[..]).copied().unwrap_or(usize::MAX));
        }
    }
}

/// Removes the values that an entry has because of its name only.
pub(super) fn hide_name(schema: &Schema, entry: &mut Entry, stamps: &EntryStamps) {
    let shown = entry.clone();
    let side = EntrySide {
        entry: &shown,
        csn: stamps.of,
        stamps,
    };
    for attribute in &shown.attributes {
        let description = &attribute.description;
        if named_keys(schema, &shown.dn, description).is_empty() {
            continue;
        }
        let own = own_values(schema, &side, description);
        let own = own.into_iter().map(|(_, value)| value.to_vec());
        entry.set(description, own.collect());
    }
}

/// Returns true if two entries have the same values, in any order.
pub(super) fn have_equal_values(one: &Entry, other: &Entry) -> bool {
    let sorted = |attribute: &Attribute| {
        let mut values = attribute.values.clone();
        values.sort_unstable();
        values
    };
    let is_in = |held: &Attribute| {
        let same = other.attribute(&held.description);
        same.is_some_and(|same| held.values == same.values || sorted(held) == sorted(same))
    };
    one.attributes.len() == other.attributes.len() && one.attributes.iter().all(is_in)
}
