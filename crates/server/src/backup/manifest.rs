//! The manifest of a backup: its databases, with what a reader can compare.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The form of the manifest.
const FORMAT: u64 = 1;

/// The databases of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackupManifest {
    /// The program that wrote it.
    pub program: String,
    /// The databases in the order of the settings.
    pub databases: Vec<SavedDatabase>,
}

/// A database of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedDatabase {
    /// Its first suffix.
    pub suffix: String,
    /// The directory that it was copied from.
    pub data: String,
    /// Its folder in the backup.
    pub folder: String,
    /// The number of its entries.
    pub entries: u64,
    /// The position of its last change in the log of changes.
    pub position: u64,
    /// The newest change of each server, as contextCSN shows them.
    pub changes: Vec<String>,
    /// The bytes of its data file.
    pub bytes: u64,
    /// The SHA-256 digest of its data file, in hexadecimal.
    pub sha256: String,
}

impl BackupManifest {
    /// Returns the bytes of all data files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.databases.iter().map(|database| database.bytes).sum()
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> String {
        let databases = self.databases.iter().map(|database| {
            json!({
                "suffix": database.suffix,
                "data": database.data,
                "folder": database.folder,
                "entries": database.entries,
                "position": database.position,
                "changes": database.changes,
                "bytes": database.bytes,
                "sha256": database.sha256,
            })
        });
        let whole = json!({
            "format": FORMAT,
            "program": self.program,
            "databases": databases.collect::<Vec<_>>(),
        });
        format!("{whole:#}\n")
    }

    /// Reads the text of a file.
    pub(super) fn parse(text: &str) -> Result<BackupManifest, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match value.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(other) => return Err(format!("its form {other} is of another release")),
            None => return Err("it has no \"format\"".to_owned()),
        }
        let databases = value.get("databases").and_then(Value::as_array);
        let databases = databases.ok_or("it has no \"databases\"")?;
        let databases = databases.iter().map(database);
        Ok(BackupManifest {
            program: text_of(&value, "program")?,
            databases: databases.collect::<Result<_, _>>()?,
        })
    }
}

fn database(value: &Value) -> Result<SavedDatabase, String> {
    let number = |key: &str| {
        let number = value.get(key).and_then(Value::as_u64);
        number.ok_or_else(|| format!("a database has no \"{key}\""))
    };
    let changes = value.get("changes").and_then(Value::as_array);
    let changes = changes.into_iter().flatten();
    let changes = changes.filter_map(|csn| csn.as_str().map(str::to_owned));
    let folder = text_of(value, "folder")?;
    // The folder is joined to a path.
    if folder.is_empty() || folder.starts_with('.') || folder.contains('/') {
        return Err(format!("\"{folder}\" is no name of a folder"));
    }
    Ok(SavedDatabase {
        suffix: text_of(value, "suffix")?,
        data: text_of(value, "data")?,
        folder,
        entries: number("entries")?,
        position: number("position")?,
        changes: changes.collect(),
        bytes: number("bytes")?,
        sha256: text_of(value, "sha256")?,
    })
}

fn text_of(value: &Value, key: &str) -> Result<String, String> {
    let text = value.get(key).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| format!("it has no \"{key}\""))
}

/// Returns the SHA-256 digest of a file in hexadecimal. It calls `watch` with the bytes read.
///
/// # Errors
/// Those of the file, and those of `watch`, which end the reading.
pub fn digest_of(path: &Path, watch: &mut dyn FnMut(u64) -> io::Result<()>) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    let mut read = 0;
    loop {
        watch(read)?;
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(hex::encode(digest.finalize()));
        }
        digest.update(piece.get(..count).unwrap_or_default());
        read += count as u64;
    }
}
