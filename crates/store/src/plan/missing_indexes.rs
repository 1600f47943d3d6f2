//! The indexes that would have helped a filter.

use crate::index::{IndexKind, IndexKinds, IndexSpec, KINDS, Support, definition_of};
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::{AttributeSelector, Filter};

impl<T: Snapshot> View<'_, T> {
    /// Returns the indexes that this state lacks and that would answer items of a filter. Each
    /// comes once, in the order of the items. Attributes without values are passed over: there is
    /// nothing to look up.
    #[must_use]
    pub fn missing_indexes(&self, filter: &Filter<AttributeSelector>) -> Vec<IndexSpec> {
        let mut missing = Vec::new();
        self.collect_missing(filter, &mut missing);
        missing
    }

    fn collect_missing(&self, filter: &Filter<AttributeSelector>, missing: &mut Vec<IndexSpec>) {
        match filter {
            Filter::And(items) | Filter::Or(items) => items
                .iter()
                .for_each(|item| self.collect_missing(item, missing)),
            Filter::Not(item) => self.collect_missing(item, missing),
            item => {
                let recommended = KINDS.iter().find_map(|(kind, row)| {
                    let selector = (row.recommended)(self.schema(), item)?;
                    Some((selector, *kind))
                });
                let spec = recommended.and_then(|(selector, kind)| self.lacking(selector, kind));
                missing.extend(spec.filter(|spec| !missing.contains(spec)));
            }
        }
    }

    fn lacking(&self, selector: &AttributeSelector, kind: IndexKind) -> Option<IndexSpec> {
        let attribute = self.schema().attribute_at(selector.attribute);
        let index = self.indexes.of(selector.attribute);
        let is_possible = (definition_of(kind).support)(attribute) == Support::Yes;
        let stored = self.attributes().of_type(selector.attribute);
        if index.is_some_and(|index| index.has(kind)) || !is_possible || stored.is_empty() {
            return None;
        }
        Some(IndexSpec {
            attribute: attribute.name().to_owned(),
            kinds: IndexKinds::of(&[kind]),
        })
    }
}
