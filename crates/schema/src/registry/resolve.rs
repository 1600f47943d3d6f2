//! From definitions as written to a [`Schema`]: numbers for names, inheritance, consistency.

use super::attributes::resolve_attributes;
use super::classes::{resolve_classes, resolve_content_rules};
use super::forms::resolve_forms;
use super::names::Names;
use super::{Schema, SchemaError};
use crate::definition::{
    AttributeTypeText, Body, ContentRuleText, Definition, Head, Location, NameFormText,
    ObjectClassText, Origin, StructureRuleText, SyntaxText,
};
use crate::syntax::Syntax;

/// A definition of one kind with its place.
pub(super) type Placed<T> = (Location, T);

/// A kind of definition, as errors call it.
#[derive(Clone, Copy)]
struct Kind {
    /// As the keyword of a file.
    keyword: &'static str,
    /// As messages name it.
    noun: &'static str,
}

/// All definitions of one kind: each OID once, and the later definitions of the same OIDs.
#[derive(Debug)]
pub(super) struct Collected<T> {
    pub(super) first: Vec<Placed<T>>,
    /// Number of the first definition, and the later one.
    pub(super) repeated: Vec<(usize, Placed<T>)>,
    pub(super) names: Names,
    /// Who made each first definition.
    pub(super) origins: Vec<Origin>,
}

impl<T> Collected<T> {
    /// Who made a definition.
    pub(super) fn origin(&self, number: usize) -> Origin {
        self.origins.get(number).copied().unwrap_or(Origin::File)
    }
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
    let forms = resolve_forms(
        &forms,
        &structure,
        &object_classes,
        &classes.names,
        &attributes.names,
    )?;
    Schema::assemble(
        attribute_types,
        attributes.names,
        object_classes,
        classes.names,
        content_rules,
        syntaxes.published,
        forms,
    )
}

fn collect<T>(
    kind: Kind,
    all: Vec<(Origin, Location, T)>,
    head: impl Fn(&T) -> &Head,
) -> Result<Collected<T>, SchemaError> {
    let mut collected = Collected {
        first: Vec::new(),
        repeated: Vec::new(),
        names: Names::default(),
        origins: Vec::new(),
    };
    for (origin, location, text) in all {
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
                    let other = collected.first.get(other as usize);
                    let other = other.map(|(place, text)| (place, head(text).oid.as_str()));
                    return Err(name_taken(kind, &location, name, other));
                }
                _ => {}
            }
        }
        collected.first.push((location, text));
        collected.origins.push(origin);
    }
    for (known, (location, text)) in &collected.repeated {
        let Some((place, first)) = collected.first.get(*known) else {
            continue;
        };
        // A syntax is known by its number only.
        if kind.keyword != "ldapsyntax" && !same_names(&head(first).names, &head(text).names) {
            return Err(contradiction(
                (location, head(text)),
                (place, head(first)),
                kind.keyword,
                kind.noun,
                "names",
            ));
        }
    }
    Ok(collected)
}

fn name_taken(
    kind: Kind,
    location: &Location,
    name: &str,
    other: Option<(&Location, &str)>,
) -> SchemaError {
    let whose = other.map_or_else(String::new, |(place, oid)| {
        format!(" is {oid} at {}:{}", place.origin, place.line)
    });
    fault(
        location,
        format!(
            "{}: Inconsistent duplicate {}: \"{name}\"{whose}",
            kind.keyword, kind.noun
        ),
    )
}

/// The error for a definition that contradicts an earlier one of the same OID.
pub(super) fn contradiction(
    (location, later): (&Location, &Head),
    (place, first): (&Location, &Head),
    keyword: &str,
    noun: &str,
    what: &str,
) -> SchemaError {
    fault(
        location,
        format!(
            "{keyword}: Inconsistent duplicate {noun}: \"{}\" is '{}' with different {what} at {}:{}",
            later.oid,
            first.name(),
            place.origin,
            place.line
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
                    format!("ldapsyntax: Substitute syntax not found: \"{text}\""),
                )
            };
            syntaxes.stands_for.push(stands_for.ok_or_else(unknown)?);
            let again = collected.repeated.iter().find(|(known, (_, later))| {
                *known + 1 == syntaxes.stands_for.len() && later.substitute() != text.substitute()
            });
            if let Some((_, (later, _))) = again {
                return Err(fault(
                    later,
                    format!("ldapsyntax: Duplicate ldapSyntax: \"{}\"", text.head.oid),
                ));
            }
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
