//! Equality keys of object classes. A value of objectClass implies all superior classes.

use crate::ids::AttributeId;
use crate::index::key;
use fulgurite_schema::{MatchingRule, ObjectClassIndex, Schema};

/// By object class: the equality keys of the class and of all its superior classes.
#[derive(Debug, Default)]
pub(crate) struct ClassKeys(Vec<Vec<Vec<u8>>>);

impl ClassKeys {
    /// Makes the keys of all classes of a schema.
    pub(crate) fn new(
        schema: &Schema,
        id: AttributeId,
        code: u8,
        rule: &'static MatchingRule,
    ) -> ClassKeys {
        let classes = schema.object_classes();
        let key = |name: &[u8]| {
            let normal = rule.normalise(schema, name).unwrap_or(name.into());
            let mut out = Vec::new();
            key::posting(&mut out, id, code, &normal);
            out
        };
        let own: Vec<Vec<u8>> = classes
            .iter()
            .map(|class| key(class.name().as_bytes()))
            .collect();
        let key_of = |class: ObjectClassIndex| own.get(class.0 as usize).cloned();
        let with_superiors = classes.iter().map(|class| {
            std::iter::once(class.index)
                .chain(class.all_superiors.iter().copied())
                .filter_map(key_of)
                .collect()
        });
        ClassKeys(with_superiors.collect())
    }

    /// Returns the keys of a class and of all its superior classes.
    pub(crate) fn of(&self, class: ObjectClassIndex) -> &[Vec<u8>] {
        self.0.get(class.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the key of a class.
    pub(crate) fn own(&self, class: ObjectClassIndex) -> Option<&[u8]> {
        self.of(class).first().map(Vec::as_slice)
    }
}
