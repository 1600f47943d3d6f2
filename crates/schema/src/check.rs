//! The check of a whole entry: an [`Entry`] becomes a [`CheckedEntry`], or is refused with the
//! reason.
//!
//! ```text
//! each attribute: single value, syntax, equal values -> classes, structural chain -> MUST -> MAY -> RDN
//! ```
//!
//! The order decides which of several violations is reported; it is that of OpenLDAP.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::definition::ClassKind;
use crate::description::{AttributeDescription, DescriptionError};
use crate::entry::{Attribute, Entry};
use crate::matching::MatchingRule;
use crate::registry::{
    AttributeIndex, AttributeType, ContentRule, ObjectClass, ObjectClassIndex, Schema,
};

/// The kind of a violation, as the directory answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// objectClassViolation (65).
    ObjectClass,
    /// undefinedAttributeType (17).
    UndefinedAttributeType,
    /// invalidAttributeSyntax (21).
    InvalidSyntax,
    /// attributeOrValueExists (20).
    ValueExists,
    /// constraintViolation (19).
    Constraint,
    /// namingViolation (64).
    Naming,
    /// objectClassModsProhibited (69).
    ObjectClassMods,
}

/// Why an entry is refused; `text` is the diagnostic message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct SchemaViolation {
    /// The result that it becomes.
    pub kind: ViolationKind,
    /// Names the attribute or class, and the value's number where one value is at fault.
    pub text: String,
}

impl From<DescriptionError> for SchemaViolation {
    fn from(error: DescriptionError) -> SchemaViolation {
        SchemaViolation {
            kind: ViolationKind::UndefinedAttributeType,
            text: error.to_string(),
        }
    }
}

/// How [`Schema::check`] looks at an entry.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The entry's present structural class; a different one is objectClassModsProhibited.
    pub structural_class: Option<ObjectClassIndex>,
    /// Trust that values have their syntaxes and differ from each other. A modify that has checked
    /// its new values by [`Schema::check_values`] sets it. A change of one member of a large group
    /// then does not look at all members.
    pub skip_values: bool,
    /// Look at the values of the name even so, because the entry is new.
    pub is_new: bool,
    /// Accept obsolete classes and naming attributes, for requesters that relax the rules. Other
    /// attributes of obsolete types are never refused: entries that have them can still change.
    pub allow_obsolete: bool,
}

/// An entry that obeys the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedEntry {
    entry: Entry,
    structural_class: ObjectClassIndex,
}

impl CheckedEntry {
    /// Takes an entry on trust: one that another server has accepted, or that an administrator
    /// wants loaded as it is. Its structural class is taken to be the most derived one it names, or
    /// `top`.
    #[must_use]
    pub fn on_trust(entry: Entry, schema: &Schema) -> CheckedEntry {
        let values = entry.values(schema.object_class_attribute());
        let named = values
            .iter()
            .filter_map(|name| schema.object_class(std::str::from_utf8(name).ok()?));
        let structural = named.filter(|class| class.kind == ClassKind::Structural);
        let deepest = structural.max_by_key(|class| class.all_superiors.len());
        let class = deepest.or_else(|| schema.object_class("top"));
        CheckedEntry {
            structural_class: class.map_or(ObjectClassIndex(0), |class| class.index),
            entry,
        }
    }

    /// Returns the entry.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns its most derived structural class.
    #[must_use]
    pub fn structural_class(&self) -> ObjectClassIndex {
        self.structural_class
    }

    /// Sets an operational attribute. Classes need not allow operational attributes, so the entry
    /// stays valid. User attributes are left as they are.
    pub fn set_operational(
        &mut self,
        schema: &Schema,
        description: &AttributeDescription,
        values: Vec<Vec<u8>>,
    ) {
        if schema.attribute_at(description.attribute).is_operational() {
            match self.entry.attribute_mut(description) {
                // It keeps its place.
                Some(held) if !values.is_empty() => held.values = values,
                _ => self.entry.set(description, values),
            }
        }
    }

    /// Puts an attribute behind all others. Order has no meaning, but it is kept and shown.
    pub fn move_to_end(&mut self, description: &AttributeDescription) {
        let attributes = &mut self.entry.attributes;
        if let Some(at) = attributes
            .iter()
            .position(|a| a.description == *description)
        {
            let moved = attributes.remove(at);
            attributes.push(moved);
        }
    }

    /// Takes the entry out, for changing; it has to be checked again.
    #[must_use]
    pub fn into_entry(self) -> Entry {
        self.entry
    }
}

impl Schema {
    /// Checks a whole entry against the schema.
    ///
    /// # Errors
    /// The first [`SchemaViolation`] found.
    pub fn check(
        &self,
        entry: Entry,
        options: &CheckOptions,
    ) -> Result<CheckedEntry, SchemaViolation> {
        check(self, entry, options)
    }

    /// Checks the values of one attribute: each of its syntax, not more than it may have, no two
    /// equal.
    ///
    /// # Errors
    /// InvalidSyntax, Constraint or ValueExists, in this order; the first and the last with the
    /// number of the value.
    pub fn check_values(&self, attribute: &Attribute) -> Result<(), SchemaViolation> {
        let kind = self.attribute_at(attribute.description.attribute);
        let name = attribute.description.text(self);
        if attribute.values.is_empty() {
            return Err(violation(
                ViolationKind::InvalidSyntax,
                format!("{name}: no values"),
            ));
        }
        if kind.syntax.is_undefined() {
            let text = format!("{name}: no validator for syntax {}", kind.syntax.oid);
            return Err(violation(ViolationKind::InvalidSyntax, text));
        }
        self.check_transfer(&attribute.description)?;
        let mut seen = FxHashMap::default();
        let mut repeated = None;
        for (number, value) in attribute.values.iter().enumerate() {
            let is_single = attribute.values.len() == 1;
            let Some(normal) = self.checked_normal(kind, value, is_single) else {
                let text = format!("{name}: value #{number} invalid per syntax");
                return Err(violation(ViolationKind::InvalidSyntax, text));
            };
            if attribute.values.len() > 1 {
                let first = *seen.entry(normal).or_insert(number);
                // Of equal values, the first is named.
                repeated = repeated.or((first != number).then_some(first));
            }
        }
        if kind.single_value && attribute.values.len() > 1 {
            return Err(violation(
                ViolationKind::Constraint,
                format!("{name}: multiple values provided"),
            ));
        }
        match repeated {
            None => Ok(()),
            Some(number) => {
                let text = format!("{name}: value #{number} provided more than once");
                Err(violation(ViolationKind::ValueExists, text))
            }
        }
    }

    /// Checks that a type whose values are transferred with the option `binary` is named with it
    /// (RFC 4522, section 4).
    ///
    /// # Errors
    /// UndefinedAttributeType.
    pub fn check_transfer(
        &self,
        description: &AttributeDescription,
    ) -> Result<(), SchemaViolation> {
        let kind = self.attribute_at(description.attribute);
        if !kind.syntax.requires_binary() || description.has_option("binary") {
            return Ok(());
        }
        let text = format!("{}: requires ;binary transfer", description.text(self));
        Err(violation(ViolationKind::UndefinedAttributeType, text))
    }

    /// Returns the normal form of a value that has its syntax and, for objectClass, names a class.
    /// A value without a normal form is invalid too, because nothing could find it. Of a single
    /// value, which is compared with no other, it may be any text.
    fn checked_normal<'v>(
        &self,
        kind: &AttributeType,
        value: &'v [u8],
        is_single: bool,
    ) -> Option<Cow<'v, [u8]>> {
        if kind.index == self.object_class_attribute() {
            self.object_class_by_bytes(value)?;
        } else if !kind.equality.is_some_and(MatchingRule::normalises_names) {
            // A name has a normal form exactly if it is one; parsing it twice would say the same.
            kind.syntax.validate(self, value).ok()?;
        }
        if is_single && kind.equality.is_some_and(|rule| rule.takes_text(value)) {
            return Some(Cow::Borrowed(value));
        }
        self.normal_value(kind.index, value)
    }
}

fn check(
    schema: &Schema,
    entry: Entry,
    options: &CheckOptions,
) -> Result<CheckedEntry, SchemaViolation> {
    if !options.skip_values || options.is_new {
        check_naming_conflict(schema, &entry)?;
    }
    if !options.skip_values {
        entry
            .attributes
            .iter()
            .try_for_each(|attribute| schema.check_values(attribute))?;
    }
    check_single_values(schema, &entry)?;
    let classes = classes(schema, &entry)?;
    let structural = structural_class(schema, &classes)?;
    if !options.allow_obsolete {
        check_obsolete(&classes)?;
    }
    if let Some(before) = options
        .structural_class
        .filter(|before| *before != structural.index)
    {
        let text = format!(
            "structural object class modification from '{}' to '{}' not allowed",
            schema.object_class_at(before).name(),
            structural.name()
        );
        return Err(violation(ViolationKind::ObjectClassMods, text));
    }
    let rule = schema.content_rule(structural.index);
    check_naming(schema, &entry, options.allow_obsolete)?;
    check_content_rule(schema, &entry, rule)?;
    check_required(schema, &entry, &classes)?;
    check_special(schema, &entry, structural)?;
    check_auxiliary(&classes, rule)?;
    check_allowed(schema, &entry, &classes, rule)?;
    let structural_class = structural.index;
    Ok(CheckedEntry {
        entry,
        structural_class,
    })
}

fn violation(kind: ViolationKind, text: String) -> SchemaViolation {
    SchemaViolation { kind, text }
}

fn class_violation(text: String) -> SchemaViolation {
    violation(ViolationKind::ObjectClass, text)
}

fn check_single_values(schema: &Schema, entry: &Entry) -> Result<(), SchemaViolation> {
    for attribute in &entry.attributes {
        if attribute.values.len() > 1
            && schema
                .attribute_at(attribute.description.attribute)
                .single_value
        {
            let text = format!(
                "attribute '{}' cannot have multiple values",
                attribute.description.text(schema)
            );
            return Err(violation(ViolationKind::Constraint, text));
        }
    }
    Ok(())
}

/// Returns the classes the entry names, in its order.
fn classes<'s>(schema: &'s Schema, entry: &Entry) -> Result<Vec<&'s ObjectClass>, SchemaViolation> {
    let values = entry.values(schema.object_class_attribute());
    if values.is_empty() {
        return Err(class_violation("no objectClass attribute".to_owned()));
    }
    let find = |value: &Vec<u8>| {
        let unknown = || {
            class_violation(format!(
                "unrecognized objectClass '{}'",
                String::from_utf8_lossy(value)
            ))
        };
        schema.object_class_by_bytes(value).ok_or_else(unknown)
    };
    let classes: Vec<&ObjectClass> = values.iter().map(find).collect::<Result<_, _>>()?;
    let derived_from = |class: &ObjectClass| {
        classes
            .iter()
            .any(|other| other.index != class.index && other.is_kind_of(class.index))
    };
    let lonely = classes.iter().find(|class| {
        class.kind == ClassKind::Abstract && class.index != schema.top() && !derived_from(class)
    });
    match lonely {
        // With a structural class missing as well, that is the better answer.
        Some(class)
            if classes
                .iter()
                .any(|class| class.kind == ClassKind::Structural) =>
        {
            Err(class_violation(format!(
                "instantiation of abstract objectClass '{}' not allowed",
                class.name()
            )))
        }
        _ => Ok(classes),
    }
}

/// Returns the class that is or derives from every structural class named.
fn structural_class<'s>(
    schema: &Schema,
    classes: &[&'s ObjectClass],
) -> Result<&'s ObjectClass, SchemaViolation> {
    let structural = || {
        classes
            .iter()
            .copied()
            .filter(|class| class.kind == ClassKind::Structural)
    };
    let Some(first) = structural().next() else {
        return Err(class_violation(
            "no structural object class provided".to_owned(),
        ));
    };
    if let Some(class) =
        structural().find(|class| structural().all(|other| class.is_kind_of(other.index)))
    {
        return Ok(class);
    }
    // Name the ends of two chains.
    let mut end = first;
    for class in structural() {
        if class.is_kind_of(end.index) {
            end = class;
        } else if !end.is_kind_of(class.index) {
            let text = format!(
                "invalid structural object class chain ({}/{})",
                schema.object_class_at(end.index).name(),
                class.name()
            );
            return Err(class_violation(text));
        }
    }
    Err(class_violation(format!(
        "invalid structural object class chain ({})",
        end.name()
    )))
}

/// Fails if a class is obsolete.
fn check_obsolete(classes: &[&ObjectClass]) -> Result<(), SchemaViolation> {
    match classes.iter().find(|class| class.obsolete) {
        None => Ok(()),
        Some(class) => Err(class_violation(format!(
            "objectClass '{}' is OBSOLETE",
            class.name()
        ))),
    }
}

fn check_auxiliary(
    classes: &[&ObjectClass],
    rule: Option<&ContentRule>,
) -> Result<(), SchemaViolation> {
    let Some(rule) = rule else { return Ok(()) };
    let forbidden = classes
        .iter()
        .find(|class| class.kind == ClassKind::Auxiliary && !rule.auxiliary.contains(&class.index));
    match forbidden {
        None => Ok(()),
        Some(class) => Err(class_violation(format!(
            "class '{}' not allowed by content rule '{}'",
            class.name(),
            rule.name
        ))),
    }
}

fn check_required(
    schema: &Schema,
    entry: &Entry,
    classes: &[&ObjectClass],
) -> Result<(), SchemaViolation> {
    let name = |attribute: AttributeIndex| schema.attribute_at(attribute).name();
    let has = |wanted| has_type(entry, wanted);
    for class in classes {
        if let Some(missing) = class.must.iter().find(|attribute| !has(**attribute)) {
            let text = format!(
                "object class '{}' requires attribute '{}'",
                class.name(),
                name(*missing)
            );
            return Err(class_violation(text));
        }
    }
    Ok(())
}

/// Returns true if the type is there, with whatever options.
fn has_type(entry: &Entry, wanted: AttributeIndex) -> bool {
    let mut attributes = entry.attributes.iter();
    attributes.any(|a| a.description.attribute == wanted)
}

/// Fails if the content rule forbids an attribute or requires a missing one.
fn check_content_rule(
    schema: &Schema,
    entry: &Entry,
    rule: Option<&ContentRule>,
) -> Result<(), SchemaViolation> {
    let Some(rule) = rule else { return Ok(()) };
    if rule.obsolete {
        let text = format!("content rule '{}' is obsolete", rule.name);
        return Err(class_violation(text));
    }
    let name = |attribute: AttributeIndex| schema.attribute_at(attribute).name();
    let has = |wanted| has_type(entry, wanted);
    if let Some(missing) = rule.must.iter().find(|attribute| !has(**attribute)) {
        return Err(class_violation(format!(
            "content rule '{}' requires attribute '{}'",
            rule.name,
            name(*missing)
        )));
    }
    if let Some(present) = rule.not.iter().find(|attribute| has(**attribute)) {
        return Err(class_violation(format!(
            "content rule '{}' precluded attribute '{}'",
            rule.name,
            name(*present)
        )));
    }
    Ok(())
}

fn check_allowed(
    schema: &Schema,
    entry: &Entry,
    classes: &[&ObjectClass],
    rule: Option<&ContentRule>,
) -> Result<(), SchemaViolation> {
    let extensible = classes
        .iter()
        .any(|class| class.index == schema.extensible_object());
    for attribute in &entry.attributes {
        let index = attribute.description.attribute;
        let allowed = extensible
            || schema.attribute_at(index).is_operational()
            || classes.iter().any(|class| {
                class.must.binary_search(&index).is_ok() || class.may.binary_search(&index).is_ok()
            })
            || rule.is_some_and(|rule| rule.must.contains(&index) || rule.may.contains(&index));
        if !allowed {
            return Err(class_violation(format!(
                "attribute '{}' not allowed",
                attribute.description.text(schema)
            )));
        }
    }
    Ok(())
}

/// Fails if a class or an attribute is in an entry of the wrong kind.
fn check_special(
    schema: &Schema,
    entry: &Entry,
    structural: &ObjectClass,
) -> Result<(), SchemaViolation> {
    if structural.oid == ROOT_DSE && !entry.dn.is_root() {
        return Err(class_violation(format!(
            "objectClass \"{ROOT_DSE}\" only allowed in the root DSE"
        )));
    }
    for held in &entry.attributes {
        let attribute = schema.attribute_at(held.description.attribute);
        if attribute.collective {
            return Err(class_violation(format!(
                "'{}' can only appear in collectiveAttributeSubentry",
                attribute.name()
            )));
        }
        if attribute.oid == REF && structural.oid != REFERRAL {
            return Err(class_violation(format!(
                "attribute \"{}\" only allowed in the referral",
                attribute.name()
            )));
        }
    }
    Ok(())
}

/// The class of the root DSE.
const ROOT_DSE: &str = "1.3.6.1.4.1.4203.1.4.1";

/// Where a referral object says where to go (RFC 3296).
const REF: &str = "2.16.840.1.113730.3.1.34";

/// The class of referral objects.
const REFERRAL: &str = "2.16.840.1.113730.3.2.6";

/// Returns a single-valued attribute named by the RDN and given another value cannot have both.
fn check_naming_conflict(schema: &Schema, entry: &Entry) -> Result<(), SchemaViolation> {
    let Some(rdn) = entry.dn.rdn() else {
        return Ok(());
    };
    for ava in rdn.avas() {
        let attribute = schema.attribute_at(ava.attribute);
        if attribute.single_value
            && entry.values(ava.attribute).len() == 2
            && entry.has_value(schema, ava.attribute, ava.value)
        {
            let text = format!(
                "value of single-valued naming attribute '{}' conflicts with value present in entry",
                attribute.name()
            );
            return Err(violation(ViolationKind::Naming, text));
        }
    }
    Ok(())
}

/// Returns every attribute and value of the RDN is in the entry (RFC 4512, section 2.3).
fn check_naming(
    schema: &Schema,
    entry: &Entry,
    allow_obsolete: bool,
) -> Result<(), SchemaViolation> {
    let Some(rdn) = entry.dn.rdn() else {
        return Ok(());
    };
    for ava in rdn.avas() {
        let attribute = schema.attribute_at(ava.attribute);
        let name = attribute.name();
        let problem = if attribute.is_operational() {
            format!("naming attribute '{name}' is operational")
        } else if attribute.collective {
            format!("naming attribute '{name}' is collective")
        } else if attribute.obsolete && !allow_obsolete {
            format!("naming attribute '{name}' is obsolete")
        } else if attribute.equality.is_none() {
            format!("naming attribute '{name}' has no equality matching rule")
        } else if entry.values(ava.attribute).is_empty() {
            format!("naming attribute '{name}' is not present in entry")
        } else if !entry.has_value(schema, ava.attribute, ava.value) {
            format!("value of naming attribute '{name}' is not present in entry")
        } else {
            continue;
        };
        return Err(violation(ViolationKind::Naming, problem));
    }
    Ok(())
}
