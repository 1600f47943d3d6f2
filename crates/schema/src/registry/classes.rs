//! Object classes and DIT content rules: superclasses, inherited attributes.

use std::collections::BTreeSet;

use super::names::Names;
use super::resolve::{Collected, Placed, contradiction, fault};
use super::{AttributeIndex, AttributeType, ClassKind, ObjectClass, ObjectClassIndex, SchemaError};
use crate::definition::{ContentRuleText, Location, ObjectClassText, Origin};

/// What a structural class's entries may have beyond its own attributes (RFC 4512, section 4.1.6).
#[derive(Clone, Debug)]
pub(crate) struct ContentRule {
    pub(crate) class: ObjectClassIndex,
    pub(crate) name: String,
    pub(crate) obsolete: bool,
    pub(crate) auxiliary: Vec<ObjectClassIndex>,
    pub(crate) must: Vec<AttributeIndex>,
    pub(crate) may: Vec<AttributeIndex>,
    pub(crate) not: Vec<AttributeIndex>,
    pub(crate) published: String,
}

/// Resolves all classes, in order of definition.
pub(super) fn resolve_classes(
    collected: &Collected<ObjectClassText>,
    attributes: &Names,
    types: &[AttributeType],
) -> Result<Vec<ObjectClass>, SchemaError> {
    let superiors: Vec<Vec<usize>> = collected
        .first
        .iter()
        .map(|placed| superiors_of(placed, &collected.names))
        .collect::<Result<_, _>>()?;
    let mut resolved: Vec<Option<ObjectClass>> = vec![None; collected.first.len()];
    // Each round resolves every class whose superclasses are resolved; a round without progress means a cycle.
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
            return Err(fault(
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
    (location, text): &Placed<ObjectClassText>,
    names: &Names,
) -> Result<Vec<usize>, SchemaError> {
    let find = |superior: &String| {
        let unknown = || {
            fault(
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
    (location, text): &Placed<ObjectClassText>,
    superiors: &[&ObjectClass],
    attributes: &Names,
) -> Result<ObjectClass, SchemaError> {
    let list = |names: &[String]| attribute_list(location, "objectclass", names, attributes);
    for superior in superiors {
        if !may_derive(text.kind, superior.kind) {
            let reason = format!(
                "objectclass: user-defined ObjectClass has inappropriate SUPerior: \"{}\"",
                superior.name()
            );
            return Err(fault(location, reason));
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

/// What an administrator defines has user attributes only: the server decides about its own.
fn check_user_attributes(
    (location, text): &Placed<ObjectClassText>,
    attributes: &Names,
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
        return Err(fault(location, reason));
    }
    Ok(())
}

/// RFC 4512, section 2.4: structural from structural or abstract, auxiliary from auxiliary or abstract, abstract
/// from abstract.
fn may_derive(kind: ClassKind, superior: ClassKind) -> bool {
    superior == ClassKind::Abstract || superior == kind
}

fn attribute_list(
    location: &Location,
    keyword: &str,
    list: &[String],
    attributes: &Names,
) -> Result<BTreeSet<AttributeIndex>, SchemaError> {
    let find = |name: &String| {
        let unknown = || {
            fault(
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

/// A repeated definition must say what the first one says.
fn check_repeated(
    collected: &Collected<ObjectClassText>,
    classes: &[ObjectClass],
    attributes: &Names,
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

/// Resolves DIT content rules; each belongs to the structural class of the same OID.
pub(super) fn resolve_content_rules(
    collected: &Collected<ContentRuleText>,
    classes: &[ObjectClass],
    class_names: &Names,
    attributes: &Names,
) -> Result<Vec<ContentRule>, SchemaError> {
    let mut rules = Vec::new();
    for (location, text) in &collected.first {
        let class = |oid: &str, kind: ClassKind| {
            let found = class_names
                .get(oid.as_bytes())
                .and_then(|number| classes.get(number as usize));
            match found {
                Some(class) if class.kind == kind => Ok(class.index),
                None => Err(format!("ObjectClass not found: \"{oid}\"")),
                Some(_) if kind == ClassKind::Structural => Err(format!(
                    "Content Rule not for STRUCTURAL object class: \"{oid}\""
                )),
                Some(_) => Err(format!(
                    "Content Rule AUX contains inappropriate object class: \"{oid}\""
                )),
            }
            .map_err(|reason| fault(location, format!("ditcontentrule: {reason}")))
        };
        let list = |names: &[String]| {
            attribute_list(location, "ditcontentrule", names, attributes)
                .map(|set| set.into_iter().collect::<Vec<_>>())
        };
        let not = list(&text.not)?;
        for name in text.must.iter().chain(&text.may) {
            let index = attributes.get(name.as_bytes()).map(AttributeIndex);
            if index.is_some_and(|index| not.contains(&index)) {
                let reason = format!(
                    "ditcontentrule: Content Rule attribute type list contains duplicate: \"{name}\""
                );
                return Err(fault(location, reason));
            }
        }
        rules.push(ContentRule {
            class: class(&text.head.oid, ClassKind::Structural)?,
            name: text.head.name().to_owned(),
            obsolete: text.head.obsolete,
            auxiliary: text
                .auxiliary
                .iter()
                .map(|oid| class(oid, ClassKind::Auxiliary))
                .collect::<Result<_, _>>()?,
            must: list(&text.must)?,
            may: list(&text.may)?,
            not,
            published: text.to_string(),
        });
    }
    Ok(rules)
}
