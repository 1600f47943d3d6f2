//! Adds entries of LDIF text to a configuration directory, as `slapadd -n 0` does.
//!
//! ```text
//!   text --include:--> records --names get their {n}--> files in DIR/.adding --try--> settings --keep--> DIR
//! ```
//!
//! The files move to the directory only after the caller has checked the whole configuration.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use fulgurite_ldif::{Action, Reader, ReaderOptions};

use super::entry::{ConfigEntry, numbered};
use super::number::{number_of, without_number};
use super::read::has_order;
use super::write::{WriteError, write_entry};
use crate::{ConfigError, Layer};

/// Files that include each other, at most.
const INCLUDES_MAX: usize = 16;

/// Bytes of the text of one run, at most.
const TEXT_MAX: usize = 256 << 20;

/// Names of entries that slapd makes itself, and of the one at the top, in lower case.
const TOP: &str = "cn=config";
const SCHEMA: &str = "cn=schema,cn=config";
const FRONTEND: &str = "olcdatabase={-1}frontend,cn=config";
const OWN_DATABASE: &str = "olcdatabase={0}config,cn=config";

/// The error of adding entries to a configuration directory.
#[derive(Debug, thiserror::Error)]
pub enum ConfigAddError {
    /// A file that the text includes.
    #[error("cannot include {}: {cause}", path.display())]
    Include {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// A record that cannot be read, or is no entry of the configuration.
    #[error("line {line}: {reason}")]
    Record {
        /// Its line, counted with the included files.
        line: u64,
        /// The error.
        reason: String,
    },
    /// The entries cannot be used together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The directory cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Entries that are being added to a configuration directory. Dropping the value discards them.
#[derive(Debug)]
pub struct ConfigAddition {
    directory: PathBuf,
    /// The folder that the whole configuration is built in.
    stage: PathBuf,
    added: Vec<ConfigEntry>,
}

impl ConfigAddition {
    /// Reads entries and copies them next to those of `directory`.
    ///
    /// A name without a number gets the next number. A line `include: file:///PATH` is replaced by
    /// the text of that file, and values may come from files too. The administrator wrote the text,
    /// so it is trusted.
    ///
    /// # Errors
    /// [`ConfigAddError`]; the directory does not change.
    pub fn read(directory: &Path, text: Vec<u8>) -> Result<ConfigAddition, ConfigAddError> {
        let mut whole = Vec::new();
        include(text, 0, &mut whole)?;
        let stage = directory.join(format!(".adding.{}", std::process::id()));
        let failed = |cause| WriteError {
            path: stage.clone(),
            cause,
        };
        fs::create_dir(&stage).map_err(failed)?;
        let mut addition = ConfigAddition {
            directory: directory.to_owned(),
            stage: stage.clone(),
            added: Vec::new(),
        };
        let mut names = BTreeSet::new();
        copy(directory, &stage, "", &mut names).map_err(failed)?;
        addition.take_all(whole, &mut names)?;
        Ok(addition)
    }

    /// Returns the settings of the directory with the new entries.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn layer(&self) -> Result<Layer, ConfigError> {
        Layer::from_config_dir(&self.stage)
    }

    /// Returns the names of the new entries, as they are written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.added.iter().map(|entry| entry.dn.as_str())
    }

    /// Writes the entries into the directory.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn keep(self) -> Result<(), WriteError> {
        for entry in &self.added {
            write_entry(&self.directory, entry)?;
        }
        Ok(())
    }

    fn take_all(
        &mut self,
        text: Vec<u8>,
        names: &mut BTreeSet<String>,
    ) -> Result<(), ConfigAddError> {
        let options = ReaderOptions {
            file_urls: true,
            ..ReaderOptions::default()
        };
        let mut reader = Reader::with_options(Cursor::new(text), options);
        loop {
            let record = reader
                .next_record()
                .map_err(|error| wrong(error.line, error.kind))?;
            let Some(record) = record else {
                return self.complete(names);
            };
            let line = record.line();
            let (Action::Content(attributes) | Action::Add(attributes)) = record.action() else {
                return Err(wrong(line, "a change record; only entries can be added"));
            };
            let mut entry = ConfigEntry {
                dn: record.dn().to_owned(),
                attributes: Vec::new(),
            };
            for one in attributes {
                let value = std::str::from_utf8(one.value)
                    .map_err(|_| wrong(one.line, format!("{}: not UTF-8", one.description)))?;
                add_value(&mut entry, one.description, value);
            }
            number_values(&mut entry);
            if is_schema(&entry) && names.contains(TOP) && !names.contains(SCHEMA) {
                self.push(schema_folder(), names)?;
            }
            place(&mut entry, names).map_err(|reason| wrong(line, reason))?;
            self.push(entry, names)?;
        }
    }

    /// Adds an entry under its final name.
    fn push(
        &mut self,
        entry: ConfigEntry,
        names: &mut BTreeSet<String>,
    ) -> Result<(), ConfigAddError> {
        names.insert(entry.dn.to_ascii_lowercase());
        write_entry(&self.stage, &entry)?;
        self.added.push(entry);
        Ok(())
    }

    /// Adds the entries that slapd makes itself, so that a configuration may come piece by piece.
    fn complete(&mut self, names: &mut BTreeSet<String>) -> Result<(), ConfigAddError> {
        let has_database = names
            .iter()
            .any(|name| name.starts_with("olcdatabase=") && !name.starts_with(FRONTEND));
        let made = [
            (SCHEMA, true, schema_folder as fn() -> ConfigEntry),
            (FRONTEND, has_database, frontend),
            (OWN_DATABASE, has_database, own_database),
        ];
        for (name, is_needed, make) in made {
            if names.contains(TOP) && is_needed && !names.contains(name) {
                self.push(make(), names)?;
            }
        }
        Ok(())
    }
}

/// Returns true for an entry of definitions.
fn is_schema(entry: &ConfigEntry) -> bool {
    let above = entry.dn.split(',').skip(1).map(str::trim);
    let above = above.collect::<Vec<_>>().join(",");
    above.eq_ignore_ascii_case(SCHEMA)
}

fn schema_folder() -> ConfigEntry {
    ConfigEntry::new(
        "cn=schema,cn=config".to_owned(),
        &["olcSchemaConfig"],
        "cn",
        "schema",
    )
}

fn frontend() -> ConfigEntry {
    let name = "{-1}frontend";
    let classes = ["olcDatabaseConfig", "olcFrontendConfig"];
    ConfigEntry::new(
        format!("olcDatabase={name},cn=config"),
        &classes,
        "olcDatabase",
        name,
    )
}

/// Returns the database of the configuration itself, which nobody but its root may read.
fn own_database() -> ConfigEntry {
    let name = "{0}config";
    let dn = format!("olcDatabase={name},cn=config");
    let mut entry = ConfigEntry::new(dn, &["olcDatabaseConfig"], "olcDatabase", name);
    entry.add("olcAccess", ["{0}to * by * none".to_owned()]);
    entry.add("olcRootDN", ["cn=config".to_owned()]);
    entry
}

impl Drop for ConfigAddition {
    fn drop(&mut self) {
        // A folder that cannot be removed is hidden, and no reader opens it.
        let _ = fs::remove_dir_all(&self.stage);
    }
}

fn wrong(line: u64, reason: impl ToString) -> ConfigAddError {
    ConfigAddError::Record {
        line,
        reason: reason.to_string(),
    }
}

/// Replaces the lines that include files by the text of the files, with line ends around it.
fn include(text: Vec<u8>, depth: usize, out: &mut Vec<u8>) -> Result<(), ConfigAddError> {
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(path) = included(line) else {
            out.extend_from_slice(line);
            continue;
        };
        let failed = |cause| ConfigAddError::Include {
            path: path.clone(),
            cause,
        };
        let inner = fs::read(&path).map_err(failed)?;
        if depth >= INCLUDES_MAX || out.len() + inner.len() > TEXT_MAX {
            return Err(failed(io::Error::other("too much is included")));
        }
        out.push(b'\n');
        include(inner, depth + 1, out)?;
        out.push(b'\n');
    }
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    Ok(())
}

/// Returns the file that a line includes.
fn included(line: &[u8]) -> Option<PathBuf> {
    let line = std::str::from_utf8(line).ok()?;
    let url = line.strip_prefix("include:")?.trim();
    url.strip_prefix("file://").map(PathBuf::from)
}

/// Copies the entries of a configuration directory, and notes their names.
fn copy(from: &Path, to: &Path, above: &str, names: &mut BTreeSet<String>) -> io::Result<()> {
    for file in fs::read_dir(from)? {
        let path = file?.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        if path.extension().is_none_or(|extension| extension != "ldif") {
            continue;
        }
        fs::copy(&path, to.join(format!("{stem}.ldif")))?;
        let name = match above {
            "" => stem.to_owned(),
            above => format!("{stem},{above}"),
        };
        let (inner, copied) = (path.with_extension(""), to.join(stem));
        if inner.is_dir() {
            fs::create_dir(&copied)?;
            copy(&inner, &copied, &name, names)?;
        }
        names.insert(name.to_ascii_lowercase());
    }
    Ok(())
}

/// Adds a value to the attribute of that name.
fn add_value(entry: &mut ConfigEntry, name: &str, value: &str) {
    // The writer derives it from the object classes.
    if name.eq_ignore_ascii_case("structuralObjectClass") {
        return;
    }
    let held = entry.attributes.iter_mut();
    match held
        .into_iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
    {
        Some((_, values)) => values.push(value.to_owned()),
        None => {
            let name = match name.eq_ignore_ascii_case("objectClass") {
                true => "objectClass",
                false => name,
            };
            entry
                .attributes
                .push((name.to_owned(), vec![value.to_owned()]));
        }
    }
}

/// Numbers the values that have an order. Values without a number follow the others.
fn number_values(entry: &mut ConfigEntry) {
    let attributes = entry.attributes.iter_mut();
    for (_, values) in attributes.filter(|(name, _)| has_order(name)) {
        values.sort_by_key(|value| number_of(value).unwrap_or(i32::MAX));
        let bare = values.iter().map(|value| without_number(value).to_owned());
        *values = numbered(bare.collect::<Vec<_>>());
    }
}

/// Gives an entry a free name below one of the known names.
fn place(entry: &mut ConfigEntry, names: &mut BTreeSet<String>) -> Result<(), String> {
    // Names of this tree have no escaped commas.
    let written = entry.dn.clone();
    let parts: Vec<&str> = written.split(',').map(str::trim).collect();
    let (name, above) = parts.split_first().ok_or("an entry needs a name")?;
    let above = above.join(",");
    let is_top = above.is_empty() && name.eq_ignore_ascii_case("cn=config");
    let Some((attribute, value)) = name.split_once('=') else {
        return Err(format!("\"{}\" is no name of an entry", entry.dn));
    };
    if entry.dn.contains(['/', '\\', '+', '\0']) {
        return Err(format!("\"{}\" cannot be the name of a file", entry.dn));
    }
    if !is_top && !names.contains(&above.to_ascii_lowercase()) {
        return Err(format!("\"{}\": there is no \"{above}\"", entry.dn));
    }
    let numbered = with_number(attribute, value, &above, names);
    let dn = match above.as_str() {
        "" => "cn=config".to_owned(),
        above => format!("{attribute}={numbered},{above}"),
    };
    if !names.insert(dn.to_ascii_lowercase()) {
        return Err(format!("\"{dn}\" exists already"));
    }
    entry.dn = dn;
    let named = entry.attributes.iter_mut();
    for (_, values) in named.filter(|(name, _)| name.eq_ignore_ascii_case(attribute)) {
        for held in values.iter_mut().filter(|held| held.as_str() == value) {
            held.clone_from(&numbered);
        }
    }
    Ok(())
}

/// Returns the value of a name with its number, or else the next one. The number of a module
/// follows it.
fn with_number(attribute: &str, value: &str, above: &str, names: &BTreeSet<String>) -> String {
    let in_schema = above.eq_ignore_ascii_case("cn=schema,cn=config");
    let of_modules = attribute.eq_ignore_ascii_case("cn") && value.eq_ignore_ascii_case("module");
    let ordered = ["olcDatabase", "olcOverlay"]
        .iter()
        .any(|name| attribute.eq_ignore_ascii_case(name));
    if number_of(value).is_some()
        || !(ordered || of_modules || (in_schema && attribute.eq_ignore_ascii_case("cn")))
    {
        return value.to_owned();
    }
    if attribute.eq_ignore_ascii_case("olcDatabase") {
        match value.to_ascii_lowercase().as_str() {
            "frontend" => return format!("{{-1}}{value}"),
            "config" => return format!("{{0}}{value}"),
            _ => {}
        }
    }
    let (prefix, suffix) = (
        format!("{attribute}=").to_ascii_lowercase(),
        format!(",{above}").to_ascii_lowercase(),
    );
    let siblings = names.iter().filter_map(|name| {
        let own = name.strip_prefix(&prefix)?.strip_suffix(&suffix)?;
        (!own.contains(',')).then_some(own)
    });
    let taken = siblings.filter_map(|own| match of_modules {
        true => number_of(own.strip_prefix("module")?),
        false => number_of(own),
    });
    // The first database after the configuration's own is number one.
    let none = if attribute.eq_ignore_ascii_case("olcDatabase") {
        0
    } else {
        -1
    };
    let next = taken.max().unwrap_or(none).max(none).saturating_add(1);
    let value = without_number(value);
    match of_modules {
        true => format!("{value}{{{next}}}"),
        false => format!("{{{next}}}{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(names: &mut BTreeSet<String>, dn: &str) -> Result<String, String> {
        let (name, value) = dn
            .split(',')
            .next()
            .and_then(|rdn| rdn.split_once('='))
            .unwrap();
        let mut entry = ConfigEntry {
            dn: dn.to_owned(),
            attributes: vec![(name.to_owned(), vec![value.to_owned()])],
        };
        place(&mut entry, names)?;
        let rdn = entry.dn.split(',').next().unwrap();
        assert_eq!(rdn, format!("{name}={}", entry.attributes[0].1[0]));
        Ok(entry.dn)
    }

    #[test]
    fn entries_find_their_places() {
        let mut names = BTreeSet::new();
        for (dn, expected) in [
            ("cn=config", Ok("cn=config")),
            ("cn=schema,cn=config", Ok("cn=schema,cn=config")),
            (
                "cn=core,cn=schema,cn=config",
                Ok("cn={0}core,cn=schema,cn=config"),
            ),
            (
                "cn={1}nis,cn=schema, cn=config",
                Ok("cn={1}nis,cn=schema,cn=config"),
            ),
            (
                "cn=misc,cn=schema,cn=config",
                Ok("cn={2}misc,cn=schema,cn=config"),
            ),
            ("cn=module,cn=config", Ok("cn=module{0},cn=config")),
            ("cn=module,cn=config", Ok("cn=module{1},cn=config")),
            (
                "olcDatabase=frontend,cn=config",
                Ok("olcDatabase={-1}frontend,cn=config"),
            ),
            (
                "olcDatabase=mdb,cn=config",
                Ok("olcDatabase={1}mdb,cn=config"),
            ),
            (
                "olcDatabase=config,cn=config",
                Ok("olcDatabase={0}config,cn=config"),
            ),
            (
                "olcDatabase=monitor,cn=config",
                Ok("olcDatabase={2}monitor,cn=config"),
            ),
            (
                "olcOverlay=memberof,olcDatabase={1}mdb,cn=config",
                Ok("olcOverlay={0}memberof,olcDatabase={1}mdb,cn=config"),
            ),
            (
                "olcDatabase={1}mdb,cn=config",
                Err("\"olcDatabase={1}mdb,cn=config\" exists already"),
            ),
            (
                "olcOverlay=x,olcDatabase={7}mdb,cn=config",
                Err(
                    "\"olcOverlay=x,olcDatabase={7}mdb,cn=config\": there is no \"olcDatabase={7}mdb,cn=config\"",
                ),
            ),
            ("dc=com", Err("\"dc=com\": there is no \"\"")),
            (
                "cn=../x,cn=config",
                Err("\"cn=../x,cn=config\" cannot be the name of a file"),
            ),
        ] {
            let placed = placed(&mut names, dn);
            assert_eq!(placed.as_deref().map_err(String::as_str), expected);
        }
    }

    #[test]
    fn a_configuration_comes_piece_by_piece() {
        let folder = tempfile::tempdir().unwrap();
        let add = |text: &str| {
            let addition = ConfigAddition::read(folder.path(), text.as_bytes().to_vec()).unwrap();
            let names: Vec<_> = addition.names().map(str::to_owned).collect();
            addition.layer().unwrap();
            addition.keep().unwrap();
            names
        };
        let database = "objectClass: olcDatabaseConfig\nobjectClass: olcMdbConfig\nolcDatabase: mdb\n\
                        olcSuffix: dc=example,dc=com\nolcDbDirectory: /nowhere\n";
        assert_eq!(
            add("dn: cn=config\nobjectClass: olcGlobal\ncn: config\n"),
            ["cn=config", "cn=schema,cn=config"]
        );
        assert_eq!(
            add("dn: cn=own,cn=schema,cn=config\nobjectClass: olcSchemaConfig\ncn: own\n"),
            ["cn={0}own,cn=schema,cn=config"]
        );
        assert_eq!(
            add(&format!("dn: olcDatabase=mdb,cn=config\n{database}")),
            [
                "olcDatabase={1}mdb,cn=config",
                "olcDatabase={-1}frontend,cn=config",
                "olcDatabase={0}config,cn=config",
            ]
        );
        let layer = Layer::from_config_dir(folder.path()).unwrap();
        assert_eq!(layer.databases.len(), 1);
        assert_eq!(
            layer.config.policy.access[0].value.as_str(),
            "to * by * none"
        );
    }

    #[test]
    fn ordered_values_get_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let text = "dn: cn=config\nobjectClass: olcGlobal\ncn: config\n\n\
            dn: olcDatabase={0}config,cn=config\nobjectClass: olcDatabaseConfig\n\
            olcDatabase: {0}config\nolcAccess: to * by * none\n\
            olcAccess: {7}to attrs=cn by * read\nolcAccess: {2}to attrs=sn by * read\n";
        let addition = ConfigAddition::read(folder.path(), text.as_bytes().to_vec()).unwrap();
        addition.keep().unwrap();
        let file = folder.path().join("cn=config/olcDatabase={0}config.ldif");
        let written = std::fs::read_to_string(file).unwrap();
        let rules: Vec<_> = written
            .lines()
            .filter(|line| line.starts_with("olcA"))
            .collect();
        assert_eq!(
            rules,
            [
                "olcAccess: {0}to attrs=sn by * read",
                "olcAccess: {1}to attrs=cn by * read",
                "olcAccess: {2}to * by * none",
            ]
        );
    }
}
