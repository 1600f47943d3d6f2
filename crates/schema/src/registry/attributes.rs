//! Attribute types: supertypes, inheritance, subtypes.

use super::names::Names;
use super::resolve::{Collected, Placed, Syntaxes, contradiction, fault};
use super::{AttributeIndex, AttributeType, SchemaError};
use crate::definition::{AttributeTypeText, Location};
use crate::matching::{MatchingRule, Relation};

/// Resolves all attribute types, in order of definition.
pub(super) fn resolve_attributes(
    collected: &Collected<AttributeTypeText>,
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
                return Err(fault(
                    location,
                    format!("attribute type '{}' is its own supertype", text.head.name()),
                ));
            }
            chain.push(at);
            next = superiors[at];
        }
        for at in chain.into_iter().rev() {
            let superior = superiors[at].and_then(|s| resolved[s].as_ref());
            let one = resolve_one(at, &collected.first[at], superior, syntaxes)?;
            resolved[at] = Some(one);
        }
    }
    let mut types: Vec<AttributeType> = resolved.into_iter().flatten().collect();
    fill_subtypes(&mut types);
    check_repeated(collected, &types, syntaxes)?;
    Ok(types)
}

fn superiors(collected: &Collected<AttributeTypeText>) -> Result<Vec<Option<usize>>, SchemaError> {
    collected
        .first
        .iter()
        .map(|(location, text)| superior_of(location, text, &collected.names))
        .collect()
}

fn superior_of(
    location: &Location,
    text: &AttributeTypeText,
    names: &Names,
) -> Result<Option<usize>, SchemaError> {
    let Some(name) = &text.superior else {
        return Ok(None);
    };
    match names.get(name.as_bytes()) {
        Some(number) => Ok(Some(number as usize)),
        None => Err(fault(
            location,
            format!(
                "attribute type '{}': unknown supertype '{name}'",
                text.head.name()
            ),
        )),
    }
}

fn resolve_one(
    number: usize,
    (location, text): &Placed<AttributeTypeText>,
    superior: Option<&AttributeType>,
    syntaxes: &Syntaxes,
) -> Result<AttributeType, SchemaError> {
    let name = text.head.name();
    let fail = |reason: String| fault(location, format!("attribute type '{name}': {reason}"));
    let syntax = match &text.syntax {
        Some(oid) => syntaxes
            .get(oid)
            .ok_or_else(|| fail(format!("unknown syntax '{oid}'")))?,
        None => superior
            .map(|s| s.syntax)
            .ok_or_else(|| fail("no syntax".to_owned()))?,
    };
    let rule = |wanted: &Option<String>,
                relation: Relation,
                inherited: Option<&'static MatchingRule>| match wanted {
        None => Ok(inherited),
        Some(rule) => match MatchingRule::find(rule) {
            Some(found) if found.relation == relation => Ok(Some(found)),
            Some(_) => Err(fail(format!(
                "matching rule '{rule}' does not fit where it stands"
            ))),
            None => Err(fail(format!("unknown matching rule '{rule}'"))),
        },
    };
    if let Some(superior) = superior.filter(|s| s.usage != text.usage) {
        return Err(fail(format!(
            "USAGE differs from that of its supertype '{}'",
            superior.name()
        )));
    }
    if text.no_user_modification && !text_is_operational(text) {
        return Err(fail(
            "NO-USER-MODIFICATION needs an operational USAGE".to_owned(),
        ));
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
            Relation::Equality,
            superior.and_then(|s| s.equality),
        )?,
        ordering: rule(
            &text.ordering,
            Relation::Ordering,
            superior.and_then(|s| s.ordering),
        )?,
        substring: rule(
            &text.substring,
            Relation::Substrings,
            superior.and_then(|s| s.substring),
        )?,
        single_value: text.single_value,
        collective: text.collective || superior.is_some_and(|s| s.collective),
        no_user_modification: text.no_user_modification,
        usage: text.usage,
        key_name: name.to_ascii_lowercase(),
        published: text.to_string(),
    })
}

fn text_is_operational(text: &AttributeTypeText) -> bool {
    text.usage != super::Usage::UserApplications
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

/// A repeated definition must say what the first one says; wording and length hints may differ.
fn check_repeated(
    collected: &Collected<AttributeTypeText>,
    types: &[AttributeType],
    syntaxes: &Syntaxes,
) -> Result<(), SchemaError> {
    for (known, later) in &collected.repeated {
        let superior =
            superior_of(&later.0, &later.1, &collected.names)?.and_then(|number| types.get(number));
        let again = resolve_one(*known, later, superior, syntaxes)?;
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
            return Err(contradiction(
                &later.0,
                &collected.first[*known].1.head,
                &later.1.head,
                what,
            ));
        }
    }
    Ok(())
}
