//! Name forms and DIT structure rules (RFC 4512, sections 4.1.7.1 and 4.1.7.2): checked, published, not enforced.

use super::names::Names;
use super::resolve::{Collected, fault};
use super::{AttributeIndex, ClassKind, ObjectClass, SchemaError};
use crate::definition::{NameFormText, StructureRuleText};

/// The texts to publish.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    pub(super) name_forms: Vec<String>,
    pub(super) structure_rules: Vec<String>,
}

/// Checks that everything named exists.
pub(super) fn resolve_forms(
    forms: &Collected<NameFormText>,
    rules: &Collected<StructureRuleText>,
    classes: &[ObjectClass],
    class_names: &Names,
    attributes: &Names,
) -> Result<Forms, SchemaError> {
    let mut resolved = Forms::default();
    for (location, text) in &forms.first {
        let class = class_names
            .get(text.class.as_bytes())
            .and_then(|number| classes.get(number as usize));
        match class {
            None => {
                let reason = format!("nameform: ObjectClass not found: \"{}\"", text.class);
                return Err(fault(location, reason));
            }
            Some(class) if class.kind != ClassKind::Structural => {
                let reason = format!(
                    "nameform: not for STRUCTURAL object class: \"{}\"",
                    text.class
                );
                return Err(fault(location, reason));
            }
            Some(_) => {}
        }
        for name in text.must.iter().chain(&text.may) {
            if attributes
                .get(name.as_bytes())
                .map(AttributeIndex)
                .is_none()
            {
                let reason = format!("nameform: AttributeType not found: \"{name}\"");
                return Err(fault(location, reason));
            }
        }
        resolved.name_forms.push(text.to_string());
    }
    for (location, text) in &rules.first {
        if forms.names.get(text.form.as_bytes()).is_none() {
            let reason = format!("ditstructurerule: name form not found: \"{}\"", text.form);
            return Err(fault(location, reason));
        }
        if let Some(unknown) = text
            .superiors
            .iter()
            .find(|number| rules.names.get(number.as_bytes()).is_none())
        {
            let reason = format!("ditstructurerule: rule not found: \"{unknown}\"");
            return Err(fault(location, reason));
        }
        resolved.structure_rules.push(text.to_string());
    }
    Ok(resolved)
}
