//! Attribute types that OpenLDAP's data have and a schema lacks.

use std::collections::BTreeSet;
use std::path::Path;

use fulgurite_openldap_mdb::{Entry as SourceEntry, EntryFault, Source};
use fulgurite_schema::{Builtin, Schema, SchemaBuilder};
use sha1::{Digest as _, Sha1};

use crate::import_error::ImportError;

/// An attribute type that a schema lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingType {
    /// Its name, or its number.
    pub name: String,
    /// The part of the built-in schema that defines it.
    pub builtin: Option<Builtin>,
    /// True if only entries have it whose classes are all known. No class allows it then, so
    /// OpenLDAP kept it as an operational attribute.
    pub operational: bool,
}

impl MissingType {
    /// Returns a statement of a schema file. The type becomes an octet string that compares by
    /// bytes. Entries may have an operational one whatever their classes are.
    #[must_use]
    pub fn definition(&self) -> String {
        let (oid, named) = number_and_name(&self.name);
        let usage = match self.operational {
            true => " USAGE directoryOperation",
            false => "",
        };
        format!(
            "attributetype ( {oid}{named} EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40{usage} )"
        )
    }
}

/// Returns the attribute types of a database that a schema does not define.
///
/// # Errors
/// [`ImportError`].
pub fn missing_types(from: &Path, schema: &Schema) -> Result<Vec<MissingType>, ImportError> {
    let source = Source::open(from)?;
    let mut dump = source.dump()?;
    let mut missing: Vec<MissingType> = Vec::new();
    for description in dump.descriptions() {
        let name = type_of(description);
        let is_known = schema.attribute(name).is_some()
            || missing
                .iter()
                .any(|other| other.name.eq_ignore_ascii_case(name));
        if !is_known {
            missing.push(MissingType {
                name: name.to_owned(),
                builtin: builtin_with(name),
                operational: true,
            });
        }
    }
    if missing.is_empty() {
        return Ok(missing);
    }
    let mut of_users = BTreeSet::new();
    loop {
        match dump.next_entry() {
            Ok(None) => break,
            Ok(Some(entry)) if has_unknown_class(&entry, schema) => {
                let types = entry
                    .attributes
                    .iter()
                    .map(|held| type_of(&held.description));
                of_users.extend(types.map(str::to_ascii_lowercase));
            }
            // The import itself reports what cannot be read.
            Err(error) if matches!(error.fault, EntryFault::Engine(_)) => break,
            Ok(Some(_)) | Err(_) => {}
        }
    }
    for one in &mut missing {
        one.operational = !of_users.contains(&one.name.to_ascii_lowercase());
    }
    Ok(missing)
}

/// Returns the part of the built-in schema that defines an attribute type.
#[must_use]
pub fn builtin_with(name: &str) -> Option<Builtin> {
    let defines = |part: &Builtin| {
        let schema = SchemaBuilder::new().builtin(*part).build();
        schema.is_ok_and(|schema| schema.attribute(name).is_some())
    };
    Builtin::ALL.into_iter().find(defines)
}

/// Returns the number and the name of a definition. It may have been used by its number.
pub(crate) fn number_and_name(name: &str) -> (String, String) {
    match name.starts_with(|first: char| first.is_ascii_digit()) {
        true => (name.to_owned(), String::new()),
        false => (oid_of(name), format!(" NAME '{name}'")),
    }
}

pub(crate) fn type_of(description: &str) -> &str {
    description.split(';').next().unwrap_or_default()
}

fn has_unknown_class(entry: &SourceEntry, schema: &Schema) -> bool {
    let is_class = |held: &&fulgurite_openldap_mdb::Attribute| {
        held.description.eq_ignore_ascii_case("objectClass")
    };
    let classes = entry.attributes.iter().filter(is_class);
    classes.flat_map(|held| &held.values).any(|class| {
        let name = std::str::from_utf8(class).ok();
        name.and_then(|name| schema.object_class(name)).is_none()
    })
}

/// Returns an object identifier that is unique and always the same for a name. It is made of a
/// digest of the name, in the arc of UUIDs (X.667).
fn oid_of(name: &str) -> String {
    let digest = Sha1::digest(name.to_ascii_lowercase());
    let number = digest
        .iter()
        .take(16)
        .fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    format!("2.25.{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_parts_define_the_state_of_password_policies() {
        let part = builtin_with("pwdChangedTime").unwrap();
        assert_eq!(part.name(), "ppolicy");
        assert_eq!(builtin_with("nosuch"), None);
    }

    #[test]
    fn a_type_of_no_class_is_operational() {
        let mut missing = MissingType {
            name: "x".to_owned(),
            builtin: None,
            operational: true,
        };
        assert!(
            missing
                .definition()
                .ends_with(" USAGE directoryOperation )")
        );
        missing.operational = false;
        assert!(missing.definition().ends_with(".40 )"));
    }
}
