//! Object classes that OpenLDAP's data have and a schema lacks.
//!
//! Their definitions are made from the entries, so that these can be changed.

use std::collections::BTreeSet;
use std::path::Path;

use fulgurite_openldap_mdb::{Entry as SourceEntry, EntryFault, Source};
use fulgurite_schema::{ClassKind, ObjectClass, Schema};

use crate::import_error::ImportError;
use crate::missing_types::{number_and_name, type_of};

/// An object class that a schema lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingClass {
    /// Its name, or its number.
    pub name: String,
    /// The structural class that its entries have too.
    superior: Option<String>,
    /// True if it is the structural class of an entry.
    is_structural: bool,
    /// The attributes of its entries.
    attributes: BTreeSet<String>,
}

impl MissingClass {
    /// Returns a statement of a schema file. The class permits all that its entries have.
    #[must_use]
    pub fn definition(&self) -> String {
        let (oid, named) = number_and_name(&self.name);
        let (superior, kind) = match (self.is_structural, &self.superior) {
            (true, Some(superior)) => (superior.as_str(), "STRUCTURAL"),
            (true, None) => ("top", "STRUCTURAL"),
            (false, _) => ("top", "AUXILIARY"),
        };
        let attributes: Vec<&str> = self.attributes.iter().map(String::as_str).collect();
        let may = match attributes.is_empty() {
            true => String::new(),
            false => format!(" MAY ( {} )", attributes.join(" $ ")),
        };
        format!("objectclass ( {oid}{named} SUP {superior} {kind}{may} )")
    }
}

/// Returns the object classes of a database that a schema does not define.
///
/// # Errors
/// [`ImportError`].
pub fn missing_classes(from: &Path, schema: &Schema) -> Result<Vec<MissingClass>, ImportError> {
    let source = Source::open(from)?;
    let mut dump = source.dump()?;
    let mut missing = Vec::new();
    loop {
        match dump.next_entry() {
            Ok(None) => break,
            Ok(Some(entry)) => note(&mut missing, &entry, schema),
            // The import itself reports what cannot be read.
            Err(error) if matches!(error.fault, EntryFault::Engine(_)) => break,
            Err(_) => {}
        }
    }
    Ok(missing)
}

/// Adds the unknown classes of an entry.
fn note(missing: &mut Vec<MissingClass>, entry: &SourceEntry, schema: &Schema) {
    let classes = texts(entry, "objectClass");
    let known = || classes.iter().filter_map(|name| schema.object_class(name));
    if known().count() == classes.len() {
        return;
    }
    let structural = texts(entry, "structuralObjectClass");
    let attributes = entry.attributes.iter().filter_map(|held| {
        let definition = schema.attribute(type_of(&held.description))?;
        let name = definition.name();
        let is_permitted = !definition.is_operational() && name != "objectClass";
        is_permitted.then(|| name.to_owned())
    });
    let attributes: BTreeSet<String> = attributes.collect();
    let is_structural = |class: &&ObjectClass| class.kind == ClassKind::Structural;
    let superior = known()
        .filter(is_structural)
        .max_by_key(|class| class.all_superiors.len());
    for name in classes
        .iter()
        .filter(|name| schema.object_class(name).is_none())
    {
        let same = |one: &MissingClass| one.name.eq_ignore_ascii_case(name);
        let at = missing.iter().position(same).unwrap_or_else(|| {
            missing.push(MissingClass {
                name: name.clone(),
                superior: None,
                is_structural: false,
                attributes: BTreeSet::new(),
            });
            missing.len() - 1
        });
        let Some(class) = missing.get_mut(at) else {
            continue;
        };
        class.attributes.extend(attributes.iter().cloned());
        let mut of_entry = structural.iter();
        if of_entry.any(|structural| structural.eq_ignore_ascii_case(name)) {
            class.is_structural = true;
            class.superior = superior.map(|class| class.name().to_owned());
        }
    }
}

fn texts(entry: &SourceEntry, name: &str) -> Vec<String> {
    let attributes = entry.attributes.iter();
    let held = attributes.filter(|held| held.description.eq_ignore_ascii_case(name));
    let values = held.flat_map(|held| &held.values);
    let texts = values.map(|value| String::from_utf8_lossy(value).into_owned());
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_openldap_mdb::Attribute;

    fn entry(attributes: &[(&str, &[&str])]) -> SourceEntry {
        let attributes = attributes.iter().map(|(name, values)| Attribute {
            description: (*name).to_owned(),
            values: values
                .iter()
                .map(|value| value.as_bytes().to_vec())
                .collect(),
        });
        SourceEntry {
            id: 1,
            parent: 0,
            name: "cn=a".to_owned(),
            attributes: attributes.collect(),
        }
    }

    #[test]
    fn classes_permit_all_that_their_entries_have() {
        let schema = Schema::standard();
        let mut missing = Vec::new();
        let shod = [
            ("objectClass", &["account", "shod"][..]),
            ("uid", &["a"]),
            ("structuralObjectClass", &["account"]),
        ];
        note(&mut missing, &entry(&shod), &schema);
        let worker = [
            ("objectClass", &["person", "worker", "SHOD"][..]),
            ("cn", &["a"]),
            ("sn;lang-en", &["b"]),
            ("structuralObjectClass", &["worker"]),
        ];
        note(&mut missing, &entry(&worker), &schema);
        let texts: Vec<String> = missing.iter().map(MissingClass::definition).collect();
        assert_eq!(texts.len(), 2);
        let end = " NAME 'shod' SUP top AUXILIARY MAY ( cn $ sn $ uid ) )";
        assert!(texts[0].ends_with(end), "{texts:?}");
        let end = " NAME 'worker' SUP person STRUCTURAL MAY ( cn $ sn ) )";
        assert!(texts[1].ends_with(end), "{texts:?}");
    }
}
