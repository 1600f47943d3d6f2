//! The configured indexes, resolved against a schema and numbered as in the store.

use super::config::{IndexKinds, IndexSpec};
use super::key::{self, Kind};
use super::state::{IndexStage, IndexState};
use crate::attributes::AttributeTable;
use crate::error::{Damage, OpenError};
use crate::ids::AttributeId;
use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeType, MatchingRule, ObjectClassIndex, Schema,
};

/// The indexes of one attribute type.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) id: AttributeId,
    pub(crate) attribute: AttributeIndex,
    /// Makes equality keys; present if and only if there is such an index.
    pub(crate) equality: Option<&'static MatchingRule>,
    /// Makes the normal forms that are cut into grams; present if and only if there is such an index.
    pub(crate) substring: Option<&'static MatchingRule>,
    pub(crate) presence: bool,
    /// Whether searches may use it: it is complete. Changes are written to it either way.
    pub(crate) usable: bool,
    /// Values name object classes and stand for all their superior classes.
    pub(crate) object_class: bool,
}

/// All indexes of a state of the store.
#[derive(Debug)]
pub(crate) struct Indexes {
    /// The generation of the recorded state that this was made of.
    pub(crate) generation: u64,
    list: Vec<Index>,
    /// By attribute type: positions in `list` of the indexes that its values belong to, its own and those of its
    /// supertypes.
    fed: Vec<Vec<usize>>,
    /// By object class: the equality keys of it and all its superior classes.
    class_keys: Vec<Vec<Vec<u8>>>,
}

impl Indexes {
    /// The indexes that a recorded state asks to be written: complete ones, and those that are being filled.
    ///
    /// # Errors
    /// [`Damage::Description`] for an attribute that cannot be indexed so or has no number.
    pub(crate) fn of_state(
        schema: &Schema,
        state: &IndexState,
        table: &AttributeTable,
    ) -> Result<Indexes, Damage> {
        let complete = state.complete.iter().map(|one| (one.spec.clone(), true));
        let filling = state
            .work
            .iter()
            .filter(|work| work.stage == IndexStage::Fill);
        let filling = filling.map(|work| {
            let mut kinds = IndexKinds::default();
            kinds.set(work.kind, true);
            let attribute = work.attribute.clone();
            (IndexSpec { attribute, kinds }, false)
        });
        let resolve = |(spec, usable): (IndexSpec, bool)| {
            let resolved = ResolvedSpec::resolve(schema, &spec).ok()?;
            let plain = AttributeDescription::plain(resolved.attribute.index);
            Some(resolved.into_index(table.find(&plain)?, schema, usable))
        };
        let list: Option<Vec<Index>> = complete.chain(filling).map(resolve).collect();
        let list = list.ok_or(Damage::Description)?;
        Ok(Indexes::new(schema, state.generation, list))
    }

    fn new(schema: &Schema, generation: u64, list: Vec<Index>) -> Indexes {
        let fed = schema
            .attributes()
            .iter()
            .map(|attribute| feeds(schema, &list, attribute))
            .collect();
        let class_keys = class_keys(schema, &list);
        Indexes {
            generation,
            list,
            fed,
            class_keys,
        }
    }

    pub(crate) fn list(&self) -> &[Index] {
        &self.list
    }

    /// The index of exactly this attribute type that searches may use.
    pub(crate) fn of(&self, attribute: AttributeIndex) -> Option<&Index> {
        let usable = |index: &&Index| index.usable && index.attribute == attribute;
        self.list.iter().find(usable)
    }

    /// The indexes that values of this attribute type belong to.
    pub(crate) fn fed_by(&self, attribute: AttributeIndex) -> impl Iterator<Item = &Index> {
        let positions = self
            .fed
            .get(attribute.0 as usize)
            .map_or(&[][..], Vec::as_slice);
        positions
            .iter()
            .filter_map(|position| self.list.get(*position))
    }

    /// Whether values of this attribute type are indexed at all.
    pub(crate) fn is_fed_by(&self, attribute: AttributeIndex) -> bool {
        self.fed
            .get(attribute.0 as usize)
            .is_some_and(|fed| !fed.is_empty())
    }

    /// The equality key of an object class; `None` when objectClass has no index that searches may use.
    pub(crate) fn class_key(&self, class: ObjectClassIndex) -> Option<&[u8]> {
        let usable = |index: &Index| index.usable && index.object_class && index.equality.is_some();
        let key = self.class_keys(class).first()?;
        self.list.iter().any(usable).then_some(key.as_slice())
    }

    /// Equality keys of an object class and its superior classes; empty when objectClass is not indexed.
    pub(crate) fn class_keys(&self, class: ObjectClassIndex) -> &[Vec<u8>] {
        self.class_keys
            .get(class.0 as usize)
            .map_or(&[], Vec::as_slice)
    }
}

/// An attribute type with the rules its index needs.
pub(crate) struct ResolvedSpec<'s> {
    pub(crate) attribute: &'s AttributeType,
    pub(crate) kinds: IndexKinds,
}

impl<'s> ResolvedSpec<'s> {
    /// Finds attribute and rules.
    ///
    /// # Errors
    /// [`OpenError::Index`] for an unknown attribute or one without the rule.
    pub(crate) fn resolve(
        schema: &'s Schema,
        spec: &IndexSpec,
    ) -> Result<ResolvedSpec<'s>, OpenError> {
        let wrong = |reason| OpenError::Index {
            text: spec.to_string(),
            reason,
        };
        let attribute = schema
            .attribute(&spec.attribute)
            .ok_or_else(|| wrong("the schema does not define the attribute"))?;
        if spec.kinds.equality && attribute.equality.is_none() {
            return Err(wrong("the attribute has no equality rule"));
        }
        if spec.kinds.substring && attribute.substring.is_none() {
            return Err(wrong("the attribute has no substrings rule"));
        }
        Ok(ResolvedSpec {
            attribute,
            kinds: spec.kinds,
        })
    }

    /// As recorded in the store: attribute, kinds, and the rules whose normal forms are in the keys.
    pub(crate) fn recorded(&self) -> String {
        let name = |rule: Option<&'static MatchingRule>| rule.map_or("-", |rule| rule.name);
        let equality = name(self.attribute.equality.filter(|_| self.kinds.equality));
        let substring = name(self.attribute.substring.filter(|_| self.kinds.substring));
        format!(
            "{}:{} {equality} {substring}",
            self.attribute.name(),
            self.kinds
        )
    }

    fn into_index(self, id: AttributeId, schema: &Schema, usable: bool) -> Index {
        let object_class = self.attribute.index == schema.object_class_attribute();
        Index {
            id,
            attribute: self.attribute.index,
            equality: self.attribute.equality.filter(|_| self.kinds.equality),
            substring: self.attribute.substring.filter(|_| self.kinds.substring),
            presence: self.kinds.presence,
            usable,
            object_class,
        }
    }
}

fn feeds(schema: &Schema, list: &[Index], attribute: &AttributeType) -> Vec<usize> {
    let fed = list
        .iter()
        .enumerate()
        .filter(|(_, index)| schema.attribute_at(index.attribute).covers(attribute.index));
    fed.map(|(position, _)| position).collect()
}

fn class_keys(schema: &Schema, list: &[Index]) -> Vec<Vec<Vec<u8>>> {
    let Some((index, rule)) = list
        .iter()
        .filter(|i| i.object_class)
        .find_map(|i| Some((i, i.equality?)))
    else {
        return Vec::new();
    };
    let own: Vec<Vec<u8>> = schema
        .object_classes()
        .iter()
        .map(|class| {
            let mut out = Vec::new();
            let name = class.name().as_bytes();
            let normal = rule.normalise(schema, name).unwrap_or(name.into());
            key::posting(&mut out, index.id, Kind::Equality, &normal);
            out
        })
        .collect();
    let key_of = |class: ObjectClassIndex| own.get(class.0 as usize).cloned();
    let with_superiors = schema.object_classes().iter().map(|class| {
        std::iter::once(class.index)
            .chain(class.all_superiors.iter().copied())
            .filter_map(key_of)
            .collect()
    });
    with_superiors.collect()
}
