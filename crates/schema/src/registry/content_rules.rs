//! DIT content rules: the classes and attributes that they name.

use super::attribute_type::AttributeIndex;
use super::content_rule::ContentRule;
use super::definition_set::{DefinitionSet, attribute_list};
use super::error::SchemaError;
use super::name_table::NameTable;
use super::object_class::ObjectClass;
use crate::definition::{ClassKind, ContentRuleText};

/// Resolves DIT content rules; each belongs to the structural class of the same OID.
pub(super) fn resolve_content_rules(
    collected: &DefinitionSet<ContentRuleText>,
    classes: &[ObjectClass],
    class_names: &NameTable,
    attributes: &NameTable,
) -> Result<Vec<ContentRule>, SchemaError> {
    let mut rules = Vec::new();
    for (location, text) in &collected.first {
        let class = |oid: &str, kind: ClassKind| {
            let found = class_names
                .get(oid.as_bytes())
                .and_then(|number| classes.get(number as usize));
            match found {
                Some(class) if class.kind == kind => Ok(class.index),
                None => Err(format!("ObjectClass not found: \"{oid}\"")),
                Some(_) if kind == ClassKind::Structural => Err(format!(
                    "Content Rule not for STRUCTURAL object class: \"{oid}\""
                )),
                Some(_) => Err(format!(
                    "Content Rule AUX contains inappropriate object class: \"{oid}\""
                )),
            }
            .map_err(|reason| SchemaError::at(location, format!("ditcontentrule: {reason}")))
        };
        let list = |names: &[String]| {
            attribute_list(location, "ditcontentrule", names, attributes)
                .map(|set| set.into_iter().collect::<Vec<_>>())
        };
        let not = list(&text.not)?;
        for name in text.must.iter().chain(&text.may) {
            let index = attributes.get(name.as_bytes()).map(AttributeIndex);
            if index.is_some_and(|index| not.contains(&index)) {
                let reason = format!(
                    "ditcontentrule: Content Rule attribute type list contains duplicate: \"{name}\""
                );
                return Err(SchemaError::at(location, reason));
            }
        }
        rules.push(ContentRule {
            class: class(&text.head.oid, ClassKind::Structural)?,
            name: text.head.name().to_owned(),
            obsolete: text.head.obsolete,
            auxiliary: text
                .auxiliary
                .iter()
                .map(|oid| class(oid, ClassKind::Auxiliary))
                .collect::<Result<_, _>>()?,
            must: list(&text.must)?,
            may: list(&text.may)?,
            not,
            published: text.to_string(),
        });
    }
    Ok(rules)
}
