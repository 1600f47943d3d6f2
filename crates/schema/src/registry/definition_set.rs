//! Definitions of one kind, each OID once.

use std::collections::BTreeSet;

use super::attribute_type::AttributeIndex;
use super::error::SchemaError;
use super::name_table::NameTable;
use crate::definition::{Head, Location, Origin};

/// A definition of one kind with its place.
pub(super) type LocatedText<T> = (Location, T);

/// A kind of definition, as errors call it.
#[derive(Clone, Copy)]
pub(super) struct DefinitionKind {
    /// As the keyword of a file.
    pub(super) keyword: &'static str,
    /// As messages name it.
    pub(super) noun: &'static str,
}

/// All definitions of one kind: each OID once, and the later definitions of the same OIDs.
#[derive(Debug)]
pub(super) struct DefinitionSet<T> {
    pub(super) first: Vec<LocatedText<T>>,
    /// Number of the first definition, and the later one.
    pub(super) repeated: Vec<(usize, LocatedText<T>)>,
    pub(super) names: NameTable,
    /// The author of each first definition.
    pub(super) origins: Vec<Origin>,
}

impl<T> DefinitionSet<T> {
    /// Returns the author of a definition.
    pub(super) fn origin(&self, number: usize) -> Origin {
        self.origins.get(number).copied().unwrap_or(Origin::File)
    }
}

/// Collects definitions of one kind.
pub(super) fn collect<T>(
    kind: DefinitionKind,
    all: Vec<(Origin, Location, T)>,
    head: impl Fn(&T) -> &Head,
) -> Result<DefinitionSet<T>, SchemaError> {
    let mut collected = DefinitionSet {
        first: Vec::new(),
        repeated: Vec::new(),
        names: NameTable::default(),
        origins: Vec::new(),
    };
    for (origin, location, text) in all {
        let this = head(&text);
        if let Some(known) = collected.names.get(this.oid.as_bytes()) {
            collected.repeated.push((known as usize, (location, text)));
            continue;
        }
        let number = u32::try_from(collected.first.len())
            .map_err(|_| SchemaError::at(&location, "too many definitions".to_owned()))?;
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
    kind: DefinitionKind,
    location: &Location,
    name: &str,
    other: Option<(&Location, &str)>,
) -> SchemaError {
    let whose = other.map_or_else(String::new, |(place, oid)| {
        format!(" is {oid} at {}:{}", place.origin, place.line)
    });
    SchemaError::at(
        location,
        format!(
            "{}: Inconsistent duplicate {}: \"{name}\"{whose}",
            kind.keyword, kind.noun
        ),
    )
}

/// Returns the error for a definition that contradicts an earlier one of the same OID.
pub(super) fn contradiction(
    (location, later): (&Location, &Head),
    (place, first): (&Location, &Head),
    keyword: &str,
    noun: &str,
    what: &str,
) -> SchemaError {
    SchemaError::at(
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

/// Resolves a list of attribute types.
pub(super) fn attribute_list(
    location: &Location,
    keyword: &str,
    list: &[String],
    attributes: &NameTable,
) -> Result<BTreeSet<AttributeIndex>, SchemaError> {
    let find = |name: &String| {
        let unknown = || {
            SchemaError::at(
                location,
                format!("{keyword}: AttributeType not found: \"{name}\""),
            )
        };
        attributes
            .get(name.as_bytes())
            .map(AttributeIndex)
            .ok_or_else(unknown)
    };
    list.iter().map(find).collect()
}
