//! Attribute types: supertypes, inheritance, subtypes.

use super::attribute_type::{AttributeIndex, AttributeType};
use super::definition_set::{DefinitionSet, LocatedText, contradiction};
use super::error::SchemaError;
use super::name_table::NameTable;
use super::syntaxes::Syntaxes;
use crate::definition::{AttributeTypeText, Location, Origin, Usage};
use crate::matching::{MatchingRule, RuleKind};
use crate::syntax::Syntax;

/// Resolves all attribute types, in order of definition.
pub(super) fn resolve_attributes(
    collected: &DefinitionSet<AttributeTypeText>,
    syntaxes: &Syntaxes,
) -> Result<Vec<AttributeType>, SchemaError> {
    let superiors = superiors(collected)?;
    let mut resolved: Vec<Option<AttributeType>> = vec![None; collected.first.len()];
    for start in 0..collected.first.len() {
        // Supertypes first. The chain is bounded: one longer than all types has a cycle.
        let mut chain = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|&at| resolved.get(at).is_some_and(Option::is_none)) {
            if chain.len() > collected.first.len() {
                let (location, text) = &collected.first[start];
                return Err(SchemaError::at(
                    location,
                    format!(
                        "attributetype: \"{}\" is its own SUPerior",
                        text.head.name()
                    ),
                ));
            }
            chain.push(at);
            next = superiors[at];
        }
        for at in chain.into_iter().rev() {
            let superior = superiors[at].and_then(|s| resolved[s].as_ref());
            let origin = collected.origin(at);
            let one = resolve_one(at, origin, &collected.first[at], superior, syntaxes)?;
            resolved[at] = Some(one);
        }
    }
    let mut types: Vec<AttributeType> = resolved.into_iter().flatten().collect();
    fill_subtypes(&mut types);
    check_repeated(collected, &types, syntaxes)?;
    Ok(types)
}

fn superiors(
    collected: &DefinitionSet<AttributeTypeText>,
) -> Result<Vec<Option<usize>>, SchemaError> {
    collected
        .first
        .iter()
        .map(|(location, text)| superior_of(location, text, &collected.names))
        .collect()
}

fn superior_of(
    location: &Location,
    text: &AttributeTypeText,
    names: &NameTable,
) -> Result<Option<usize>, SchemaError> {
    let Some(name) = &text.superior else {
        return Ok(None);
    };
    match names.get(name.as_bytes()) {
        Some(number) => Ok(Some(number as usize)),
        None => Err(SchemaError::at(
            location,
            format!("attributetype: AttributeType not found: \"{name}\""),
        )),
    }
}

fn resolve_one(
    number: usize,
    origin: Origin,
    (location, text): &LocatedText<AttributeTypeText>,
    superior: Option<&AttributeType>,
    syntaxes: &Syntaxes,
) -> Result<AttributeType, SchemaError> {
    let name = text.head.name();
    let fail = |reason: String| SchemaError::at(location, format!("attributetype: {reason}"));
    let inherited = |of: fn(&AttributeType) -> Option<&'static MatchingRule>| superior.and_then(of);
    let syntax = find_syntax(text, superior, syntaxes).map_err(fail)?;
    let rule = |wanted: &Option<String>, kind, inherited| {
        find_rule(wanted.as_deref(), kind, inherited).map_err(fail)
    };
    if !has_appropriate_usage(text, superior) {
        return Err(fail(format!(
            "AttributeType inappropriate USAGE: \"{name}\""
        )));
    }
    Ok(AttributeType {
        index: AttributeIndex(number as u32),
        oid: text.head.oid.clone(),
        names: text.head.names.clone(),
        description: text.head.description.clone(),
        obsolete: text.head.obsolete,
        superior: superior.map(|s| s.index),
        subtypes: Vec::new(),
        syntax,
        length_hint: text
            .length_hint
            .or_else(|| superior.and_then(|s| s.length_hint)),
        equality: rule(
            &text.equality,
            RuleKind::Equality,
            inherited(|s| s.equality),
        )?,
        ordering: rule(
            &text.ordering,
            RuleKind::Ordering,
            inherited(|s| s.ordering),
        )?,
        substring: rule(
            &text.substring,
            RuleKind::Substrings,
            inherited(|s| s.substring),
        )?,
        single_value: text.single_value,
        collective: text.collective || superior.is_some_and(|s| s.collective),
        no_user_modification: text.no_user_modification,
        usage: text.usage,
        key_name: name.to_ascii_lowercase(),
        hidden: origin == Origin::Hidden,
        is_ordered: text.to_string().contains("X-ORDERED '"),
        published: text.to_string(),
    })
}

/// Returns the syntax that a definition names, or the inherited one.
fn find_syntax(
    text: &AttributeTypeText,
    superior: Option<&AttributeType>,
    syntaxes: &Syntaxes,
) -> Result<&'static Syntax, String> {
    match (&text.syntax, superior) {
        (Some(oid), _) => syntaxes
            .get(oid)
            .ok_or_else(|| format!("Syntax not found: \"{oid}\"")),
        (None, Some(superior)) => Ok(superior.syntax),
        (None, None) => Err(format!(
            "AttributeType SYNTAX or SUPerior required: \"{}\"",
            text.head.name()
        )),
    }
}

/// Returns the matching rule that a definition names, or the inherited one.
fn find_rule(
    wanted: Option<&str>,
    kind: RuleKind,
    inherited: Option<&'static MatchingRule>,
) -> Result<Option<&'static MatchingRule>, String> {
    let Some(name) = wanted else {
        return Ok(inherited);
    };
    match MatchingRule::find(name) {
        Some(rule) if rule.kind == kind => Ok(Some(rule)),
        Some(_) => Err(format!(
            "AttributeType inappropriate matching rule: \"{name}\""
        )),
        None => Err(format!("MatchingRule not found: \"{name}\"")),
    }
}

/// Returns true if USAGE agrees with the superior and with the type's other properties.
fn has_appropriate_usage(text: &AttributeTypeText, superior: Option<&AttributeType>) -> bool {
    let is_user_data = text.usage == Usage::UserApplications;
    superior.is_none_or(|superior| superior.usage == text.usage)
        && !(text.no_user_modification && is_user_data)
        && !(text.collective && (!is_user_data || text.single_value))
}

fn fill_subtypes(types: &mut [AttributeType]) {
    for at in 0..types.len() {
        let index = types[at].index;
        let mut ancestor = Some(index);
        while let Some(AttributeIndex(number)) = ancestor {
            // Ascending order of `at` keeps the lists sorted.
            types[number as usize].subtypes.push(index);
            ancestor = types[number as usize].superior;
        }
    }
}

/// Returns a repeated definition must say what the first one says; wording and length hints may
/// differ.
fn check_repeated(
    collected: &DefinitionSet<AttributeTypeText>,
    types: &[AttributeType],
    syntaxes: &Syntaxes,
) -> Result<(), SchemaError> {
    for (known, later) in &collected.repeated {
        let superior =
            superior_of(&later.0, &later.1, &collected.names)?.and_then(|number| types.get(number));
        let again = resolve_one(*known, Origin::File, later, superior, syntaxes)?;
        let first = &types[*known];
        let differs = [
            (first.superior != again.superior, "SUP"),
            (first.syntax != again.syntax, "SYNTAX"),
            (first.equality != again.equality, "EQUALITY"),
            (first.ordering != again.ordering, "ORDERING"),
            (first.substring != again.substring, "SUBSTR"),
            (first.single_value != again.single_value, "SINGLE-VALUE"),
            (first.collective != again.collective, "COLLECTIVE"),
            (
                first.no_user_modification != again.no_user_modification,
                "NO-USER-MODIFICATION",
            ),
            (first.usage != again.usage, "USAGE"),
        ];
        if let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) {
            let (place, first) = &collected.first[*known];
            return Err(contradiction(
                (&later.0, &later.1.head),
                (place, &first.head),
                "attributetype",
                "attributeType",
                what,
            ));
        }
    }
    Ok(())
}
