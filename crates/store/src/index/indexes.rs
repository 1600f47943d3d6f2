//! All indexes of a state of the store, numbered as in the store.

use super::config::IndexSpec;
use super::kinds::{ClassKeys, KINDS, KINDS_LEN, KindContext, equality};
use super::resolved::ResolvedSpec;
use super::state::{IndexStage, IndexState};
use crate::attributes::AttributeTable;
use crate::error::Damage;
use crate::ids::AttributeId;
use fulgurite_policy::{IndexKind, IndexKinds};
use fulgurite_schema::{AttributeDescription, AttributeIndex, AttributeType, MatchingRule, Schema};

/// The indexes of one attribute type.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) id: AttributeId,
    pub(crate) attribute: AttributeIndex,
    kinds: IndexKinds,
    /// By kind: the rule that makes the normal forms of the keys.
    rules: [Option<&'static MatchingRule>; KINDS_LEN],
    /// True if searches may use the index, because it is complete. Changes are written to it either
    /// way.
    pub(crate) usable: bool,
    /// True for objectClass, where a value implies all superior classes.
    pub(crate) object_class: bool,
}

impl Index {
    fn new(spec: &ResolvedSpec<'_>, id: AttributeId, schema: &Schema, usable: bool) -> Index {
        let rules = KINDS.each_ref().map(|(kind, definition)| {
            let rule_of = definition.rule.filter(|_| spec.kinds.has(*kind))?;
            rule_of(spec.attribute)
        });
        Index {
            id,
            attribute: spec.attribute.index,
            kinds: spec.kinds,
            rules,
            usable,
            object_class: spec.attribute.index == schema.object_class_attribute(),
        }
    }

    /// Returns true if the index is of this kind, among others.
    #[inline]
    pub(crate) fn has(&self, kind: IndexKind) -> bool {
        self.kinds.has(kind)
    }

    pub(crate) fn kinds(&self) -> IndexKinds {
        self.kinds
    }
}

/// All indexes of a state of the store.
#[derive(Debug)]
pub(crate) struct Indexes {
    /// The generation of the stored state.
    pub(crate) generation: u64,
    list: Vec<Index>,
    /// By attribute type: positions in `list` of the indexes that list its values. These are its
    /// own indexes and those of its supertypes.
    fed: Vec<Vec<usize>>,
    class_keys: ClassKeys,
}

impl Indexes {
    /// Makes the indexes of a stored state that writers write: the complete ones and those that are
    /// being filled.
    ///
    /// # Errors
    /// [`Damage::Description`] for an attribute that cannot have such an index or has no number.
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
            Some(Index::new(&resolved, table.find(&plain)?, schema, usable))
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

    /// Returns the index of exactly this attribute type, if searches may use it.
    pub(crate) fn of(&self, attribute: AttributeIndex) -> Option<&Index> {
        let usable = |index: &&Index| index.usable && index.attribute == attribute;
        self.list.iter().find(usable)
    }

    /// Returns the indexes that list values of this attribute type.
    pub(crate) fn fed_by(&self, attribute: AttributeIndex) -> impl Iterator<Item = &Index> {
        let positions = self
            .fed
            .get(attribute.0 as usize)
            .map_or(&[][..], Vec::as_slice);
        positions
            .iter()
            .filter_map(|position| self.list.get(*position))
    }

    /// Returns true if an index lists values of this attribute type.
    pub(crate) fn is_fed_by(&self, attribute: AttributeIndex) -> bool {
        self.fed
            .get(attribute.0 as usize)
            .is_some_and(|fed| !fed.is_empty())
    }

    /// Returns one kind of an index, for the functions of the kind.
    #[inline]
    pub(crate) fn context(&self, index: &Index, kind: IndexKind) -> KindContext<'_> {
        debug_assert!(index.has(kind), "the index is of this kind");
        KindContext {
            id: index.id,
            rule: index.rules[kind as usize],
            classes: index.object_class.then_some(&self.class_keys),
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

fn class_keys(schema: &Schema, list: &[Index]) -> ClassKeys {
    let mut indexes = list.iter().filter(|index| index.object_class);
    let index =
        indexes.find_map(|index| Some((index.id, index.rules[IndexKind::Equality as usize]?)));
    index.map_or_else(ClassKeys::default, |(id, rule)| {
        ClassKeys::new(schema, id, equality::CODE, rule)
    })
}
