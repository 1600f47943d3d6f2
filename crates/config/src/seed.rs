//! Entries that a start adds: the entry at the top, entries of variables, and files of LDIF. These
//! may also have changes.

use std::path::{Path, PathBuf};

use fulgurite_ldif::{Action, Reader, Record};

use crate::seed_change::{SeedAction, SeedChange, SeedFile, is_configuration};
use crate::seed_entry::SeedEntry;
use crate::seed_words::PasswordHash;
use crate::{ConfigError, Global, Origin, Settings};

/// Folders within each other, at most.
const DEPTH_MAX: usize = 4;

/// Files of one directory, at most.
const FILES_MAX: usize = 10_000;

impl Global {
    /// Returns the files of the schema directory, in the order of their names.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`] for a directory that cannot be read.
    pub fn schema_directory_files(&self) -> Result<Vec<PathBuf>, ConfigError> {
        match &self.schema_directory.value {
            Some(directory) => files(directory, "schema directory", &["schema", "ldif"]),
            None => Ok(Vec::new()),
        }
    }
}

impl Settings {
    /// Returns the entries that a start adds, every entry after the one above it.
    ///
    /// First comes the entry at the top of the first database, if it is asked for. Entries of
    /// variables and of the LDIF directory follow. `hash` makes hashes for words in the files.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] for LDIF that is wrong.
    pub fn seed_entries(&self, hash: &PasswordHash<'_>) -> Result<Vec<SeedEntry>, ConfigError> {
        let mut entries = Vec::new();
        if *self.global.create_suffix
            && let Some(suffix) = self
                .stores()
                .next()
                .and_then(|first| first.content.suffixes.first())
        {
            entries.extend(self.top_entry(&suffix.value, &suffix.origin));
        }
        entries.extend(self.seeds.iter().cloned());
        if let Some(directory) = &self.global.ldif_directory.value {
            for file in files_below(directory, 0)? {
                let text = self.ldif_text(&file, hash)?;
                read_entries(&file, &text, &mut entries)?;
            }
        }
        Ok(entries)
    }

    /// Returns the files of the LDIF directory that have changes (`changetype: modify` and the
    /// like), in their order. Changes of the configuration are not among them.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] for LDIF that is wrong.
    pub fn seed_files(&self, hash: &PasswordHash<'_>) -> Result<Vec<SeedFile>, ConfigError> {
        let mut changed = Vec::new();
        if let Some(directory) = &self.global.ldif_directory.value {
            for path in files_below(directory, 0)? {
                let text = self.ldif_text(&path, hash)?;
                let mut changes = Vec::new();
                each_record(&path, &text, &mut |record, origin| {
                    if !is_configuration(record.dn()) {
                        changes.extend(SeedChange::of(record, origin));
                    }
                })?;
                if !changes.is_empty() {
                    let in_clear =
                        self.text_with(&path, &|text| self.seed_words.fill_in_clear(text))?;
                    changed.push(SeedFile {
                        path,
                        text: in_clear,
                        changes,
                    });
                }
            }
        }
        Ok(changed)
    }

    /// Returns the changes of the configuration in the LDIF files of the start, in their order.
    ///
    /// Files of schema may have them too. Their entries of definitions are no changes, because the
    /// schema is read from them.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] for LDIF that is wrong, and for a
    /// word in braces that has no value.
    pub fn configuration_changes(
        &self,
        hash: &PasswordHash<'_>,
    ) -> Result<Vec<SeedChange>, ConfigError> {
        let mut changes = Vec::new();
        for path in self.global.schema_directory_files()? {
            if path
                .extension()
                .is_some_and(|extension| extension == "ldif")
            {
                let text = self.ldif_text(&path, hash)?;
                let before = changes.len();
                let read = each_record(&path, &text, &mut |record, origin| {
                    if is_configuration(record.dn()) && !is_definitions(record.dn()) {
                        changes.extend(SeedChange::of(record, origin));
                    }
                });
                // The reader of definitions takes text that is no LDIF.
                if changes.len() > before {
                    read?;
                }
            }
        }
        if let Some(directory) = &self.global.ldif_directory.value {
            for path in files_below(directory, 0)? {
                let text = self.ldif_text(&path, hash)?;
                each_record(&path, &text, &mut |record, origin| {
                    if is_configuration(record.dn()) {
                        changes.extend(SeedChange::of(record, origin));
                    }
                })?;
            }
        }
        match changes.iter().find_map(word_without_value) {
            Some(error) => Err(error),
            None => Ok(changes),
        }
    }

    /// Returns the top entry, with the class of its name. Returns `None` if no common class has
    /// such a name.
    fn top_entry(&self, suffix: &str, origin: &Origin) -> Option<SeedEntry> {
        let rdn = suffix.split(',').next()?;
        let (attribute, value) = rdn.split_once('=')?;
        let (attribute, value) = (attribute.trim().to_ascii_lowercase(), value.trim());
        let organization = self.global.organization.as_deref();
        let entry = |classes: &[&str]| SeedEntry::new(suffix, classes, origin.clone());
        Some(match attribute.as_str() {
            "dc" => entry(&["dcObject", "organization"])
                .with("dc", value)
                .with("o", organization.unwrap_or(value)),
            "o" => entry(&["organization"]).with("o", value),
            "ou" => entry(&["organizationalUnit"]).with("ou", value),
            "c" => entry(&["country"]).with("c", value),
            "cn" => entry(&["organizationalRole"]).with("cn", value),
            _ => return None,
        })
    }
}

/// Returns true for the name of an entry that holds definitions of schema.
fn is_definitions(dn: &str) -> bool {
    let above = dn.split_once(',').map_or("", |(_, above)| above);
    let above: String = above.split_whitespace().collect();
    above.eq_ignore_ascii_case("cn=schema,cn=config")
}

/// Returns the error of a change that still has a word in braces.
fn word_without_value(change: &SeedChange) -> Option<ConfigError> {
    let values: Vec<&[u8]> = match &change.action {
        SeedAction::Add(attributes) => {
            let values = attributes.iter().flat_map(|(_, values)| values);
            values.map(Vec::as_slice).collect()
        }
        SeedAction::Modify(parts) => {
            let values = parts.iter().flat_map(|part| &part.values);
            values.map(Vec::as_slice).collect()
        }
        SeedAction::Delete | SeedAction::Rename { .. } => Vec::new(),
    };
    let texts = values.into_iter().map(String::from_utf8_lossy);
    let mut texts = texts.chain([change.dn.as_str().into()]);
    let word = texts.find_map(|text| {
        let (_, rest) = text.split_once("{{")?;
        let (word, _) = rest.split_once("}}")?;
        Some(word.trim().to_owned())
    })?;
    let text = format!("{}: the word {{{{ {word} }}}} has no value", change.dn);
    Some(ConfigError::at(&change.origin, text))
}

/// Returns the LDIF files of a directory, then those of its folders, in the order of their names.
fn files_below(directory: &Path, depth: usize) -> Result<Vec<PathBuf>, ConfigError> {
    let mut found = files(directory, "LDIF directory", &["ldif"])?;
    let folders = std::fs::read_dir(directory).into_iter().flatten();
    let folders = folders.take(FILES_MAX).filter_map(Result::ok);
    let folders = folders.map(|file| file.path()).filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    // Mounted folders have one that begins with two dots and holds the same files.
    let is_hidden = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_none_or(|name| name.starts_with('.'))
    };
    folders.retain(|path| !is_hidden(path));
    if depth < DEPTH_MAX {
        for folder in folders {
            found.extend(files_below(&folder, depth + 1)?);
        }
    }
    Ok(found)
}

/// Returns the files of a directory with one of these extensions, in the order of their names.
fn files(
    directory: &Path,
    what: &'static str,
    extensions: &[&str],
) -> Result<Vec<PathBuf>, ConfigError> {
    let unreadable = |cause| ConfigError::Unreadable {
        what,
        path: directory.to_owned(),
        cause,
    };
    let mut found = Vec::new();
    for file in std::fs::read_dir(directory)
        .map_err(unreadable)?
        .take(FILES_MAX)
    {
        let path = file.map_err(unreadable)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if extension.is_some_and(|extension| extensions.contains(&extension)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

impl Settings {
    /// Returns the text of a file, with the words in braces replaced.
    fn ldif_text(&self, path: &Path, hash: &PasswordHash<'_>) -> Result<Vec<u8>, ConfigError> {
        self.text_with(path, &|text| self.seed_words.fill(text, hash))
    }

    /// Returns the text of a file. If there are words, `fill` replaces them.
    fn text_with(
        &self,
        path: &Path,
        fill: &dyn Fn(&str) -> Result<String, ConfigError>,
    ) -> Result<Vec<u8>, ConfigError> {
        let octets = std::fs::read(path).map_err(|cause| ConfigError::Unreadable {
            what: "LDIF file",
            path: path.to_owned(),
            cause,
        })?;
        match String::from_utf8(octets) {
            Ok(text) if !self.seed_words.is_empty() => fill(&text).map(String::into_bytes),
            Ok(text) => Ok(text.into_bytes()),
            Err(error) => Ok(error.into_bytes()),
        }
    }
}

fn read_entries(path: &Path, text: &[u8], entries: &mut Vec<SeedEntry>) -> Result<(), ConfigError> {
    each_record(path, text, &mut |record, origin| {
        if is_configuration(record.dn()) {
            return;
        }
        if let Action::Content(values) | Action::Add(values) = record.action() {
            let mut entry = SeedEntry::new(record.dn(), &[], origin);
            for value in values {
                entry.push(value.description, value.value);
            }
            entries.push(entry);
        }
    })
}

/// Calls `visit` for each record of a file, with its place.
fn each_record(
    path: &Path,
    text: &[u8],
    visit: &mut dyn FnMut(&Record<'_>, Origin),
) -> Result<(), ConfigError> {
    let origin = |line: u64| Origin::File {
        path: path.to_owned(),
        line: usize::try_from(line).unwrap_or(usize::MAX),
        column: None,
    };
    let mut ldif = Reader::new(text);
    while let Some(record) = ldif
        .next_record()
        .map_err(|error| ConfigError::at(&origin(error.line), error.kind.to_string()))?
    {
        visit(&record, origin(record.line()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Layer, Origin, Settings};

    #[test]
    fn text_that_is_no_ldif_is_an_error_in_a_file_with_changes_only() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        let change = "dn: cn=config\nchangetype: modify\nreplace: olcIdleTimeout\n\
            olcIdleTimeout: 5\n\n";
        let definitions = "attributetype ( 1.2.3 NAME 'x' SUP name )\n";
        write("10-change.ldif", change).unwrap();
        write("20-definitions.ldif", definitions).unwrap();
        let mut layer = Layer::default();
        let path = folder.path().to_str().unwrap();
        layer
            .set("start.schema_directory", path, &Origin::Default)
            .unwrap();
        let settings = Settings::new(layer).unwrap();
        let no_hash = |_: &str| Err("there are no words".to_owned());
        let changes = || settings.configuration_changes(&no_hash);
        assert_eq!(changes().unwrap().len(), 1);
        write("30-both.ldif", &format!("{change}{definitions}")).unwrap();
        let refused = changes().unwrap_err().to_string();
        assert!(refused.contains("30-both.ldif: line 6"), "{refused}");
    }
}
