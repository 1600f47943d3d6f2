//! The files of a configuration directory as one value: read, changed in memory, and replaced on
//! disk.
//!
//! ```text
//!   DIR --read--> ConfigFiles --entries, change--> ConfigFiles --layer--> settings, tried
//!    ^                                                  |
//!    '--------------------- replace_by -----------------'
//! ```
//!
//! The server tries and writes the same texts. The parser is that of a start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::entry::ConfigEntry;
use super::file_entry::FileEntry;
use super::file_text::file_text;
use super::number::number_of;
use crate::ConfigError;

/// Files of one folder, at most.
const FILES_MAX: usize = 10_000;

/// Folders within each other, at most. slapd's have three.
const DEPTH_MAX: usize = 8;

/// The name of the folder below the directory.
pub(super) const FOLDER: &str = "cn=config";

/// Beginnings of the names below `cn=config`, in the order that slapd shows.
const ORDER: [&str; 5] = [
    "cn=module",
    "cn=schema",
    "cn=include",
    "olcBackend=",
    "olcDatabase=",
];

/// The texts of all files of a configuration directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFiles {
    directory: PathBuf,
    texts: BTreeMap<PathBuf, Vec<u8>>,
    /// True if the texts are in no directory, so that changes end with the process.
    is_in_memory: bool,
}

impl ConfigFiles {
    /// Reads `cn=config.ldif`, and a file for each entry below `cn=config`.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`].
    pub fn read(directory: &Path) -> Result<ConfigFiles, ConfigError> {
        let mut files = ConfigFiles {
            directory: directory.to_owned(),
            texts: BTreeMap::new(),
            is_in_memory: false,
        };
        let top = files.top_path();
        files.read_file(&top)?;
        files.read_folder(&top.with_extension(""), 0)?;
        Ok(files)
    }

    /// Makes the files of entries that are in no directory. Messages show `name` as the directory.
    ///
    /// # Errors
    /// [`ConfigError`] for an entry that no file can hold.
    pub(super) fn in_memory(
        entries: &[ConfigEntry],
        name: &Path,
    ) -> Result<ConfigFiles, ConfigError> {
        let mut files = ConfigFiles {
            directory: name.to_owned(),
            texts: BTreeMap::new(),
            is_in_memory: true,
        };
        for entry in entries {
            let path = files.path_of(&entry.dn)?;
            let text = new_text(&path, entry)?;
            files.texts.insert(path, text);
        }
        Ok(files)
    }

    /// Returns true if changes end with the process.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.is_in_memory
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns all entries in the order that slapd shows, each after its superior.
    ///
    /// # Errors
    /// [`ConfigError::Directive`] for a file that holds no entry.
    pub fn entries(&self) -> Result<Vec<ConfigEntry>, ConfigError> {
        let mut entries = Vec::new();
        self.collect(&self.top()?, None, &mut entries)?;
        Ok(entries)
    }

    /// Returns the files of other entries. An entry that stays as it is keeps its text.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that holds no entry, and for an entry that no file can hold.
    pub fn with_entries(&self, entries: &[ConfigEntry]) -> Result<ConfigFiles, ConfigError> {
        let held = self.entries()?;
        let mut texts = BTreeMap::new();
        for entry in entries {
            let path = self.path_of(&entry.dn)?;
            let is_held = held.contains(entry);
            let text = match self.texts.get(&path).filter(|_| is_held) {
                Some(text) => text.clone(),
                None => new_text(&path, entry)?,
            };
            texts.insert(path, text);
        }
        Ok(ConfigFiles {
            directory: self.directory.clone(),
            texts,
            is_in_memory: self.is_in_memory,
        })
    }

    /// Returns the same files in another directory.
    pub(super) fn moved_to(&self, directory: &Path) -> ConfigFiles {
        let texts = self.texts.iter().map(|(path, text)| {
            let place = path.strip_prefix(&self.directory).unwrap_or(path);
            (directory.join(place), text.clone())
        });
        ConfigFiles {
            directory: directory.to_owned(),
            texts: texts.collect(),
            is_in_memory: self.is_in_memory,
        }
    }

    /// Returns the files by their paths.
    pub(super) fn texts(&self) -> &BTreeMap<PathBuf, Vec<u8>> {
        &self.texts
    }

    /// Returns the entry at the top.
    pub(super) fn top(&self) -> Result<FileEntry, ConfigError> {
        let path = self.top_path();
        let text = self.texts.get(&path).map(Vec::as_slice);
        FileEntry::parse(&path, text.unwrap_or_default())
    }

    /// Returns the entries below another one, in the order of their numbers.
    pub(super) fn below(&self, entry: &FileEntry) -> Result<Vec<FileEntry>, ConfigError> {
        let folder = entry.folder();
        let files = self.texts.iter();
        let files = files.filter(|(path, _)| path.parent() == Some(&folder));
        let entries = files.map(|(path, text)| FileEntry::parse(path, text));
        let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(|entry| {
            let value = entry.dn.split_once('=').map_or("", |(_, value)| value);
            let number = number_of(value).or_else(|| number_of(value.strip_prefix("module")?));
            (number.unwrap_or(i32::MAX), entry.path.clone())
        });
        Ok(entries)
    }

    fn collect(
        &self,
        entry: &FileEntry,
        above: Option<&str>,
        entries: &mut Vec<ConfigEntry>,
    ) -> Result<(), ConfigError> {
        let whole = entry.entry(above)?;
        let dn = whole.dn.clone();
        entries.push(whole);
        let mut below = self.below(entry)?;
        below.sort_by_key(|entry| {
            let place = ORDER.iter().position(|start| entry.dn.starts_with(start));
            place.unwrap_or(ORDER.len())
        });
        for entry in &below {
            self.collect(entry, Some(&dn), entries)?;
        }
        Ok(())
    }

    fn top_path(&self) -> PathBuf {
        self.directory.join(format!("{FOLDER}.ldif"))
    }

    /// Returns the file of an entry. Names of this tree have no escaped commas.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] for a name that no file can have.
    pub fn path_of(&self, dn: &str) -> Result<PathBuf, ConfigError> {
        let mut path = self.directory.clone();
        let parts = dn.split(',').rev();
        for part in parts {
            if part.contains(['/', '\\', '\0']) || part.starts_with('.') {
                let text = format!("\"{dn}\" cannot be the name of a file");
                return Err(ConfigError::Conflict(text));
            }
            path.push(part.trim());
        }
        let mut name = path.into_os_string();
        name.push(".ldif");
        Ok(PathBuf::from(name))
    }

    fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text = std::fs::read(path).map_err(|cause| ConfigError::Unreadable {
            what: "configuration file",
            path: path.to_owned(),
            cause,
        })?;
        self.texts.insert(path.to_owned(), text);
        Ok(())
    }

    /// Reads a folder. One that does not exist has no entries.
    fn read_folder(&mut self, folder: &Path, depth: usize) -> Result<(), ConfigError> {
        if !folder.is_dir() {
            return Ok(());
        }
        let too_large = |text: String| Err(ConfigError::Conflict(text));
        if depth > DEPTH_MAX {
            let path = folder.display();
            return too_large(format!("{path}: more than {DEPTH_MAX} folders deep"));
        }
        let unreadable = |cause| ConfigError::Unreadable {
            what: "configuration directory",
            path: folder.to_owned(),
            cause,
        };
        for (at, file) in std::fs::read_dir(folder).map_err(unreadable)?.enumerate() {
            if at >= FILES_MAX {
                let path = folder.display();
                return too_large(format!("{path}: more than {FILES_MAX} files"));
            }
            let path = file.map_err(unreadable)?.path();
            let extension = path.extension();
            if extension.is_some_and(|extension| extension == "ldif") {
                self.read_file(&path)?;
                self.read_folder(&path.with_extension(""), depth + 1)?;
            }
        }
        Ok(())
    }
}

fn new_text(path: &Path, entry: &ConfigEntry) -> Result<Vec<u8>, ConfigError> {
    file_text(entry).map_err(|cause| ConfigError::Unreadable {
        what: "the new text of",
        path: path.to_owned(),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_too_deep_are_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut path = directory.path().to_owned();
        for depth in 0..=DEPTH_MAX + 1 {
            path.push(FOLDER);
            std::fs::write(path.with_extension("ldif"), "dn: cn=config\n").unwrap();
            assert!(ConfigFiles::read(directory.path()).is_ok(), "{depth}");
            std::fs::create_dir(&path).unwrap();
        }
        let error = ConfigFiles::read(directory.path()).unwrap_err();
        assert!(error.to_string().ends_with("folders deep"), "{error}");
    }
}
