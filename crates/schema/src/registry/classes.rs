//! Object classes: superclasses, inherited attributes.

use std::collections::BTreeSet;

use super::attribute_type::{AttributeIndex, AttributeType};
use super::definition_set::{DefinitionSet, LocatedText, attribute_list, contradiction};
use super::error::SchemaError;
use super::name_table::NameTable;
use super::object_class::{ObjectClass, ObjectClassIndex};
use crate::definition::{ClassKind, ObjectClassText, Origin};

/// Resolves all classes, in order of definition.
pub(super) fn resolve_classes(
    collected: &DefinitionSet<ObjectClassText>,
    attributes: &NameTable,
    types: &[AttributeType],
) -> Result<Vec<ObjectClass>, SchemaError> {
    let superiors: Vec<Vec<usize>> = collected
        .first
        .iter()
        .map(|placed| superiors_of(placed, &collected.names))
        .collect::<Result<_, _>>()?;
    let mut resolved: Vec<Option<ObjectClass>> = vec![None; collected.first.len()];
    // Each round resolves every class whose superclasses are resolved; a round without progress
    // means a cycle.
    let mut waiting: Vec<usize> = (0..collected.first.len()).collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut blocked = Vec::new();
        for at in waiting {
            if superiors[at].iter().any(|&s| resolved[s].is_none()) {
                blocked.push(at);
                continue;
            }
            let above: Vec<&ObjectClass> = superiors[at]
                .iter()
                .filter_map(|&s| resolved[s].as_ref())
                .collect();
            let origin = collected.origin(at);
            let class = resolve_one(at, origin, &collected.first[at], &above, attributes)?;
            if origin == Origin::File {
                check_user_attributes(&collected.first[at], attributes, types)?;
            }
            resolved[at] = Some(class);
        }
        if blocked.len() == before {
            let (location, text) = &collected.first[blocked[0]];
            return Err(SchemaError::at(
                location,
                format!("objectclass: \"{}\" is its own SUPerior", text.head.name()),
            ));
        }
        waiting = blocked;
    }
    let mut classes: Vec<ObjectClass> = resolved.into_iter().flatten().collect();
    for at in 0..classes.len() {
        let index = classes[at].index;
        let mut above = classes[at].all_superiors.clone();
        above.push(index);
        for ObjectClassIndex(number) in above {
            classes[number as usize].subclasses.push(index);
        }
    }
    check_repeated(collected, &classes, attributes)?;
    Ok(classes)
}

fn superiors_of(
    (location, text): &LocatedText<ObjectClassText>,
    names: &NameTable,
) -> Result<Vec<usize>, SchemaError> {
    let find = |superior: &String| {
        let unknown = || {
            SchemaError::at(
                location,
                format!("objectclass: ObjectClass not found: \"{superior}\""),
            )
        };
        names
            .get(superior.as_bytes())
            .map(|number| number as usize)
            .ok_or_else(unknown)
    };
    text.superiors.iter().map(find).collect()
}

fn resolve_one(
    number: usize,
    origin: Origin,
    (location, text): &LocatedText<ObjectClassText>,
    superiors: &[&ObjectClass],
    attributes: &NameTable,
) -> Result<ObjectClass, SchemaError> {
    let list = |names: &[String]| attribute_list(location, "objectclass", names, attributes);
    for superior in superiors {
        if !may_derive(text.kind, superior.kind) {
            let reason = format!(
                "objectclass: user-defined ObjectClass has inappropriate SUPerior: \"{}\"",
                superior.name()
            );
            return Err(SchemaError::at(location, reason));
        }
    }
    let mut must: BTreeSet<AttributeIndex> = list(&text.must)?;
    let mut may: BTreeSet<AttributeIndex> = list(&text.may)?;
    let mut all_superiors = BTreeSet::new();
    for superior in superiors {
        must.extend(&superior.must);
        may.extend(&superior.may);
        all_superiors.insert(superior.index);
        all_superiors.extend(&superior.all_superiors);
    }
    may.retain(|attribute| !must.contains(attribute));
    Ok(ObjectClass {
        index: ObjectClassIndex(number as u32),
        oid: text.head.oid.clone(),
        names: text.head.names.clone(),
        description: text.head.description.clone(),
        obsolete: text.head.obsolete,
        kind: text.kind,
        superiors: superiors.iter().map(|s| s.index).collect(),
        all_superiors: all_superiors.into_iter().collect(),
        subclasses: Vec::new(),
        must: must.into_iter().collect(),
        may: may.into_iter().collect(),
        hidden: origin == Origin::Hidden,
        published: text.to_string(),
    })
}

/// Fails if an administrator's class includes operational attributes, which the server controls.
fn check_user_attributes(
    (location, text): &LocatedText<ObjectClassText>,
    attributes: &NameTable,
    types: &[AttributeType],
) -> Result<(), SchemaError> {
    let operational = |name: &String| {
        attributes
            .get(name.as_bytes())
            .and_then(|number| types.get(number as usize))
            .is_some_and(AttributeType::is_operational)
    };
    if text.must.iter().chain(&text.may).any(operational) {
        let reason = format!(
            "objectclass: user-defined ObjectClass includes operational attributes: \"{text}\""
        );
        return Err(SchemaError::at(location, reason));
    }
    Ok(())
}

/// Returns true if a class may derive from a class of another kind (RFC 4512, section 2.4). Every
/// kind may derive from its own kind and from abstract.
fn may_derive(kind: ClassKind, superior: ClassKind) -> bool {
    superior == ClassKind::Abstract || superior == kind
}

/// Returns a repeated definition must say what the first one says.
fn check_repeated(
    collected: &DefinitionSet<ObjectClassText>,
    classes: &[ObjectClass],
    attributes: &NameTable,
) -> Result<(), SchemaError> {
    for (known, later) in &collected.repeated {
        let superiors = superiors_of(later, &collected.names)?;
        let above: Vec<&ObjectClass> = superiors.iter().filter_map(|&s| classes.get(s)).collect();
        let again = resolve_one(*known, Origin::File, later, &above, attributes)?;
        let first = &classes[*known];
        let differs = [
            (first.kind != again.kind, "kind"),
            (first.all_superiors != again.all_superiors, "SUP"),
            (first.must != again.must, "MUST"),
            (first.may != again.may, "MAY"),
        ];
        if let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) {
            let (place, first) = &collected.first[*known];
            return Err(contradiction(
                (&later.0, &later.1.head),
                (place, &first.head),
                "objectclass",
                "objectClass",
                what,
            ));
        }
    }
    Ok(())
}
