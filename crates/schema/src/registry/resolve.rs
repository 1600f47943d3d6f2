//! From definitions as written to a [`Schema`]: numbers for names, inheritance, consistency.

use super::attributes::resolve_attributes;
use super::classes::{resolve_classes, resolve_content_rules};
use super::names::Names;
use super::{Schema, SchemaError};
use crate::definition::{
    AttributeTypeText, Body, ContentRuleText, Definition, Head, Location, ObjectClassText,
    SyntaxText,
};
use crate::syntax::Syntax;

/// A definition of one kind with its place.
pub(super) type Placed<T> = (Location, T);

/// All definitions of one kind: each OID once, and the later definitions of the same OIDs.
#[derive(Debug)]
pub(super) struct Collected<T> {
    pub(super) first: Vec<Placed<T>>,
    /// Number of the first definition, and the later one.
    pub(super) repeated: Vec<(usize, Placed<T>)>,
    pub(super) names: Names,
}

/// The error for a definition.
pub(super) fn fault(location: &Location, reason: String) -> SchemaError {
    SchemaError::Definition {
        origin: location.origin.to_string(),
        line: location.line,
        reason,
    }
}

/// Resolves everything.
pub(super) fn resolve(definitions: Vec<Definition>) -> Result<Schema, SchemaError> {
    let (mut attributes, mut classes, mut rules, mut syntaxes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for Definition { location, body } in definitions {
        match body {
            Body::AttributeType(text) => attributes.push((location, text)),
            Body::ObjectClass(text) => classes.push((location, text)),
            Body::ContentRule(text) => rules.push((location, text)),
            Body::Syntax(text) => syntaxes.push((location, text)),
        }
    }
    let syntaxes = Syntaxes::resolve(collect(syntaxes, |text: &SyntaxText| &text.head)?)?;
    let attributes = collect(attributes, |text: &AttributeTypeText| &text.head)?;
    let attribute_types = resolve_attributes(&attributes, &syntaxes)?;
    let classes = collect(classes, |text: &ObjectClassText| &text.head)?;
    let object_classes = resolve_classes(&classes, &attributes.names)?;
    let rules = collect(rules, |text: &ContentRuleText| &text.head)?;
    let content_rules =
        resolve_content_rules(&rules, &object_classes, &classes.names, &attributes.names)?;
    Schema::assemble(
        attribute_types,
        attributes.names,
        object_classes,
        classes.names,
        content_rules,
        syntaxes.published,
    )
}

fn collect<T>(
    all: Vec<Placed<T>>,
    head: impl Fn(&T) -> &Head,
) -> Result<Collected<T>, SchemaError> {
    let mut collected = Collected {
        first: Vec::new(),
        repeated: Vec::new(),
        names: Names::default(),
    };
    for (location, text) in all {
        let this = head(&text);
        if let Some(known) = collected.names.get(this.oid.as_bytes()) {
            collected.repeated.push((known as usize, (location, text)));
            continue;
        }
        let number = u32::try_from(collected.first.len())
            .map_err(|_| fault(&location, "too many definitions".to_owned()))?;
        collected.names.insert(&this.oid, number);
        for name in &this.names {
            match collected.names.insert(name, number) {
                Some(other) if other != number => {
                    let other = collected
                        .first
                        .get(other as usize)
                        .map_or("", |(_, text)| head(text).oid.as_str());
                    return Err(fault(
                        &location,
                        format!("name '{name}' of {} is already used by {other}", this.oid),
                    ));
                }
                _ => {}
            }
        }
        collected.first.push((location, text));
    }
    for (known, (location, text)) in &collected.repeated {
        let Some((_, first)) = collected.first.get(*known) else {
            continue;
        };
        if !same_names(&head(first).names, &head(text).names) {
            return Err(contradiction(location, head(first), head(text), "names"));
        }
    }
    Ok(collected)
}

/// The error for a definition that contradicts an earlier one of the same OID.
pub(super) fn contradiction(
    location: &Location,
    first: &Head,
    later: &Head,
    what: &str,
) -> SchemaError {
    fault(
        location,
        format!(
            "'{}' ({}) is already defined as '{}' with different {what}",
            later.name(),
            later.oid,
            first.name()
        ),
    )
}

fn same_names(a: &[String], b: &[String]) -> bool {
    let key = |names: &[String]| {
        let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    key(a) == key(b)
}

/// Syntaxes defined by files, each standing for a built-in one.
#[derive(Debug)]
pub(super) struct Syntaxes {
    names: Names,
    stands_for: Vec<&'static Syntax>,
    published: Vec<String>,
}

impl Syntaxes {
    fn resolve(collected: Collected<SyntaxText>) -> Result<Syntaxes, SchemaError> {
        let mut syntaxes = Syntaxes {
            names: collected.names,
            stands_for: Vec::new(),
            published: Vec::new(),
        };
        for (location, text) in &collected.first {
            let stands_for = match text.substitute() {
                None => Syntax::find(&text.head.oid).or_else(|| Syntax::find(OCTET_STRING)),
                Some(oid) => Syntax::find(oid),
            };
            let unknown = || {
                fault(
                    location,
                    format!("syntax {} stands for an unknown syntax", text.head.oid),
                )
            };
            syntaxes.stands_for.push(stands_for.ok_or_else(unknown)?);
            if Syntax::find(&text.head.oid).is_none() {
                syntaxes.published.push(text.to_string());
            }
        }
        Ok(syntaxes)
    }

    /// A syntax by OID.
    pub(super) fn get(&self, oid: &str) -> Option<&'static Syntax> {
        let defined = self
            .names
            .get(oid.as_bytes())
            .and_then(|number| self.stands_for.get(number as usize))
            .copied();
        Syntax::find(oid).or(defined)
    }
}

const OCTET_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.40";
