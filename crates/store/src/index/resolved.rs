//! Index settings, resolved against a schema.

use super::config::IndexSpec;
use super::kinds::{KINDS, Support, definition_of};
use crate::error::OpenError;
use fulgurite_policy::IndexKinds;
use fulgurite_schema::{AttributeType, Schema};

/// An attribute type and its kinds of index.
pub(crate) struct ResolvedSpec<'s> {
    pub(crate) attribute: &'s AttributeType,
    pub(crate) kinds: IndexKinds,
}

impl<'s> ResolvedSpec<'s> {
    /// Finds the attribute and checks that it can have such indexes.
    ///
    /// # Errors
    /// [`OpenError::Index`] for an unknown attribute or one without the matching rule.
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
        let mut kinds = IndexKinds::default();
        for kind in spec.kinds.iter() {
            match (definition_of(kind).support)(attribute) {
                Support::Yes => kinds.set(kind, true),
                Support::Instead(kind) => kinds.set(kind, true),
                Support::No(reason) => return Err(wrong(reason)),
            }
        }
        Ok(ResolvedSpec { attribute, kinds })
    }

    /// Returns the stored form: attribute, kinds, and the rules whose normal forms are in the keys.
    pub(crate) fn recorded(&self) -> String {
        let mut line = format!("{}:{}", self.attribute.name(), self.kinds);
        for (kind, row) in &KINDS {
            let Some(rule_of) = row.rule else {
                continue;
            };
            let rule = rule_of(self.attribute).filter(|_| self.kinds.has(*kind));
            line.push(' ');
            line.push_str(rule.map_or("-", |rule| rule.name));
        }
        line
    }
}

/// Resolves settings to one index per attribute type. The kinds of several settings for a type add
/// up.
pub(crate) fn resolve<'s>(
    schema: &'s Schema,
    specs: &[IndexSpec],
) -> Result<Vec<ResolvedSpec<'s>>, OpenError> {
    let mut resolved: Vec<ResolvedSpec<'s>> = Vec::new();
    for spec in specs {
        let one = ResolvedSpec::resolve(schema, spec)?;
        match resolved
            .iter_mut()
            .find(|other| other.attribute.index == one.attribute.index)
        {
            Some(other) => other.kinds.merge(one.kinds),
            None => resolved.push(one),
        }
    }
    Ok(resolved)
}
