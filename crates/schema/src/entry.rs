//! Entries as they come from a client or a file: owned, resolved, not yet checked.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use crate::description::AttributeDescription;
use crate::dn::Dn;
use crate::registry::{AttributeIndex, Schema};

/// One attribute of an entry: a description and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Type and options.
    pub description: AttributeDescription,
    /// Values as the client sent them, in its order.
    pub values: Vec<Vec<u8>>,
}

/// An entry: a name and attributes, each description at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Distinguished name.
    pub dn: Dn,
    /// Attributes in no particular order.
    pub attributes: Vec<Attribute>,
}

impl Entry {
    /// Returns an entry without attributes.
    #[must_use]
    pub fn new(dn: Dn) -> Entry {
        Entry {
            dn,
            attributes: Vec::new(),
        }
    }

    /// Returns the attribute with exactly this description.
    #[must_use]
    pub fn attribute(&self, description: &AttributeDescription) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|a| a.description == *description)
    }

    /// Returns the attribute with exactly this description, for changing.
    pub fn attribute_mut(&mut self, description: &AttributeDescription) -> Option<&mut Attribute> {
        self.attributes
            .iter_mut()
            .find(|a| a.description == *description)
    }

    /// Returns the values of a type without options; empty when absent.
    #[must_use]
    pub fn values(&self, attribute: AttributeIndex) -> &[Vec<u8>] {
        self.attributes
            .iter()
            .find(|a| a.description.attribute == attribute && a.description.options().is_none())
            .map_or(&[], |a| a.values.as_slice())
    }

    /// Appends a value, creating the attribute when it is new. Equal values are found by
    /// [`Schema::check`](crate::Schema::check), not here.
    pub fn push(&mut self, description: &AttributeDescription, value: Vec<u8>) {
        // Input has the values of an attribute one behind the other.
        if let Some(last) = self.attributes.last_mut()
            && last.description == *description
        {
            return last.values.push(value);
        }
        match self.attribute_mut(description) {
            Some(attribute) => attribute.values.push(value),
            None => self.attributes.push(Attribute {
                description: description.clone(),
                values: vec![value],
            }),
        }
    }

    /// Replaces all values of a description; an empty list removes the attribute.
    pub fn set(&mut self, description: &AttributeDescription, values: Vec<Vec<u8>>) {
        self.attributes.retain(|a| a.description != *description);
        if !values.is_empty() {
            self.attributes.push(Attribute {
                description: description.clone(),
                values,
            });
        }
    }

    /// Adds the values its RDN names and the entry lacks (RFC 4511, section 4.7, as servers do it).
    pub fn add_missing_rdn_values(&mut self, schema: &Schema) {
        let Some(rdn) = self.dn.rdn() else { return };
        let missing: Vec<(AttributeDescription, Vec<u8>)> = rdn
            .avas()
            .filter(|ava| !self.has_value(schema, ava.attribute, ava.value))
            .map(|ava| {
                (
                    AttributeDescription::plain(ava.attribute),
                    ava.value.to_vec(),
                )
            })
            .collect();
        for (description, value) in missing {
            self.push(&description, value);
        }
    }

    /// Keeps the first of equal values of each attribute, for input that repeats values by mistake.
    /// Returns the number of values dropped.
    pub fn drop_repeated_values(&mut self, schema: &Schema) -> usize {
        let mut dropped = 0;
        for held in self.attributes.iter_mut().filter(|a| a.values.len() > 1) {
            let attribute = held.description.attribute;
            let mut seen = FxHashSet::default();
            let before = held.values.len();
            held.values.retain(|value| {
                let normal = schema.normal_value(attribute, value);
                seen.insert(normal.map_or_else(|| value.clone(), Cow::into_owned))
            });
            dropped += before - held.values.len();
        }
        dropped
    }

    /// Returns true if the type (without options) holds a value equal to `value` by its equality
    /// rule.
    #[must_use]
    pub fn has_value(&self, schema: &Schema, attribute: AttributeIndex, value: &[u8]) -> bool {
        let values = self.values(attribute);
        let Some(normal) = schema.normal_value(attribute, value) else {
            return values.iter().any(|v| v == value);
        };
        values.iter().any(|v| {
            schema
                .normal_value(attribute, v)
                .is_some_and(|n| n == normal)
        })
    }
}
