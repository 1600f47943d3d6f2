//! Earlier states of a configuration directory, which a command can bring back.
//!
//! ```text
//!   DIR/.generations/000041/cn=config.ldif, cn=config/...     before the change 41
//!                    making   links are being made            left by a crash: removed
//!                    ready    complete, the change follows    left by a crash: kept if the files changed
//! ```
//!
//! A change replaces files and never writes into them. So a state is a folder of hard links, which
//! takes no time and little room.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::ConfigFiles;
use super::replace::{flush, link, make_folder, write_durably};
use super::write::WriteError;
use crate::ConfigError;

/// The folder of the earlier states.
const FOLDER: &str = ".generations";

/// Earlier states that are kept.
const GENERATIONS_MAX: usize = 50;

/// An earlier state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its number; a later state has a greater one.
    pub number: u64,
    /// The names of the entries that differ from the state after it.
    pub changed: Vec<String>,
}

impl ConfigFiles {
    /// Returns the earlier states, the newest first.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`].
    pub fn generations(&self) -> Result<Vec<Generation>, ConfigError> {
        let mut after = self.relative_texts();
        let mut generations = Vec::new();
        for number in self.numbers().into_iter().rev() {
            let files = self.generation(number)?;
            let texts = files.relative_texts();
            generations.push(Generation {
                number,
                changed: changed_names(&texts, &after),
            });
            after = texts;
        }
        Ok(generations)
    }

    /// Returns the files of the newest state that differs from these, with its number.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`].
    pub fn previous(&self) -> Result<Option<(u64, ConfigFiles)>, ConfigError> {
        for number in self.numbers().into_iter().rev() {
            let files = self.generation(number)?;
            if files.relative_texts() != self.relative_texts() {
                return Ok(Some((number, files.moved_to(self.directory()))));
            }
        }
        Ok(None)
    }

    /// Replaces these files on disk by those of an earlier state, and forgets that state. Returns
    /// the error of a flush.
    ///
    /// # Errors
    /// [`WriteError`]; the files on disk are these.
    pub fn return_to(
        &self,
        number: u64,
        files: &ConfigFiles,
    ) -> Result<Option<WriteError>, WriteError> {
        let flushed = self.exchange_files(files)?;
        for newer in self.numbers().into_iter().filter(|one| *one >= number) {
            // One that stays is the same as the files, and the next call passes it over.
            let _ = fs::remove_dir_all(self.numbered(newer));
        }
        Ok(flushed)
    }

    /// Makes a state of these files, ready for a change of them.
    pub(super) fn begin_generation(&self) -> io::Result<()> {
        self.settle_generation()?;
        let (making, ready) = (self.place("making"), self.place("ready"));
        make_folder(&making)?;
        let mut folders = vec![making.clone()];
        for (path, text) in self.texts() {
            let Ok(place) = path.strip_prefix(self.directory()) else {
                continue;
            };
            let to = making.join(place);
            if let Some(folder) = to.parent().filter(|folder| !folder.is_dir()) {
                make_folder(folder)?;
                folders.push(folder.to_owned());
            }
            // A hand may have changed the file since.
            match fs::read(path).is_ok_and(|on_disk| on_disk == *text) {
                true => link(path, &to, true)?,
                false => write_durably(&to, text)?,
            }
        }
        folders.iter().rev().try_for_each(|folder| flush(folder))?;
        fs::rename(making, ready)?;
        flush(&self.directory().join(FOLDER))?;
        flush(self.directory())
    }

    /// Gives the state that is ready its number if the files on disk differ from it. Removes what a
    /// crash has left.
    pub(super) fn settle_generation(&self) -> io::Result<()> {
        let (making, ready) = (self.place("making"), self.place("ready"));
        if making.exists() {
            fs::remove_dir_all(&making)?;
        }
        if !ready.exists() {
            return Ok(());
        }
        let held = ConfigFiles::read(&ready).map(|files| files.relative_texts());
        let on_disk = ConfigFiles::read(self.directory()).map(|files| files.relative_texts());
        match (held, on_disk) {
            (Ok(held), Ok(on_disk)) if held != on_disk => {}
            _ => return fs::remove_dir_all(&ready),
        }
        let numbers = self.numbers();
        let number = numbers.last().map_or(1, |last| last + 1);
        fs::rename(&ready, self.numbered(number))?;
        let gone = (numbers.len() + 1).saturating_sub(GENERATIONS_MAX);
        for number in numbers.into_iter().take(gone) {
            fs::remove_dir_all(self.numbered(number))?;
        }
        flush(&self.directory().join(FOLDER))
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory().join(FOLDER).join(name)
    }

    fn numbered(&self, number: u64) -> PathBuf {
        self.place(&format!("{number:06}"))
    }

    /// Returns the numbers of the states, ascending.
    fn numbers(&self) -> Vec<u64> {
        let folder = fs::read_dir(self.directory().join(FOLDER));
        let names = folder.into_iter().flatten().filter_map(Result::ok);
        let numbers = names.filter_map(|file| file.file_name().to_str()?.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers
    }

    fn generation(&self, number: u64) -> Result<ConfigFiles, ConfigError> {
        ConfigFiles::read(&self.numbered(number))
    }

    /// Returns the texts by their paths below the directory.
    fn relative_texts(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let texts = self.texts().iter();
        let texts = texts.map(|(path, text)| {
            let place = path.strip_prefix(self.directory()).unwrap_or(path);
            (place.to_owned(), text.clone())
        });
        texts.collect()
    }
}

/// Returns the names of the entries that differ.
fn changed_names(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
) -> Vec<String> {
    let both = before
        .keys()
        .chain(after.keys().filter(|path| !before.contains_key(*path)));
    let changed = both.filter(|path| before.get(*path) != after.get(*path));
    changed.map(|path| name(path)).collect()
}

/// Returns the name of the entry in a file.
fn name(path: &Path) -> String {
    let path = path.with_extension("");
    let parts = path.components().rev();
    let parts: Vec<_> = parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::super::entry::ConfigEntry;
    use super::*;

    fn entry(dn: &str, value: &str) -> ConfigEntry {
        ConfigEntry {
            dn: dn.to_owned(),
            attributes: vec![("cn".to_owned(), vec![value.to_owned()])],
        }
    }

    fn first(folder: &Path) -> ConfigFiles {
        fs::write(folder.join("cn=config.ldif"), "dn: cn=config\ncn: 0\n").unwrap();
        fs::create_dir(folder.join("cn=config")).unwrap();
        let schema = folder.join("cn=config/cn=schema.ldif");
        fs::write(schema, "dn: cn=schema\ncn: 0\n").unwrap();
        ConfigFiles::read(folder).unwrap()
    }

    fn with(files: &ConfigFiles, value: &str) -> ConfigFiles {
        let entries = [
            entry("cn=config", value),
            entry("cn=schema,cn=config", value),
        ];
        files.with_entries(&entries).unwrap()
    }

    #[test]
    fn changes_are_undone_in_turn() {
        let folder = tempfile::tempdir().unwrap();
        let mut states = vec![first(folder.path())];
        for value in ["1", "2", "3"] {
            let next = with(&states[0], value);
            let held = states.last().unwrap();
            assert!(held.replace_by(&next).unwrap().is_none());
            states.push(next);
        }
        let generations = states[3].generations().unwrap();
        let numbers: Vec<u64> = generations.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [3, 2, 1]);
        assert_eq!(generations[0].changed, ["cn=schema,cn=config", "cn=config"]);
        for expected in states[..3].iter().rev() {
            let held = ConfigFiles::read(folder.path()).unwrap();
            let (number, files) = held.previous().unwrap().unwrap();
            assert!(held.return_to(number, &files).unwrap().is_none());
            assert_eq!(&ConfigFiles::read(folder.path()).unwrap(), expected);
        }
        let held = ConfigFiles::read(folder.path()).unwrap();
        assert_eq!(held.previous().unwrap(), None);
    }

    #[test]
    fn only_the_last_states_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut held = first(folder.path());
        for value in 0..GENERATIONS_MAX + 5 {
            let next = with(&held, &format!("v{value}"));
            held.replace_by(&next).unwrap();
            held = next;
        }
        assert_eq!(held.numbers().len(), GENERATIONS_MAX);
        assert_eq!(held.numbers().first(), Some(&6));
    }

    #[test]
    fn a_crash_at_any_moment_leaves_the_states() {
        let folder = tempfile::tempdir().unwrap();
        let files = first(folder.path());
        // While the links were made.
        make_folder(&files.place("making")).unwrap();
        fs::write(files.place("making").join("cn=config.ldif"), "dn: cn").unwrap();
        // Before the change.
        files.begin_generation().unwrap();
        files.settle_generation().unwrap();
        assert_eq!(files.previous().unwrap(), None);
        // After the change.
        files.begin_generation().unwrap();
        let next = with(&files, "1");
        files.exchange_files(&next).unwrap();
        next.settle_generation().unwrap();
        let (number, previous) = next.previous().unwrap().unwrap();
        assert_eq!((number, &previous), (1, &files));
        // After the return, before the state was forgotten.
        next.exchange_files(&previous).unwrap();
        assert_eq!(files.previous().unwrap(), None);
    }
}
