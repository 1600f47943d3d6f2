//! Reads a `cn=config` directory into a layer.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use fulgurite_ldif::{Action, Reader as LdifReader};

use super::number::{number_of, without_number};
use super::overlay;
use crate::slapd_conf::{KnownDirective, LayerBuilder, apply, directives, obey};
use crate::statement::{Section, Statement};
use crate::survey::Survey;
use crate::table::Directive;
use crate::value_tokens::split_value;
use crate::{ConfigError, Layer, Origin, Sourced};
use fulgurite_policy::{DatabaseKind, find_overlay};

/// Entries of one folder, at most.
const ENTRIES_MAX: usize = 10_000;

impl Layer {
    /// Reads a directory in the layout of slapd.d: `cn=config.ldif`, and a file for each entry
    /// below `cn=config`.
    ///
    /// Warns of attributes that have no directive, and ignores them.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`]; [`ConfigError::Directive`] for a value that its directive
    /// refuses.
    pub fn from_config_dir(directory: &Path) -> Result<Layer, ConfigError> {
        let mut builder = LayerBuilder::new();
        read_directory(&mut builder, directory)?;
        Ok(builder.layer)
    }

    /// Reads a directory to its end, and collects the values that the server refuses.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], and [`ConfigError::Directive`] for a file that is no entry.
    pub(crate) fn survey_config_dir(directory: &Path) -> Result<Survey, ConfigError> {
        let mut builder = LayerBuilder::new().collecting();
        read_directory(&mut builder, directory)?;
        Ok(builder.into_survey())
    }
}

fn read_directory(builder: &mut LayerBuilder, directory: &Path) -> Result<(), ConfigError> {
    let top = directory.join("cn=config.ldif");
    let folder = directory.join("cn=config");
    let global = Entry::read(&top)?;
    // A folder without entries is no error.
    let mut entries = match folder.exists() {
        true => entries(&folder)?,
        false => Vec::new(),
    };
    global.obey(builder)?;
    // slapd's schema is built in.
    take(&mut entries, "cn=schema");
    let modules = take(&mut entries, "cn=module");
    for (_, module) in modules {
        module.obey(builder)?;
    }
    let schema = folder.join("cn=schema");
    if schema.is_dir() {
        for (_, entry) in self::entries(&schema)? {
            entry.obey(builder)?;
        }
    }
    take(&mut entries, "olcBackend=");
    for (path, entry) in take(&mut entries, "olcDatabase=") {
        read_database(builder, &path, &entry)?;
    }
    for (_, entry) in entries {
        let text = format!("{} has no meaning here", entry.dn);
        builder.warn(&entry.origin(entry.line), text);
    }
    // slapd writes every default, so notes on settings without effect would be noise.
    builder.layer.notes.retain(|note| note.warning);
    Ok(())
}

fn read_database(
    builder: &mut LayerBuilder,
    path: &Path,
    entry: &Entry,
) -> Result<(), ConfigError> {
    let name = entry.dn.split(',').next().unwrap_or_default();
    let kind = without_number(name.split_once('=').map_or("", |(_, value)| value));
    let origin = entry.origin(entry.line);
    match kind {
        "frontend" => builder.enter_frontend(),
        "config" => builder.begin_config(origin),
        other => {
            let kind = DatabaseKind::parse(other).map_err(|hint| {
                ConfigError::at(&origin, format!("<database> failed init ({other}): {hint}"))
            });
            match kind {
                Ok(kind) => builder.begin_database(kind, origin),
                Err(error) => return builder.settle(Err(error)),
            }
        }
    }
    entry.obey(builder)?;
    let folder = path.with_extension("");
    if folder.is_dir() {
        for (_, overlay) in entries(&folder)? {
            overlay.obey_as_overlay(builder)?;
        }
    }
    Ok(())
}

/// Takes the entries whose names begin with a prefix, in the order of their numbers.
fn take(entries: &mut Vec<(PathBuf, Entry)>, prefix: &str) -> Vec<(PathBuf, Entry)> {
    let (taken, rest) = std::mem::take(entries)
        .into_iter()
        .partition(|(_, entry)| entry.dn.starts_with(prefix));
    *entries = rest;
    taken
}

/// Returns the entries of a folder, in the order of their numbers.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, Entry)>, ConfigError> {
    let unreadable = |cause| ConfigError::Unreadable {
        what: "configuration directory",
        path: folder.to_owned(),
        cause,
    };
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder)
        .map_err(unreadable)?
        .take(ENTRIES_MAX)
    {
        let path = file.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "ldif")
        {
            let entry = Entry::read(&path)?;
            found.push((path, entry));
        }
    }
    found.sort_by_key(|(path, entry)| {
        let value = entry.dn.split_once('=').map_or("", |(_, value)| value);
        (number_of(value).unwrap_or(i32::MAX), path.clone())
    });
    Ok(found)
}

/// One entry with the lines of its values.
struct Entry {
    path: PathBuf,
    dn: String,
    line: usize,
    values: Vec<(String, String, usize)>,
}

impl Entry {
    fn read(path: &Path) -> Result<Entry, ConfigError> {
        let bytes = std::fs::read(path).map_err(|cause| ConfigError::Unreadable {
            what: "configuration file",
            path: path.to_owned(),
            cause,
        })?;
        let wrong = |line: u64, message: String| ConfigError::Directive {
            path: path.to_owned(),
            line: usize::try_from(line).unwrap_or(usize::MAX),
            message,
        };
        let mut ldif = LdifReader::new(Cursor::new(bytes));
        let record = ldif
            .next_record()
            .map_err(|error| wrong(error.line, error.kind.to_string()))?
            .ok_or_else(|| wrong(1, "there is no entry".to_owned()))?;
        let Action::Content(attributes) = record.action() else {
            return Err(wrong(
                record.line(),
                "this is a change, not an entry".to_owned(),
            ));
        };
        let line = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
        Ok(Entry {
            path: path.to_owned(),
            dn: record.dn().to_owned(),
            line: line(record.line()),
            values: attributes
                .map(|one| {
                    let value = String::from_utf8_lossy(one.value).into_owned();
                    (one.description.to_owned(), value, line(one.line))
                })
                .collect(),
        })
    }

    fn origin(&self, line: usize) -> Origin {
        Origin::File {
            path: self.path.clone(),
            line,
            column: None,
        }
    }

    /// Obeys the attributes in the order of the table, and names before the attributes that refer
    /// to them.
    fn obey(&self, builder: &mut LayerBuilder) -> Result<(), ConfigError> {
        let mut sorted = Vec::new();
        for (at, (name, value, line)) in self.values.iter().enumerate() {
            match find_attribute(name) {
                Some((place, known)) => {
                    let rank = known.directive.rank;
                    let number = number_of(value).unwrap_or(0);
                    sorted.push(((rank, place, number), known, at));
                }
                None if is_bookkeeping(name) => {}
                None => builder.warn(&self.origin(*line), format!("{name} has no meaning here")),
            }
        }
        // Without numbers, values of one attribute stay in the order of the file.
        sorted.sort_by_key(|(key, _, _)| *key);
        let mut done = None;
        for ((_, place, _), known, at) in sorted {
            let Some((name, value, line)) = self.values.get(at) else {
                continue;
            };
            let joined = known.directive.joined;
            if joined && done == Some(place) {
                continue;
            }
            done = Some(place);
            let mut statement = self.statement(known.directive, value, *line);
            if joined {
                statement.arguments = self.all_tokens(name);
            }
            let outcome = apply(builder, known, &statement)
                .map_err(|message| ConfigError::at(&statement.origin, message));
            builder.settle(outcome)?;
        }
        Ok(())
    }

    /// Returns the tokens of all values of an attribute.
    fn all_tokens(&self, attribute: &str) -> Vec<String> {
        let values = self.values.iter();
        let values = values.filter(|(name, _, _)| name.eq_ignore_ascii_case(attribute));
        values
            .flat_map(|(_, value, _)| split_value(without_number(value)))
            .collect()
    }

    /// Returns a value as a statement: one argument is the whole value, several are its tokens.
    fn statement(&self, directive: &Directive, value: &str, line: usize) -> Statement {
        let value = match directive.numbered {
            true => without_number(value),
            false => value,
        };
        let whole = || vec![value.to_owned()];
        let arguments = match directive.whole {
            true => whole(),
            false => split_value(value),
        };
        // slapd writes a single argument without quotes, and does not start with what it wrote.
        let arguments = match directive.most {
            Some(1) if arguments.len() > 1 => whole(),
            _ => arguments,
        };
        Statement {
            keyword: directive.keyword.to_owned(),
            arguments,
            text: value.to_owned(),
            is_value: true,
            origin: self.origin(line),
            section: Section::Frontend,
        }
    }

    fn obey_as_overlay(&self, builder: &mut LayerBuilder) -> Result<(), ConfigError> {
        let name = self.dn.split_once('=').map_or("", |(_, value)| value);
        let name = without_number(name.split(',').next().unwrap_or(name));
        let statement = Statement {
            keyword: "overlay".to_owned(),
            arguments: vec![name.to_owned()],
            text: name.to_owned(),
            is_value: true,
            origin: self.origin(self.line),
            section: Section::Frontend,
        };
        if let Err(message) = obey(builder, &statement) {
            return builder.settle(Err(ConfigError::at(&statement.origin, message)));
        }
        let row = find_overlay(name);
        for (attribute, value, line) in &self.values {
            if is_bookkeeping(attribute) {
                continue;
            }
            let origin = self.origin(*line);
            match row.and_then(|row| row.directive(attribute)) {
                Some(directive) => {
                    let value = Sourced::new(value.clone(), origin);
                    let line = overlay::line(directive, &value);
                    builder.push_overlay_line(line);
                }
                None => builder.warn(&origin, format!("{attribute} has no meaning here")),
            }
        }
        Ok(())
    }
}

/// Returns the directive of an attribute with its place in the table.
fn find_attribute(attribute: &str) -> Option<(usize, KnownDirective)> {
    // An older spelling that directories still have.
    let attribute = match attribute {
        "olcMirrorMode" => "olcMultiProvider",
        attribute => attribute,
    };
    let mut directives = directives().enumerate();
    directives.find(|(_, known)| known.directive.olc.eq_ignore_ascii_case(attribute))
}

/// Returns true for attributes that every entry has and that are no directive.
fn is_bookkeeping(attribute: &str) -> bool {
    [
        "objectclass",
        "cn",
        "olcdatabase",
        "olcoverlay",
        "olcconfigfile",
        "olcconfigdir",
        "structuralobjectclass",
        "entryuuid",
        "creatorsname",
        "createtimestamp",
        "entrycsn",
        "modifiersname",
        "modifytimestamp",
        "contextcsn",
    ]
    .contains(&attribute.to_ascii_lowercase().as_str())
}
