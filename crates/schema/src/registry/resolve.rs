//! From definitions as written to resolved ones: numbers for names, inheritance, consistency.

use super::attributes::resolve_attributes;
use super::classes::resolve_classes;
use super::content_rules::resolve_content_rules;
use super::definition_set::{DefinitionKind, collect};
use super::error::SchemaError;
use super::forms::{resolve_name_forms, resolve_structure_rules};
use super::schema::Parts;
use super::syntaxes::Syntaxes;
use crate::definition::{
    AttributeTypeText, Body, ContentRuleText, Definition, Location, NameFormText, ObjectClassText,
    Origin, StructureRuleText, SyntaxText,
};

/// Resolves everything.
pub(super) fn resolve(definitions: Vec<Definition>) -> Result<Parts, SchemaError> {
    let DefinitionsByKind {
        attributes,
        classes,
        rules,
        syntaxes,
        forms,
        structure,
    } = DefinitionsByKind::of(definitions);
    let kind = |keyword, noun| DefinitionKind { keyword, noun };
    let syntaxes = Syntaxes::resolve(collect(
        kind("ldapsyntax", "ldapSyntax"),
        syntaxes,
        |text: &SyntaxText| &text.head,
    )?)?;
    let attributes = collect(
        kind("attributetype", "attributeType"),
        attributes,
        |text: &AttributeTypeText| &text.head,
    )?;
    let attribute_types = resolve_attributes(&attributes, &syntaxes)?;
    let classes = collect(
        kind("objectclass", "objectClass"),
        classes,
        |text: &ObjectClassText| &text.head,
    )?;
    let object_classes = resolve_classes(&classes, &attributes.names, &attribute_types)?;
    let rules = collect(
        kind("ditcontentrule", "content rule"),
        rules,
        |text: &ContentRuleText| &text.head,
    )?;
    let content_rules =
        resolve_content_rules(&rules, &object_classes, &classes.names, &attributes.names)?;
    let forms = collect(
        kind("nameform", "name form"),
        forms,
        |text: &NameFormText| &text.head,
    )?;
    let structure = collect(
        kind("ditstructurerule", "structure rule"),
        structure,
        |text: &StructureRuleText| &text.head,
    )?;
    let name_forms =
        resolve_name_forms(&forms, &object_classes, &classes.names, &attributes.names)?;
    let structure_rules = resolve_structure_rules(&structure, &forms)?;
    Ok(Parts {
        attributes: attribute_types,
        attribute_names: attributes.names,
        classes: object_classes,
        class_names: classes.names,
        content_rules,
        defined_syntaxes: syntaxes.published,
        name_forms,
        structure_rules,
    })
}

/// Definitions by their kind, each with its author and its place.
#[derive(Default)]
struct DefinitionsByKind {
    attributes: Vec<(Origin, Location, AttributeTypeText)>,
    classes: Vec<(Origin, Location, ObjectClassText)>,
    rules: Vec<(Origin, Location, ContentRuleText)>,
    syntaxes: Vec<(Origin, Location, SyntaxText)>,
    forms: Vec<(Origin, Location, NameFormText)>,
    structure: Vec<(Origin, Location, StructureRuleText)>,
}

impl DefinitionsByKind {
    fn of(definitions: Vec<Definition>) -> DefinitionsByKind {
        let mut sorted = DefinitionsByKind::default();
        for Definition {
            location,
            origin,
            body,
        } in definitions
        {
            match body {
                Body::AttributeType(text) => sorted.attributes.push((origin, location, text)),
                Body::ObjectClass(text) => sorted.classes.push((origin, location, text)),
                Body::ContentRule(text) => sorted.rules.push((origin, location, text)),
                Body::Syntax(text) => sorted.syntaxes.push((origin, location, text)),
                Body::NameForm(text) => sorted.forms.push((origin, location, text)),
                Body::StructureRule(text) => sorted.structure.push((origin, location, text)),
            }
        }
        sorted
    }
}
