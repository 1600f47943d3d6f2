//! Name forms and DIT structure rules (RFC 4512, sections 4.1.7.1 and 4.1.7.2): checked, published,
//! not enforced.

use super::definition_set::DefinitionSet;
use super::error::SchemaError;
use super::name_table::NameTable;
use super::object_class::ObjectClass;
use crate::definition::{ClassKind, NameFormText, StructureRuleText};

/// Returns the texts of name forms, once all their names are known to exist.
pub(super) fn resolve_name_forms(
    forms: &DefinitionSet<NameFormText>,
    classes: &[ObjectClass],
    class_names: &NameTable,
    attributes: &NameTable,
) -> Result<Vec<String>, SchemaError> {
    let mut texts = Vec::new();
    for (location, text) in &forms.first {
        let class = class_names
            .get(text.class.as_bytes())
            .and_then(|number| classes.get(number as usize));
        match class {
            None => {
                let reason = format!("nameform: ObjectClass not found: \"{}\"", text.class);
                return Err(SchemaError::at(location, reason));
            }
            Some(class) if class.kind != ClassKind::Structural => {
                let reason = format!(
                    "nameform: not for STRUCTURAL object class: \"{}\"",
                    text.class
                );
                return Err(SchemaError::at(location, reason));
            }
            Some(_) => {}
        }
        for name in text.must.iter().chain(&text.may) {
            if attributes.get(name.as_bytes()).is_none() {
                let reason = format!("nameform: AttributeType not found: \"{name}\"");
                return Err(SchemaError::at(location, reason));
            }
        }
        texts.push(text.to_string());
    }
    Ok(texts)
}

/// Returns the texts of structure rules, once their name forms and superior rules are known to
/// exist.
pub(super) fn resolve_structure_rules(
    rules: &DefinitionSet<StructureRuleText>,
    forms: &DefinitionSet<NameFormText>,
) -> Result<Vec<String>, SchemaError> {
    let mut texts = Vec::new();
    for (location, text) in &rules.first {
        if forms.names.get(text.form.as_bytes()).is_none() {
            let reason = format!("ditstructurerule: name form not found: \"{}\"", text.form);
            return Err(SchemaError::at(location, reason));
        }
        if let Some(unknown) = text
            .superiors
            .iter()
            .find(|number| rules.names.get(number.as_bytes()).is_none())
        {
            let reason = format!("ditstructurerule: rule not found: \"{unknown}\"");
            return Err(SchemaError::at(location, reason));
        }
        texts.push(text.to_string());
    }
    Ok(texts)
}
