//! Which indexes would have helped a filter.

use crate::index::{IndexKind, IndexKinds, IndexSpec};
use crate::view::View;
use fulgurite::Snapshot;
use fulgurite_schema::{AttributeSelector, Filter};

impl<T: Snapshot> View<'_, T> {
    /// The indexes that would answer items of a filter and that this state does not have, each once, in the order of
    /// the items. None for attributes that no entry has values of: there is nothing to look up.
    #[must_use]
    pub fn missing_indexes(&self, filter: &Filter<AttributeSelector>) -> Vec<IndexSpec> {
        let mut missing = Vec::new();
        self.collect_missing(filter, &mut missing);
        missing
    }

    fn collect_missing(&self, filter: &Filter<AttributeSelector>, missing: &mut Vec<IndexSpec>) {
        let (attribute, kind) = match filter {
            Filter::And(items) | Filter::Or(items) => {
                return items
                    .iter()
                    .for_each(|item| self.collect_missing(item, missing));
            }
            Filter::Not(item) => return self.collect_missing(item, missing),
            Filter::Present(attribute) => (attribute, IndexKind::Presence),
            Filter::ObjectClass { attribute, .. } => (attribute, IndexKind::Equality),
            Filter::Equality(assertion)
            | Filter::GreaterOrEqual(assertion)
            | Filter::LessOrEqual(assertion)
            | Filter::InChain { assertion, .. } => (&assertion.attribute, IndexKind::Equality),
            Filter::Substrings { attribute, .. } => (attribute, IndexKind::Substring),
            Filter::Extensible {
                attribute: Some(attribute),
                rule,
                dn_attributes: false,
                ..
            } if rule.is_equality() => (attribute, IndexKind::Equality),
            // No index answers these.
            Filter::Constant(_)
            | Filter::Entries(_)
            | Filter::Approximate { .. }
            | Filter::Extensible { .. } => return,
        };
        if let Some(spec) = self.lacking(attribute, kind)
            && !missing.contains(&spec)
        {
            missing.push(spec);
        }
    }

    fn lacking(&self, selector: &AttributeSelector, kind: IndexKind) -> Option<IndexSpec> {
        let definition = self.schema().attribute_at(selector.attribute);
        let is_class = self.schema().object_class_attribute() == selector.attribute;
        let has = self.indexes.of(selector.attribute).is_some_and(|index| {
            let kinds = IndexKinds {
                presence: index.presence,
                equality: index.equality.is_some(),
                substring: index.substring.is_some(),
            };
            kinds.has(kind)
        });
        let possible = match kind {
            // Every entry has classes.
            IndexKind::Presence => !is_class,
            IndexKind::Equality => definition.equality.is_some(),
            IndexKind::Substring => definition.substring.is_some(),
        };
        let stored = self.attributes().of_type(selector.attribute);
        if has || !possible || stored.is_empty() {
            return None;
        }
        let mut kinds = IndexKinds::default();
        kinds.set(kind, true);
        Some(IndexSpec {
            attribute: definition.name().to_owned(),
            kinds,
        })
    }
}
