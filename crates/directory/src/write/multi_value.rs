//! Changes of attributes with many values, value by value.
//!
//! The store looks up the values that a modify names. It neither reads nor checks the others again.

use std::borrow::Cow;
use std::collections::HashSet;

use fulgurite_ldap::{ModifyOperation, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{EntryId, EntryView, Snapshot, ValueChange, View};

use crate::core::foundation::Core;
use crate::core::result::{self, OpResult, refuse};
use crate::request::change::{Change, no_such_attribute, no_such_value};

/// The attributes of an entry that are changed value by value.
pub(crate) struct MultiValueAttributes<'v> {
    attributes: Vec<MultiValueAttribute<'v>>,
}

/// Looks a value up in the stored attribute.
type ValueLookup<'v> = Box<dyn Fn(&[u8]) -> OpResult<bool> + 'v>;

/// One such attribute, after the changes so far.
struct MultiValueAttribute<'v> {
    description: AttributeDescription,
    /// Returns true if the stored attribute has a value.
    holds: ValueLookup<'v>,
    /// The number of values.
    len: usize,
    /// Removed stored values: the normal form, and the value of the change.
    removed: Vec<(Vec<u8>, Vec<u8>)>,
    /// Added values: the normal form, and the value of the change.
    added: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'v> MultiValueAttributes<'v> {
    /// Returns an empty set: the copy of the entry has all values.
    pub(crate) fn none() -> MultiValueAttributes<'v> {
        let attributes = Vec::new();
        MultiValueAttributes { attributes }
    }

    /// Returns the large attributes of the entry of which the changes name only single values.
    pub(crate) fn of<T: Snapshot>(
        core: &Core,
        view: &'v View<'_, T>,
        (entry, dn): (&EntryView<'v>, &Dn),
        changes: &[&[Change]],
    ) -> MultiValueAttributes<'v> {
        let id = entry.id();
        let large = entry
            .attributes()
            .filter(|held| held.values.are_overflow())
            .filter(|held| is_by_value(core, dn, &held.info.description, changes));
        let attributes = large.map(|held| {
            let description = held.info.description.clone();
            MultiValueAttribute {
                holds: value_lookup(view, id, description.clone()),
                description,
                len: held.values.len(),
                removed: Vec::new(),
                added: Vec::new(),
            }
        });
        MultiValueAttributes {
            attributes: attributes.collect(),
        }
    }

    /// Returns true if the attribute is in the set.
    pub(crate) fn has(&self, description: &AttributeDescription) -> bool {
        let mut attributes = self.attributes.iter();
        attributes.any(|large| large.description == *description)
    }

    /// Applies a change; `None` if its attribute is not in the set.
    pub(crate) fn apply(
        &mut self,
        schema: &Schema,
        change: &Change,
        permissive: bool,
    ) -> Option<OpResult> {
        let Attribute {
            description,
            values,
        } = &change.attribute;
        let mut attributes = self.attributes.iter_mut();
        let large = attributes.find(|large| large.description == *description)?;
        debug_assert!(
            matches!(
                change.operation,
                ModifyOperation::Add | ModifyOperation::Delete
            ),
            "other changes need all values"
        );
        Some(match change.operation {
            ModifyOperation::Add => large.add(schema, values, permissive),
            _ => large.delete(schema, values, permissive),
        })
    }

    /// Removes attributes without values from the entry, and returns the changes for the store.
    pub(crate) fn finish(self, entry: &mut Entry) -> Vec<ValueChange> {
        let finished = self.attributes.into_iter().map(|large| {
            debug_assert!(large.added.len() <= large.len, "added values are counted");
            if large.len == 0 {
                entry.set(&large.description, Vec::new());
                debug_assert!(
                    entry.attribute(&large.description).is_none(),
                    "an attribute without values is removed"
                );
            }
            let values = |values: Vec<(Vec<u8>, Vec<u8>)>| {
                values.into_iter().map(|(_, value)| value).collect()
            };
            ValueChange {
                description: large.description,
                removed: values(large.removed),
                added: values(large.added),
            }
        });
        finished.collect()
    }
}

fn value_lookup<'v, T: Snapshot>(
    view: &'v View<'_, T>,
    id: EntryId,
    description: AttributeDescription,
) -> ValueLookup<'v> {
    Box::new(move |value| {
        let held = view.holds_value(id, &description, value);
        held.map_err(|error| result::store(&error))
    })
}

/// Returns true if an attribute can be changed value by value.
///
/// Attributes of the RDN, object classes and sorted attributes cannot.
fn is_by_value(
    core: &Core,
    dn: &Dn,
    description: &AttributeDescription,
    changes: &[&[Change]],
) -> bool {
    let (schema, types) = (&core.schema, &core.types);
    let attribute = description.attribute;
    let names = || {
        let avas = dn.rdn().into_iter().flat_map(|rdn| rdn.avas());
        avas.into_iter().any(|ava| ava.attribute == attribute)
    };
    let single = |change: &Change| match change.operation {
        ModifyOperation::Add => true,
        ModifyOperation::Delete => !change.attribute.values.is_empty(),
        _ => false,
    };
    let mut own = changes
        .iter()
        .flat_map(|changes| changes.iter())
        .filter(|change| change.attribute.description == *description);
    let keys = types.auth_password.as_ref();
    schema.attribute_at(attribute).equality.is_some()
        && attribute != types.object_class.attribute
        && keys.is_none_or(|keys| keys.attribute != attribute)
        && !core.sorted_values.contains(&attribute)
        && own.all(single)
        && !names()
}

impl MultiValueAttribute<'_> {
    /// Returns true if the attribute has a value now.
    fn holds(&self, normal: &[u8], value: &[u8]) -> OpResult<bool> {
        let is = |(held, _): &(Vec<u8>, Vec<u8>)| held == normal;
        if self.added.iter().any(is) {
            return Ok(true);
        }
        Ok(!self.removed.iter().any(is) && (self.holds)(value)?)
    }

    fn add(&mut self, schema: &Schema, values: &[Vec<u8>], permissive: bool) -> OpResult {
        for (number, value) in values.iter().enumerate() {
            let normal = schema.normal_value(self.description.attribute, value);
            let normal = normal.map_or_else(|| value.clone(), Cow::into_owned);
            if !self.holds(&normal, value)? {
                debug_assert!(
                    self.added.iter().all(|(added, _)| *added != normal),
                    "a value is added once"
                );
                self.added.push((normal, value.clone()));
                self.len += 1;
            } else if !permissive {
                let name = self.description.text(schema);
                let text = format!("modify/add: {name}: value #{number} already exists");
                return Err(refuse(ResultCode::AttributeOrValueExists, text));
            }
        }
        Ok(())
    }

    fn delete(&mut self, schema: &Schema, values: &[Vec<u8>], permissive: bool) -> OpResult {
        let name = self.description.text(schema).into_owned();
        let missing = |text: String| Err(refuse(ResultCode::NoSuchAttribute, text));
        if self.len == 0 {
            return if permissive {
                Ok(())
            } else {
                missing(no_such_attribute(&name))
            };
        }
        let mut deleted: HashSet<Vec<u8>> = HashSet::new();
        for value in values {
            let normal = schema.normal_value(self.description.attribute, value);
            let Some(normal) = normal.map(Cow::into_owned) else {
                continue;
            };
            if !deleted.insert(normal.clone()) {
                continue;
            }
            if !self.holds(&normal, value)? {
                if permissive {
                    continue;
                }
                return missing(no_such_value(&name));
            }
            match self.added.iter().position(|(held, _)| *held == normal) {
                Some(position) => drop(self.added.remove(position)),
                None => {
                    debug_assert!(
                        self.removed.iter().all(|(removed, _)| *removed != normal),
                        "a stored value is removed once"
                    );
                    self.removed.push((normal, value.clone()));
                }
            }
            debug_assert!(self.len > 0, "an attribute that has a value is not empty");
            self.len = self.len.saturating_sub(1);
        }
        Ok(())
    }
}
