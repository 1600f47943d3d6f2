//! The definitions with which a store is read: all that come with the server, and those of files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fulgurite_schema::{Builtin, Schema, SchemaBuilder, SchemaError};

use super::failures;
use crate::error::{Result, failure};
use rusqlite::ffi;

/// Schema files that a folder may have.
const FILES_MAX: usize = 1000;
/// Folders within folders that are searched for schema files.
const DEPTH_MAX: usize = 4;

/// Returns the schemas to try, in this order. Directories differ in the classes of RFC 2307.
pub(super) fn schemas(path: Option<&Path>) -> Result<Vec<Arc<Schema>>> {
    static BUILTIN: OnceLock<Vec<Arc<Schema>>> = OnceLock::new();
    let Some(path) = path else {
        let builtin = BUILTIN.get_or_init(|| {
            let both = [Builtin::Nis, Builtin::Rfc2307bis];
            both.iter()
                .filter_map(|posix| with_all_parts(*posix).build().ok())
                .map(Arc::new)
                .collect()
        });
        return Ok(builtin.clone());
    };
    let mut files = Vec::new();
    find_files(path, &mut files, 0)
        .map_err(|error| failure(ffi::SQLITE_CANTOPEN, format!("{}: {error}", path.display())))?;
    // Files that define everything themselves contradict what comes with the server.
    let starts = [
        with_all_parts(Builtin::Nis),
        with_all_parts(Builtin::Rfc2307bis),
        SchemaBuilder::new(),
    ];
    let built = starts.map(|start| with_files(start, &files));
    let mut schemas = Vec::new();
    let mut error = None;
    for schema in built {
        match schema {
            Ok(schema) => schemas.push(Arc::new(schema)),
            Err(found) => error = error.or(Some(found)),
        }
    }
    match error {
        Some(error) if schemas.is_empty() => Err(failures::schema(&error)),
        _ => Ok(schemas),
    }
}

fn with_all_parts(posix: Builtin) -> SchemaBuilder {
    let other =
        |part: &Builtin| *part != posix && matches!(part, Builtin::Nis | Builtin::Rfc2307bis);
    Builtin::ALL
        .into_iter()
        .filter(|part| !other(part))
        .fold(SchemaBuilder::new(), SchemaBuilder::builtin)
}

fn with_files(start: SchemaBuilder, files: &[PathBuf]) -> std::result::Result<Schema, SchemaError> {
    files
        .iter()
        .try_fold(start, |builder, file| builder.file(file))?
        .build()
}

/// Lists the schema files of a folder and those within it, in the order of their names.
fn find_files(path: &Path, files: &mut Vec<PathBuf>, depth: usize) -> std::io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut inside: Vec<PathBuf> = std::fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    inside.sort();
    for path in inside {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_schema = matches!(ending, Some("schema" | "ldif")) && files.len() < FILES_MAX;
        if path.is_dir() && depth < DEPTH_MAX {
            find_files(&path, files, depth + 1)?;
        } else if is_schema && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
