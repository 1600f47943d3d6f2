//! The schema files that OpenLDAP ships. Each loads from both forms, alone and on top of the
//! built-in definitions, which agree with it.

use std::path::{Path, PathBuf};

use fulgurite_schema::{Builtin, Schema, SchemaBuilder};

/// In the order in which configurations include them.
const NAMES: [&str; 15] = [
    "core",
    "cosine",
    "inetorgperson",
    "nis",
    "openldap",
    "misc",
    "dyngroup",
    "duaconf",
    "collective",
    "corba",
    "java",
    "pmi",
    "namedobject",
    "msuser",
    "dsee",
];

/// Where the files are: FULGURITE_OPENLDAP_SCHEMA, the unpacked Debian package, or an installed
/// one.
fn folder() -> Option<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/slapd/etc/ldap/schema");
    let named = std::env::var_os("FULGURITE_OPENLDAP_SCHEMA").map(PathBuf::from);
    let places = [named, Some(unpacked), Some("/etc/ldap/schema".into())];
    let found = places
        .into_iter()
        .flatten()
        .find(|folder| folder.join("dsee.ldif").exists());
    if found.is_none() {
        eprintln!("SKIPPED: OpenLDAP's schema files are neither in build/slapd nor installed");
    }
    found
}

fn build(builder: SchemaBuilder, files: &[PathBuf]) -> Schema {
    files
        .iter()
        .try_fold(builder, |builder, file| builder.file(file))
        .and_then(SchemaBuilder::build)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the definitions of a schema, in words that do not depend on their order. The first name
/// of a syntax or a description may differ; names, relations and rules may not.
fn summary(schema: &Schema) -> Vec<String> {
    let name = |index| schema.attribute_at(index).oid.clone();
    let attributes = schema.attributes().iter().map(|a| {
        format!(
            "{} {:?} {:?} {} {:?} {:?} {:?} {:?}",
            a.oid,
            a.names,
            a.superior.map(name),
            a.syntax.oid,
            a.equality.map(|rule| rule.name),
            a.ordering.map(|rule| rule.name),
            a.substring.map(|rule| rule.name),
            (
                a.single_value,
                a.collective,
                a.no_user_modification,
                a.usage
            ),
        )
    });
    let sorted = |list: &[_]| {
        let mut names: Vec<String> = list.iter().map(|index| name(*index)).collect();
        names.sort();
        names.join(",")
    };
    let classes = schema.object_classes().iter().map(|c| {
        let above = c
            .superiors
            .iter()
            .map(|s| schema.object_class_at(*s).name());
        format!(
            "{} {:?} {:?} {:?} {} {}",
            c.oid,
            c.names,
            above.collect::<Vec<_>>(),
            c.kind,
            sorted(&c.must),
            sorted(&c.may)
        )
    });
    let mut all: Vec<String> = attributes.chain(classes).collect();
    all.sort();
    all
}

#[test]
fn all_files_load_from_both_forms_and_say_the_same() {
    let Some(folder) = folder() else { return };
    let files = |extension: &str| {
        NAMES
            .map(|name| folder.join(format!("{name}.{extension}")))
            .to_vec()
    };
    let from_schema = build(SchemaBuilder::new(), &files("schema"));
    let from_ldif = build(SchemaBuilder::new(), &files("ldif"));
    assert!(from_schema.attributes().len() > 1300);
    for (a, b) in summary(&from_schema).iter().zip(&summary(&from_ldif)) {
        assert_eq!(a, b);
    }
    // Both at once: the same definitions twice.
    let both = [files("schema"), files("ldif")].concat();
    let both = build(SchemaBuilder::new(), &both);
    assert_eq!(both.attributes().len(), from_schema.attributes().len());
}

#[test]
fn our_definitions_are_those_of_the_files() {
    let Some(folder) = folder() else { return };
    for name in NAMES {
        let part = Builtin::find(name).unwrap_or_else(|| panic!("{name} is not built in"));
        // msuser uses homeDirectory, which two parts define.
        let start = || match part {
            Builtin::MsUser => SchemaBuilder::new().builtin(Builtin::Nis),
            _ => SchemaBuilder::new(),
        };
        let ours = build(start().builtin(part), &[]);
        for extension in ["schema", "ldif"] {
            let file = folder.join(format!("{name}.{extension}"));
            let on_top = build(start().builtin(part), std::slice::from_ref(&file));
            assert_eq!(
                (ours.attributes().len(), ours.object_classes().len()),
                (on_top.attributes().len(), on_top.object_classes().len()),
                "{} defines more than we do",
                file.display()
            );
            let needed = part.requires();
            let below = needed
                .iter()
                .fold(start(), |builder, part| builder.builtin(*part));
            let alone = build(below, &[file]);
            for (a, b) in summary(&ours).iter().zip(&summary(&alone)) {
                assert_eq!(a, b, "{name}.{extension}");
            }
        }
    }
}

#[test]
fn a_whole_folder_on_top_of_the_standard_schema() {
    let Some(folder) = folder() else { return };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|e| e == "schema" || e == "ldif")
        })
        .collect();
    files.sort();
    build(SchemaBuilder::standard(), &files);
}
