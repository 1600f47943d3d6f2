//! Builds the schema that the settings describe.

use std::path::Path;

use fulgurite_config::{
    BuiltinSchema, ConfigError, Database, Origin, SchemaPart, Settings, Sourced,
};
use fulgurite_policy::{OverlaySupport, find_overlay};
use fulgurite_schema::{Builtin, Schema, SchemaBuilder, SchemaError};

/// Builds the schema that the settings describe.
///
/// # Errors
/// [`SchemaError`] if a schema file is unreadable or has an error.
pub fn schema(settings: &Settings) -> Result<Schema, SchemaError> {
    with_builtin(settings, &[])
}

/// Builds the schema of a configuration that is not complete yet. It has the usual definitions,
/// unless the configuration has its own.
///
/// # Errors
/// As [`schema`].
pub(super) fn completed(settings: &Settings) -> Result<Schema, SchemaError> {
    let mut added = Vec::new();
    for part in [
        Builtin::Core,
        Builtin::Cosine,
        Builtin::InetOrgPerson,
        Builtin::Nis,
    ] {
        added.push(part);
        if with_builtin(settings, &added).is_err() {
            added.pop();
        }
    }
    with_builtin(settings, &added)
}

/// Adds the definitions of password policies and of logs of changes where a database has them. A
/// configuration of slapd 2.4 has its own of policies. The database of a log may have its indexes
/// before another one has the overlay.
fn with_builtin(settings: &Settings, added: &[Builtin]) -> Result<Schema, SchemaError> {
    let mut added = added.to_vec();
    for (overlay, part) in [
        ("accesslog", Builtin::AccessLog),
        ("ppolicy", Builtin::PasswordPolicy),
    ] {
        let is_log = |database: &Database| part == Builtin::AccessLog && indexes_log(database);
        let mut databases = settings.stores();
        if databases.any(|database| has_overlay(database, overlay) || is_log(database)) {
            added.push(part);
        }
    }
    while !added.is_empty() {
        match build(settings, &added) {
            Ok(schema) => return Ok(schema),
            Err(_) => added.pop(),
        };
    }
    build(settings, &added)
}

fn build(settings: &Settings, added: &[Builtin]) -> Result<Schema, SchemaError> {
    let global = &settings.global;
    let mut builder = SchemaBuilder::new();
    for part in added {
        builder = builder.builtin(*part);
    }
    if *global.schema_builtin == BuiltinSchema::Standard {
        let posix = match *global.rfc2307bis {
            true => Builtin::Rfc2307bis,
            false => Builtin::Nis,
        };
        for part in [
            Builtin::Core,
            Builtin::Cosine,
            Builtin::InetOrgPerson,
            posix,
        ] {
            builder = builder.builtin(part);
        }
    }
    // Overlays may be added to a configuration directory while the server runs.
    if settings.files.is_some() || settings.stores().any(has_shown_directives) {
        builder = builder.builtin(Builtin::Overlays);
    }
    for option in global.attribute_options.iter() {
        builder = builder.attribute_option(option);
    }
    for part in &global.schema {
        builder = add_schema(builder, part)?;
    }
    if let Some(directory) = &global.schema_directory.value {
        let unreadable = |error: ConfigError| SchemaError::Read {
            path: directory.clone(),
            source: std::io::Error::other(error.to_string()),
        };
        for file in global.schema_directory_files().map_err(unreadable)? {
            builder = builder.file(&file)?;
        }
    }
    builder.build()
}

/// Returns true for an index of an attribute that only logs of changes have.
fn indexes_log(database: &Database) -> bool {
    let mut indexes = database.storage.indexes.iter();
    indexes.any(|index| {
        let names = ["reqStart", "reqEnd", "reqResult", "reqDN", "reqEntryUUID"];
        names
            .iter()
            .any(|name| index.attribute.eq_ignore_ascii_case(name))
    })
}

fn has_overlay(database: &Database, name: &str) -> bool {
    let mut overlays = database.overlays.iter();
    overlays.any(|overlay| overlay.name.eq_ignore_ascii_case(name))
}

/// Returns true if cn=config shows directives of the database's overlays.
fn has_shown_directives(database: &Database) -> bool {
    let mut overlays = database.overlays.iter();
    overlays.any(|overlay| {
        let row = find_overlay(&overlay.name);
        row.is_some_and(|row| row.support == OverlaySupport::PerDatabase)
    })
}

fn add_schema(
    builder: SchemaBuilder,
    part: &Sourced<SchemaPart>,
) -> Result<SchemaBuilder, SchemaError> {
    let (keyword, definition) = match &part.value {
        SchemaPart::File(path) => return add_schema_file(builder, path),
        SchemaPart::AttributeType(text) => ("attributetype", text),
        SchemaPart::ObjectClass(text) => ("objectclass", text),
        SchemaPart::ObjectIdentifier(text) => ("objectidentifier", text),
        SchemaPart::DitContentRule(text) => ("ditcontentrule", text),
        SchemaPart::LdapSyntax(text) => ("ldapsyntax", text),
    };
    let (place, line) = match &part.origin {
        Origin::File { path, line, .. } => (path.display().to_string(), *line),
        other => (other.to_string(), 1),
    };
    builder.statement(&place, line, keyword, definition)
}

/// Adds a schema file. If the file is missing and OpenLDAP ships it, the built-in copy replaces it.
fn add_schema_file(builder: SchemaBuilder, path: &Path) -> Result<SchemaBuilder, SchemaError> {
    let name = path.file_stem().and_then(|stem| stem.to_str());
    match name.and_then(Builtin::find) {
        Some(part) if !path.exists() => Ok(builder.builtin(part)),
        _ => builder.file(path),
    }
}

/// Returns true if two schemas publish the same definitions.
pub(super) fn publish_the_same(a: &Schema, b: &Schema) -> bool {
    a.published_attribute_types()
        .eq(b.published_attribute_types())
        && a.published_object_classes()
            .eq(b.published_object_classes())
        && a.published_content_rules().eq(b.published_content_rules())
        && a.published_syntaxes().eq(b.published_syntaxes())
}
