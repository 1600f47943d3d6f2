//! From settings to a directory that can be served.

use std::path::Path;
use std::sync::Arc;

use fulgurite_config::{
    BuiltinSchema, ConfigError, Database, Origin, SchemaPart, Settings, Sourced,
};
use fulgurite_directory::{DatabaseOptions, Directory, DirectoryOptions};
use fulgurite_schema::{Builtin, Schema, SchemaBuilder, SchemaError};
use fulgurite_store::{Store, StoreOptions};

use crate::check::{self, CheckError};
use crate::config_tree;
use crate::convert;

/// Searches that hold a snapshot at once, at least: many connections may each run several.
const READERS_MIN: u32 = 4096;

/// Why a directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is missing or cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A schema file is wrong.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] fulgurite_store::OpenError),
    /// Something is named that the schema does not know, or a rule is wrong.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Root name or access rules are wrong.
    #[error(transparent)]
    Directory(#[from] fulgurite_directory::OpenError),
}

/// The schema that the settings ask for.
///
/// # Errors
/// [`SchemaError`] if a schema file cannot be read or is wrong.
pub fn schema(settings: &Settings) -> Result<Schema, SchemaError> {
    let global = &settings.global;
    let mut builder = SchemaBuilder::new();
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
    for option in global.attribute_options.iter() {
        builder = builder.attribute_option(option);
    }
    for part in &global.schema {
        builder = add_schema(builder, part)?;
    }
    builder.build()
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

/// A schema file; one that OpenLDAP ships and this machine does not have is built in.
fn add_schema_file(builder: SchemaBuilder, path: &Path) -> Result<SchemaBuilder, SchemaError> {
    let name = path.file_stem().and_then(|stem| stem.to_str());
    match name.and_then(Builtin::find) {
        Some(part) if !path.exists() => Ok(builder.builtin(part)),
        _ => builder.file(path),
    }
}

/// How the settings want the store of a database to be made or opened.
///
/// # Errors
/// [`OpenError::Config`] if there is no suffix.
pub fn store_options(database: &Database) -> Result<StoreOptions, OpenError> {
    let storage = &database.storage;
    database.suffix()?;
    let suffixes = database.content.suffixes.iter();
    Ok(StoreOptions {
        suffixes: suffixes.map(|suffix| suffix.value.clone()).collect(),
        indexes: Some(database.indexes().iter().map(convert::index).collect()),
        durability: Some(convert::durability(*storage.durability)),
        readers_max: Some((*storage.readers_max).max(READERS_MIN)),
        map_bytes_max: Some(*storage.map_bytes_max),
        ..StoreOptions::default()
    })
}

/// Opens the directory that the settings describe, with its existing stores.
///
/// # Errors
/// [`OpenError`], a mistake in the settings or a store that is not there.
pub fn open_directory(settings: &Settings) -> Result<Directory, OpenError> {
    let schema = Arc::new(schema(settings)?);
    check::check_names(settings, &schema)?;
    let databases = settings
        .stores()
        .map(|database| open_database(database, &schema))
        .collect::<Result<Vec<_>, _>>()?;
    let global = &settings.global;
    let texts = |list: &[Sourced<String>]| list.iter().map(|text| text.value.clone()).collect();
    let first_id = global.server_ids.first();
    Ok(Directory::open(DirectoryOptions {
        access: convert::rules(&settings.frontend.access),
        limits: convert::limits(&settings.frontend),
        restrictions: convert::restrictions(&settings.frontend),
        allow: convert::allow(*global.allow),
        disallow: convert::disallow(*global.disallow),
        referral: texts(&global.referrals),
        config: Some(config_tree::options(settings)?),
        server_id: first_id.map_or(0, |server| server.id),
        ..DirectoryOptions::new(schema, databases)
    })?)
}

fn open_database(database: &Database, schema: &Arc<Schema>) -> Result<DatabaseOptions, OpenError> {
    let store = open_store(database, schema)?;
    let policy = &database.policy;
    Ok(DatabaseOptions {
        subordinate: convert::subordinate(*database.content.subordinate),
        hidden: *database.content.hidden,
        root: convert::root(database)?,
        access: convert::rules(&policy.access),
        limits: Some(convert::limits(policy)),
        restrictions: convert::restrictions(policy),
        last_mod: *policy.last_mod,
        add_content_acl: *policy.add_content_acl,
        max_deref_depth: *policy.max_deref_depth,
        monitoring: *database.content.monitoring,
        ..DatabaseOptions::new(store)
    })
}

/// The store of a database; an empty one is made where there is none.
fn open_store(database: &Database, schema: &Arc<Schema>) -> Result<Store, OpenError> {
    let directory = database.directory()?;
    let mut options = store_options(database)?;
    if !Store::exists(directory) {
        let place = directory.display();
        tracing::info!("there is no store in {place}: an empty one is made");
        return Ok(Store::create(directory, &options, Arc::clone(schema))?);
    }
    if !database.names_indexes() {
        // It keeps those it was made with.
        options.indexes = None;
    }
    Ok(Store::open(directory, &options, Arc::clone(schema))?)
}
