//! From definitions as written to resolved ones: numbers for names, inheritance, consistency.

use super::attributes::resolve_attributes;
use super::classes::resolve_classes;
use super::collected::{Kind, collect};
use super::content_rules::resolve_content_rules;
use super::error::SchemaError;
use super::forms::{resolve_name_forms, resolve_structure_rules};
use super::schema::Parts;
use super::syntaxes::Syntaxes;
use crate::definition::{
    AttributeTypeText, Body, ContentRuleText, Definition, NameFormText, ObjectClassText,
    StructureRuleText, SyntaxText,
};

/// Resolves everything.
pub(super) fn resolve(definitions: Vec<Definition>) -> Result<Parts, SchemaError> {
    let (mut attributes, mut classes, mut rules) = (Vec::new(), Vec::new(), Vec::new());
    let (mut syntaxes, mut forms, mut structure) = (Vec::new(), Vec::new(), Vec::new());
    for Definition {
        location,
        origin,
        body,
    } in definitions
    {
        match body {
            Body::AttributeType(text) => attributes.push((origin, location, text)),
            Body::ObjectClass(text) => classes.push((origin, location, text)),
            Body::ContentRule(text) => rules.push((origin, location, text)),
            Body::Syntax(text) => syntaxes.push((origin, location, text)),
            Body::NameForm(text) => forms.push((origin, location, text)),
            Body::StructureRule(text) => structure.push((origin, location, text)),
        }
    }
    let kind = |keyword, noun| Kind { keyword, noun };
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
